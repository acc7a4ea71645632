"""What the benchmark times of this family, with nothing trained: both engines, two beams."""

from typing import TYPE_CHECKING, Any

from fastdecode.families.bidirectional.model import FoldedModel
from fastdecode.limits import exactly
from fastdecode.system import System

if TYPE_CHECKING:
    from fastdecode.measure.untrained import Untrained

LAYERS = ("6-6",)
ENGINES = ("eager", "fastdecode")


def decoders(length: int, device: str) -> dict[str, dict[str, Any]]:
    """Return the decoder rows, by name: translations have `length` tokens, on any `device`."""
    del device
    forced = exactly(length)
    return {
        f"pairs-{engine}-beam{beam}": {"beam": beam, "engine": engine, **forced}
        for beam in (1, 5)
        for engine in ENGINES
    }


def build(plan: "Untrained") -> System:
    """Return a Transformer that writes a token from each end a step."""
    pairs = {"fold": "bidirectional", "start": "bos-eos", "decoder_learned_pos": True}
    return plan.system(FoldedModel, **pairs)
