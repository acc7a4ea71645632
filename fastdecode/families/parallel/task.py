"""The fairseq task of this family: framed sentences, blanked targets, BLEU by our own decoder."""

from dataclasses import dataclass, field
from typing import Any

from fairseq.dataclass import ChoiceEnum
from fairseq.tasks import register_task
from fairseq.tasks.translation_lev import TranslationLevenshteinTask

from fastdecode.families.parallel.training import TASK
from fastdecode.train.task import DecodesItself, DecodingConfig

# Not fairseq's other kinds: they draw from the global random state, so that what a sentence sees
# would depend on its batch. A kind that draws does so through fastdecode.train.draws.
NOISE = ChoiceEnum(["full_mask"])


@dataclass
class ParallelConfig(DecodingConfig):
    """Options of the task."""

    noise: NOISE = field(  # type: ignore[valid-type]
        default="full_mask", metadata={"help": "full_mask: all words of the target are blanks"}
    )
    # The source embeddings that the model copies are counted from the first column: with fairseq's
    # padding on the left, short sentences of a batch would learn from copies of padding.
    left_pad_source: bool = field(default=False, metadata={"help": "pad the source on the left"})


@register_task(TASK, dataclass=ParallelConfig)
class ParallelTask(DecodesItself, TranslationLevenshteinTask):  # type: ignore[misc]
    """Translation of all words at once.

    fairseq's part frames sentences of both sides by `<s>` and `</s>`, as framing.py does when they
    are decoded, and blanks the target out. There is no random draw in it.
    """

    def valid_step(self, sample: dict[str, Any], model: Any, criterion: Any) -> Any:
        """See fairseq."""
        sample["prev_target"] = self.inject_noise(sample["target"])
        return super().valid_step(sample, model, criterion)
