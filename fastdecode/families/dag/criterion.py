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

from fastdecode.families.dag.glance import Glance
from fastdecode.families.dag.paths import best_path, log_likelihood, score_path
from fastdecode.families.dag.training import CRITERION
from fastdecode.train.curve import COUNTED


@dataclass
class GraphLossConfig(FairseqDataclass):  # type: ignore[misc]
    """Options of the criterion."""

    marginalise: ChoiceEnum(["sum", "max"]) = field(  # type: ignore[valid-type]
        default="sum", metadata={"help": "over all paths, or the best one"}
    )
    glancing: ChoiceEnum(["adaptive", "uniform", "none"]) = field(  # type: ignore[valid-type]
        default="adaptive", metadata={"help": "what of the target the decoder sees"}
    )
    force_emission: bool = field(
        default=False, metadata={"help": "a shown vertex writes its token alone, unlearned"}
    )
    divide_by_length: bool = field(default=False, metadata={"help": "a mean over tokens"})
    seed: int = II("common.seed")


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
        glance = None
        if model.training and self._cfg.glancing != "none":
            update = model.num_updates
            uniform = self._cfg.glancing == "uniform"
            ratio = None if uniform else self.task.glancing_ratio(update)
            glance = Glance(targets, lengths, sample["id"], self._cfg.seed, update, ratio)
        tokens, links, sizes = model(inputs["src_tokens"], inputs["src_lengths"], targets, glance)
        if glance and self._cfg.force_emission:
            tokens = glance.force(tokens)
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
            "feasible_tokens": int(lengths.sum()),
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

    @staticmethod
    def reduce_metrics(logging_outputs: list[dict[str, Any]]) -> None:
        """Log means, in bits as fairseq does, and what was left out or recomputed."""
        total = {key: sum(log[key] for log in logging_outputs) for key in logging_outputs[0]}
        sentences, tokens = max(1, total["sample_size"]), max(1, total["feasible_tokens"])
        metrics.log_scalar("loss", total["loss"] / sentences / math.log(2), sentences, round=3)
        metrics.log_scalar("nll_loss", total["nll_loss"] / tokens / math.log(2), tokens, round=3)
        for name in COUNTED:
            metrics.log_scalar_sum(name, total[name])

    @staticmethod
    def logging_outputs_can_be_summed() -> bool:
        """See fairseq."""
        return True
