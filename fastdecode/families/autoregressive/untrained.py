"""What the benchmark times of this family, with nothing trained: every engine, two beams."""

from typing import TYPE_CHECKING, Any

from fastdecode.families.autoregressive.bytes import ADVICE, bytes_overflow
from fastdecode.limits import exactly
from fastdecode.progress import say
from fastdecode.system import System

if TYPE_CHECKING:
    from fastdecode.measure.untrained import Untrained

LAYERS = ("6-6", "12-1", "6-1")
ENGINES: dict[str, dict[str, Any]] = {
    "fairseq": {"engine": "fairseq"},
    "fastdecode": {"engine": "fastdecode"},
    "ctranslate2": {"engine": "ctranslate2"},
    "int8": {"engine": "ctranslate2", "int8": True},
}
PUBLISHED = {  # speed-ups over beam 5 of six and six layers
    f"{layers}/{engine}-beam{beam}": place
    for engine in ENGINES
    for layers, beam, place in (
        ("6-6", 1, "aggressive.table1.verifier_greedy.speed"),
        ("6-1", 5, "lattice.table1.shallow_dec.speedup"),
    )
}


def decoders(length: int, device: str) -> dict[str, dict[str, Any]]:
    """Return the decoder rows, by name: translations have `length` tokens.

    On a CPU where it would compute wrongly, int8 is left out, which is said.
    """
    engines = dict(ENGINES)
    if device == "cpu" and bytes_overflow():
        del engines["int8"]
        say("benchmark", f"int8 is left out: {ADVICE}")
    forced = exactly(length)
    return {
        f"{name}-beam{beam}": {"beam": beam, **engine, **forced}
        for beam in (1, 5)
        for name, engine in engines.items()
    }


def build(plan: "Untrained") -> System:
    """Return a Transformer."""
    return plan.system()
