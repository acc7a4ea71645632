"""What the benchmark times of this family, with nothing trained: every engine, two beams."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastdecode.decode import System
    from fastdecode.measure.untrained import Untrained

LAYERS = ("6-6", "12-1", "6-1")
ENGINES: dict[str, dict[str, Any]] = {
    "fairseq": {"engine": "fairseq"},
    "fastdecode": {"engine": "fastdecode"},
    "ctranslate2": {"engine": "ctranslate2"},
    "int8": {"engine": "ctranslate2", "int8": True},
}


def decoders(length: int, device: str) -> dict[str, dict[str, Any]]:
    """Return the decoder rows, by name: translations have `length` tokens, on any `device`."""
    del device
    forced = {"min_len": length, "max_len_a": 0.0, "max_len_b": length}
    return {
        f"{name}-beam{beam}": {"beam": beam, **engine, **forced}
        for beam in (1, 5)
        for name, engine in ENGINES.items()
    }


def build(plan: "Untrained") -> "System":
    """Return a Transformer."""
    return plan.system()
