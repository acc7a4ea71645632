"""The losses: of a drafter over a block after a random prefix, of a blockwise model over heads."""

from typing import Any

import torch
from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import (
    LabelSmoothedCrossEntropyCriterion,
    LabelSmoothedCrossEntropyCriterionConfig,
    label_smoothed_nll_loss,
)
from torch import Tensor

from fastdecode.families.aggressive.blocks import (
    Blocks,
    blocks_after,
    draw_prefixes,
    targets_after,
)
from fastdecode.families.aggressive.training import BLOCKWISE, DRAFTER
from fastdecode.glancing import dropout_of, reveal, to_reveal
from fastdecode.train.criterion import SeededConfig, SeededCriterion
from fastdecode.train.draws import keyed_uniforms

PREFIXES = 1 << 32  # added to the seed: a stream of draws apart from those of what is revealed


@register_criterion(DRAFTER, dataclass=SeededConfig)
class DrafterCriterion(SeededCriterion):
    """Cross-entropy of the slots that are not shown, with glancing in training.

    Prefixes are keyed by (seed, update, sentence); in validation they are always the same.
    """

    def forward(self, model: Any, sample: dict[str, Any], reduce: bool = True) -> Any:
        """See fairseq. The sample size is the number of slots learned from."""
        update = model.num_updates if model.training else 0
        blocks, targets = self.blocks(sample, model.decoder.block, update)
        net_input = {key: sample["net_input"][key] for key in ("src_tokens", "src_lengths")}
        hidden = targets != self.padding_idx
        if not model.training:
            logits = model(**net_input, blocks=blocks, wanted=hidden)
            return self._loss(logits, targets[hidden], sample, reduce)
        with dropout_of(sample["id"], self.seed, update), torch.no_grad():
            guesses = model(**net_input, blocks=blocks, wanted=hidden).argmax(-1)  # (N)
        wrong = hidden.masked_scatter(hidden, guesses != targets[hidden]).sum(1)
        counts = to_reveal(wrong, self.task.glancing_ratio(update))
        shown = reveal(counts, hidden, sample["id"], self.seed, update)
        learned = hidden & ~shown
        with dropout_of(sample["id"], self.seed, update):
            logits = model(**net_input, blocks=blocks.show(targets, shown), wanted=learned)
        return self._loss(logits, targets[learned], sample, reduce)

    def blocks(self, sample: dict[str, Any], k: int, update: int) -> tuple[Blocks, Tensor]:
        """Return slots after prefixes drawn for a batch, and what belongs there (B, k)."""
        targets = sample["target"]  # (B, T), with `</s>`
        uniforms = keyed_uniforms(sample["id"], 1, self.seed + PREFIXES, update)[:, 0]
        lengths = draw_prefixes(uniforms, (targets != self.padding_idx).sum(1))
        pad, unk = self.padding_idx, self.task.target_dictionary.unk()
        blocks = blocks_after(targets, lengths, int(lengths.max()), k, pad, unk)
        return blocks, targets_after(targets, lengths, k, pad)

    @classmethod
    def reduce_metrics(cls, logging_outputs: list[dict[str, Any]]) -> None:
        """See fairseq, which takes the mean of `nll_loss` over all tokens: here it is of slots."""
        super().reduce_metrics([{**log, "ntokens": log["sample_size"]} for log in logging_outputs])

    def _loss(self, logits: Tensor, targets: Tensor, sample: dict[str, Any], reduce: bool) -> Any:
        loss, nll_loss = smoothed(self, logits, targets, reduce)
        return loss, len(targets), log_of(loss, nll_loss, len(targets), sample)


@register_criterion(BLOCKWISE, dataclass=LabelSmoothedCrossEntropyCriterionConfig)
class BlockwiseCriterion(LabelSmoothedCrossEntropyCriterion):  # type: ignore[misc]
    """The mean cross-entropy of the heads; head i learns the i-th token after each place.

    Stern et al. (2018, section 6) draw one head a batch, for want of memory; its mean is this.
    """

    def forward(self, model: Any, sample: dict[str, Any], reduce: bool = True) -> Any:
        """See fairseq. `nll_loss` is the first head's."""
        targets = sample["target"]  # (B, T)
        size = int(sample["ntokens"])
        losses = []
        for logits in model(**sample["net_input"]):
            losses.append(smoothed(self, logits, targets, reduce))
            end = targets.new_full((len(targets), 1), self.padding_idx)
            targets = torch.cat([targets[:, 1:], end], dim=1)
        mean = torch.stack([loss for loss, _ in losses]).mean(0)
        return mean, size, log_of(mean, losses[0][1], size, sample)


def smoothed(criterion: Any, logits: Tensor, targets: Tensor, reduce: bool) -> tuple[Any, Any]:
    """Return label-smoothed and plain cross-entropy, summed, of (…, V) at `targets` (…)."""
    logs = logits.float().log_softmax(-1).flatten(0, -2)
    loss, plain = label_smoothed_nll_loss(
        logs, targets.flatten(), criterion.eps, ignore_index=criterion.padding_idx, reduce=reduce
    )
    return loss, plain


def log_of(loss: Tensor, plain: Tensor, size: int, sample: dict[str, Any]) -> dict[str, Any]:
    """Return what fairseq logs of a batch."""
    return {
        "loss": loss.data,
        "nll_loss": plain.data,
        "ntokens": sample["ntokens"],
        "nsentences": len(sample["target"]),
        "sample_size": size,
    }
