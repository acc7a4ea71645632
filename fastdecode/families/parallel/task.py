"""The fairseq task of this family: what the decoder sees in training, BLEU by our own decoders."""

from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from fairseq.dataclass import ChoiceEnum
from fairseq.tasks import register_task
from fairseq.tasks.translation_lev import TranslationLevenshteinTask
from torch import Tensor

from fastdecode.families.parallel.slots import mask_words, source_slots
from fastdecode.families.parallel.training import TASK
from fastdecode.glancing import Glances, GlancingConfig, dropout_of, reveal, to_reveal
from fastdecode.train.task import DecodesItself

# fairseq's own noise draws from the global random state, so that what a sentence sees would depend
# on its batch: what is drawn here comes from fastdecode.train.draws.
NOISE = ChoiceEnum(["full_mask", "random_mask", "no_target"])


@dataclass
class ParallelConfig(GlancingConfig):
    """Options of the task."""

    noise: NOISE = field(  # type: ignore[valid-type]
        default="full_mask",
        metadata={
            "help": "full_mask: all words of the target are blanks; random_mask: 1 to all of them; "
            "no_target: the slots are those of the source"
        },
    )
    # The source embeddings that the model copies are counted from the first column: with fairseq's
    # padding on the left, short sentences of a batch would learn from copies of padding.
    left_pad_source: bool = field(default=False, metadata={"help": "pad the source on the left"})


@register_task(TASK, dataclass=ParallelConfig)
class ParallelTask(Glances, DecodesItself, TranslationLevenshteinTask):  # type: ignore[misc]
    """Translation of all words at once.

    fairseq's part frames sentences of both sides by `<s>` and `</s>`, as fastdecode.framing does
    when they are decoded, and blanks the target out.
    """

    def train_step(
        self,
        sample: dict[str, Any],
        model: Any,
        criterion: Any,
        optimizer: Any,
        update_num: int,
        ignore_grad: bool = False,
    ) -> Any:
        """See fairseq; where the training glances, a pass without gradients goes before."""
        model.train()
        sample["prev_target"] = self.slots(sample, model, update_num)
        ratio = self.glancing_ratio(update_num) if self.glances else 0.0
        if ratio:
            sample["prev_target"] = self._glance(sample, model, update_num, ratio)
        key = (sample["id"], self.cfg.seed, update_num)
        with dropout_of(*key) if ratio else nullcontext():
            return super().train_step(sample, model, criterion, optimizer, update_num, ignore_grad)

    def valid_step(self, sample: dict[str, Any], model: Any, criterion: Any) -> Any:
        """See fairseq; random masks are those of update 0, so that validations compare."""
        sample["prev_target"] = self.slots(sample, model, 0)
        return super().valid_step(sample, model, criterion)

    def slots(self, sample: dict[str, Any], model: Any, update: int) -> Tensor:
        """Return what the decoder sees (B, T): words where they are known, else `<unk>`."""
        if self.cfg.noise == "no_target":
            sources = sample["net_input"]["src_tokens"]
            return source_slots(sources, model.decoder.upsample, self.tgt_dict)
        if self.cfg.noise == "random_mask":
            key = (self.tgt_dict, self.cfg.seed, update)
            return mask_words(sample["target"], sample["id"], *key)
        blanks: Tensor = self.inject_noise(sample["target"])
        return blanks

    def _glance(self, sample: dict[str, Any], model: Any, update: int, ratio: float) -> Tensor:
        """Return the slots with a part of the right answers, the more the more were wrong."""
        slots, target, inputs = sample["prev_target"], sample["target"], sample["net_input"]
        key = (sample["id"], self.cfg.seed, update)
        with dropout_of(*key):
            answers, said = model.look(inputs["src_tokens"], inputs["src_lengths"], slots, target)
        unknown = slots == self.tgt_dict.unk()
        wrong = ((said != answers) & unknown).sum(1)
        shown = reveal(to_reveal(wrong, ratio), unknown, *key)
        return torch.where(shown, answers, slots)
