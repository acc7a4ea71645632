"""The loss: label-smoothed cross-entropy over all slots of folded targets, EODs among them."""

from typing import Any

from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import (
    LabelSmoothedCrossEntropyCriterion,
    LabelSmoothedCrossEntropyCriterionConfig,
)


@register_criterion("fastdecode_folded", dataclass=LabelSmoothedCrossEntropyCriterionConfig)
class FoldedCriterion(LabelSmoothedCrossEntropyCriterion):  # type: ignore[misc]
    """fairseq's loss of what the model's own fold makes of a batch."""

    def forward(self, model: Any, sample: dict[str, Any], reduce: bool = True) -> Any:
        """See fairseq. The targets of `sample` are plain sentences."""
        target = model.fold.fold(sample["target"], self.padding_idx)
        inputs = model.fold.inputs(target, model.first, self.padding_idx)
        folded = {
            **sample,
            "target": target,
            "ntokens": int((target != self.padding_idx).sum()),
            "net_input": {**sample["net_input"], "prev_output_tokens": inputs},
        }
        return super().forward(model, folded, reduce)
