"""The fairseq task of this family: framed sentences, BLEU by our own decoder."""

from dataclasses import dataclass, field
from typing import Any

from fairseq.tasks import register_task
from fairseq.tasks.translation_lev import TranslationLevenshteinTask
from torch import Tensor

from fastdecode.families.dag.training import TASK
from fastdecode.train.task import DecodesItself, DecodingConfig


@dataclass
class GraphConfig(DecodingConfig):
    """Options of the task."""

    left_pad_source: bool = field(default=False, metadata={"help": "pad the source on the left"})


@register_task(TASK, dataclass=GraphConfig)
class GraphTask(DecodesItself, TranslationLevenshteinTask):  # type: ignore[misc]
    """Translation with graphs.

    fairseq's part frames sentences of both sides by `<s>` and `</s>`, as framing.py does when they
    are decoded.
    """

    epoch = 1

    def begin_epoch(self, epoch: int, model: Any) -> None:
        """Remember the epoch: schedules may depend on it."""
        super().begin_epoch(epoch, model)
        self.epoch = epoch

    def inject_noise(self, target_tokens: Tensor) -> Tensor:
        """Return the target as it is: what of it the decoder sees, the criterion decides."""
        return target_tokens
