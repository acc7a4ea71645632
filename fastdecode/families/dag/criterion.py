"""The loss: minus the log-probability of the target, over all paths (Huang et al. 2022, eq. 4).

A target that is longer than its graph has no path: it is left out and counted (`infeasible`). A sum
for which single precision does not suffice is computed again in log space (`recomputed`).
"""

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from fairseq.criterions import FairseqCriterion, register_criterion
from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.logging import metrics
from omegaconf import II
from torch import Tensor

from fastdecode.families.dag.paths import best_path, log_likelihood, score_path
from fastdecode.families.dag.revealing import (
    Revealed,
    adaptive_counts,
    choose,
    draw,
    uniform_counts,
)
from fastdecode.families.dag.training import CRITERION

ANNEALED = 2 / 3  # of a training, after which the ratio of glancing stays: 200,000 of 300,000
COUNTED = ("infeasible", "recomputed")


@dataclass
class GraphLossConfig(FairseqDataclass):  # type: ignore[misc]
    """Options of the criterion."""

    marginalise: ChoiceEnum(["sum", "max"]) = field(  # type: ignore[valid-type]
        default="sum", metadata={"help": "over all paths, or the best one"}
    )
    glancing: ChoiceEnum(["adaptive", "uniform", "none"]) = field(  # type: ignore[valid-type]
        default="adaptive", metadata={"help": "what of the target the decoder sees"}
    )
    glancing_from: float = field(default=0.5, metadata={"help": "ratio in the beginning"})
    glancing_to: float = field(default=0.1, metadata={"help": "ratio in the end"})
    fix_revealed: bool = field(default=False, metadata={"help": "shown tokens stay in place"})
    divide_by_length: bool = field(default=False, metadata={"help": "a mean over tokens"})
    seed: int = II("common.seed")
    max_update: int = II("optimization.max_update")
    max_epoch: int = II("optimization.max_epoch")


@register_criterion(CRITERION, dataclass=GraphLossConfig)
class GraphLoss(FairseqCriterion):  # type: ignore[misc]
    """The mean over sentences of -log P(Y | X)."""

    def __init__(self, cfg: GraphLossConfig, task: Any):
        """Take the options."""
        super().__init__(task)
        self._cfg = cfg
        self._pad = task.target_dictionary.pad()

    def forward(self, model: Any, sample: dict[str, Any], reduce: bool = True) -> Any:
        """Return the summed loss, the number of sentences, and what is logged; see fairseq."""
        inputs, targets = sample["net_input"], sample["target"]  # (B, M)
        lengths = (targets != self._pad).sum(1)
        revealed: list[Revealed] = []
        glance = None
        if model.training and self._cfg.glancing != "none":

            def glance(logits: Tensor, links: Tensor, sizes: Tensor, vertices: Tensor) -> Tensor:
                shown = self._glance(model, sample["id"], targets, lengths, logits, links, sizes)
                revealed.append(shown)
                return shown.put(targets, vertices)

        logits, links, sizes = model(inputs["src_tokens"], inputs["src_lengths"], glance)
        tokens = token_scores(logits, targets)
        if revealed and self._cfg.fix_revealed:
            tokens = revealed[0].fix(tokens)
        feasible = lengths <= sizes
        if not bool(feasible.all()):
            tokens, links, sizes = tokens[feasible], links[feasible], sizes[feasible]
            lengths = lengths[feasible]
        losses, recomputed = self._losses(tokens, links, lengths, sizes)
        loss = losses.sum()
        log = {
            "loss": loss.detach(),
            "nll_loss": losses.detach().sum(),
            "ntokens": sample["ntokens"],
            "nsentences": len(targets),
            "sample_size": len(lengths),
            "infeasible": len(targets) - len(lengths),
            "recomputed": int(recomputed.sum()),
        }
        if self._cfg.divide_by_length:
            loss = (losses / lengths).sum()
            log["loss"] = loss.detach()
        return loss, len(lengths), log

    def _losses(
        self, tokens: Tensor, links: Tensor, lengths: Tensor, sizes: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return -log P (B), and which of them were recomputed (B)."""
        if not len(lengths):  # every target is longer than its graph
            return tokens.sum((1, 2)), lengths
        if self._cfg.marginalise == "max":
            path = best_path(tokens, links, lengths, sizes)
            return -score_path(tokens, links, lengths, path), torch.zeros_like(lengths)
        total, recomputed = log_likelihood(tokens, links, lengths, sizes)
        return -total, recomputed

    def _glance(
        self,
        model: Any,
        ids: Tensor,
        targets: Tensor,
        lengths: Tensor,
        logits: Tensor,
        links: Tensor,
        sizes: Tensor,
    ) -> Revealed:
        """Choose tokens along the best path; of an infeasible target none."""
        path = best_path(token_scores(logits, targets), links, lengths, sizes.maximum(lengths))
        path = path.minimum(sizes[:, None] - 1)
        shares, order = draw(ids, targets.shape[1], self._cfg.seed, model.num_updates)
        if self._cfg.glancing == "uniform":
            counts = uniform_counts(lengths, shares)
        else:
            predicted = logits.argmax(-1).gather(1, path)
            wrong = ((predicted != targets) & (targets != self._pad)).sum(1)
            counts = adaptive_counts(wrong, self.ratio(model.num_updates))
        counts = counts * (lengths <= sizes)
        return Revealed(choose(counts, lengths, order), path)

    def ratio(self, update: int) -> float:
        """Return the ratio τ of adaptive glancing at an update.

        It falls linearly over the updates, or where their number is not given, over the epochs.
        """
        if self._cfg.max_update:
            done = update / self._cfg.max_update
        else:
            done = (self.task.epoch - 1) / max(1, self._cfg.max_epoch)
        first, last = self._cfg.glancing_from, self._cfg.glancing_to
        return first + (last - first) * min(1.0, done / ANNEALED)

    @staticmethod
    def reduce_metrics(logging_outputs: list[dict[str, Any]]) -> None:
        """Log means, in bits as fairseq does, and what was left out or recomputed."""
        total = {key: sum(log[key] for log in logging_outputs) for key in logging_outputs[0]}
        sentences, tokens = max(1, total["sample_size"]), total["ntokens"]
        metrics.log_scalar("loss", total["loss"] / sentences / math.log(2), sentences, round=3)
        metrics.log_scalar("nll_loss", total["nll_loss"] / tokens / math.log(2), tokens, round=3)
        for name in COUNTED:
            metrics.log_scalar_sum(name, total[name])

    @staticmethod
    def logging_outputs_can_be_summed() -> bool:
        """See fairseq."""
        return True


def token_scores(logits: Tensor, targets: Tensor) -> Tensor:
    """Return log P(y_i | vertex u) (B, M, L) of `targets` (B, M) from `logits` (B, L, V)."""
    wanted = targets[:, None].expand(-1, logits.shape[1], -1)  # (B, L, M)
    scores = logits.gather(2, wanted).float() - logits.float().logsumexp(-1, keepdim=True)
    return scores.transpose(1, 2)
