"""What the benchmark times of this family, with nothing trained: both engines."""

from typing import TYPE_CHECKING, Any

from fastdecode.families.template.model import BlindModel
from fastdecode.system import System

if TYPE_CHECKING:
    from fastdecode.measure.untrained import Untrained

LAYERS = ("6-6",)


def decoders(length: int, device: str) -> dict[str, dict[str, Any]]:
    """Return the decoder rows, by name: translations have `length` tokens, on any `device`."""
    del device
    forced = {"min_len": length, "max_len_a": 0.0, "max_len_b": length}
    return {
        f"template-{engine}": {"engine": engine, **forced} for engine in ("eager", "fastdecode")
    }


def build(plan: "Untrained") -> System:
    """Return a Transformer that sees nothing of what it writes."""
    return plan.system(BlindModel)
