"""The loss: label-smoothed cross-entropy over all slots, offsets drawn for each sentence."""

from dataclasses import dataclass
from typing import Any

from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import (
    LabelSmoothedCrossEntropyCriterion,
    LabelSmoothedCrossEntropyCriterionConfig,
)
from omegaconf import II

from fastdecode.train.draws import keyed_integers


@dataclass
class MarkovConfig(LabelSmoothedCrossEntropyCriterionConfig):  # type: ignore[misc]
    """Options of the criterion."""

    seed: int = II("common.seed")


@register_criterion("fastdecode_markov", dataclass=MarkovConfig)
class MarkovCriterion(LabelSmoothedCrossEntropyCriterion):  # type: ignore[misc]
    """Cross-entropy with offsets keyed by (seed, update, sentence); 0 in validation."""

    def __init__(
        self,
        task: Any,
        sentence_avg: bool,
        label_smoothing: float,
        ignore_prefix_size: int,
        report_accuracy: bool,
        seed: int,
    ):
        """Take fairseq's settings, by the names it looks for, and the seed of the training."""
        super().__init__(task, sentence_avg, label_smoothing, ignore_prefix_size, report_accuracy)
        self._seed = seed

    def forward(self, model: Any, sample: dict[str, Any], reduce: bool = True) -> Any:
        """See fairseq."""
        ids = sample["id"]
        offsets = ids.new_zeros(len(ids))
        if model.training:
            orders = model.decoder.orders
            offsets = keyed_integers(ids, orders, self._seed, model.num_updates)
        net_input = {**sample["net_input"], "offsets": offsets}
        return super().forward(model, {**sample, "net_input": net_input}, reduce)
