"""What losses that draw at random have in common: fairseq's settings, and the training's seed."""

from dataclasses import dataclass
from typing import Any

from fairseq.criterions.label_smoothed_cross_entropy import (
    LabelSmoothedCrossEntropyCriterion,
    LabelSmoothedCrossEntropyCriterionConfig,
)
from omegaconf import II


@dataclass
class SeededConfig(LabelSmoothedCrossEntropyCriterionConfig):  # type: ignore[misc]
    """Options of such a criterion."""

    seed: int = II("common.seed")


class SeededCriterion(LabelSmoothedCrossEntropyCriterion):  # type: ignore[misc]
    """Label-smoothed cross-entropy with `seed`."""

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
        self.seed = seed
