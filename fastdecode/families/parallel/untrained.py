"""What the benchmark times of this family, with nothing trained: CTC, which predicts no length."""

from typing import TYPE_CHECKING, Any

from fastdecode.families.parallel.models import CtcModel
from fastdecode.families.parallel.rows import UPSAMPLE
from fastdecode.families.parallel.training import POSITIONS
from fastdecode.system import System

if TYPE_CHECKING:
    from fastdecode.measure.untrained import Untrained

LAYERS = ("6-6",)
NOTE = (
    f"parallel: {UPSAMPLE} slots for every token of the source; how many of them a random model "
    "leaves blank is left to chance."
)
PUBLISHED = {f"6-6/{engine}-ctc": "dag.table1.ctc.speedup" for engine in ("eager", "fastdecode")}


def decoders(length: int, device: str) -> dict[str, dict[str, Any]]:
    """Return the decoder rows, by name: there are slots as of the sources, for any `length`."""
    del length, device
    return {
        f"{engine}-ctc": {"search": "ctc", "engine": engine} for engine in ("eager", "fastdecode")
    }


def build(plan: "Untrained") -> System:
    """Return a CTC model with the slots that the code of GLAT's authors gives to glat."""
    glat = {"src_embedding_copy": True, "soft_copy": True, "activation_fn": "gelu"}
    slots = UPSAMPLE * (POSITIONS + 1)
    return plan.system(CtcModel, upsample=UPSAMPLE, max_target_positions=slots, **glat)
