"""The fairseq task of this family: framed sentences, BLEU by our own decoder."""

from dataclasses import dataclass, field

from fairseq.tasks import register_task
from fairseq.tasks.translation_lev import TranslationLevenshteinTask
from torch import Tensor

from fastdecode.families.dag.training import TASK
from fastdecode.glancing import Glances, GlancingConfig
from fastdecode.train.task import DecodesItself


@dataclass
class GraphConfig(GlancingConfig):
    """Options of the task."""

    left_pad_source: bool = field(default=False, metadata={"help": "pad the source on the left"})


@register_task(TASK, dataclass=GraphConfig)
class GraphTask(Glances, DecodesItself, TranslationLevenshteinTask):  # type: ignore[misc]
    """Translation with graphs.

    fairseq's part frames sentences of both sides by `<s>` and `</s>`, as fastdecode.framing does
    when they are decoded.
    """

    def inject_noise(self, target_tokens: Tensor) -> Tensor:
        """Return the target as it is: what of it the decoder sees, the criterion decides."""
        return target_tokens
