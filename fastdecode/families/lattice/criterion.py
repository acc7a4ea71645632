"""The loss: label-smoothed cross-entropy over all slots, offsets drawn for each sentence."""

from typing import Any

from fairseq.criterions import register_criterion

from fastdecode.train.criterion import SeededConfig, SeededCriterion
from fastdecode.train.draws import keyed_integers


@register_criterion("fastdecode_markov", dataclass=SeededConfig)
class MarkovCriterion(SeededCriterion):
    """Cross-entropy with offsets keyed by (seed, update, sentence); 0 in validation."""

    def forward(self, model: Any, sample: dict[str, Any], reduce: bool = True) -> Any:
        """See fairseq."""
        ids = sample["id"]
        offsets = ids.new_zeros(len(ids))
        if model.training:
            orders = model.decoder.orders
            offsets = keyed_integers(ids, orders, self.seed, model.num_updates)
        net_input = {**sample["net_input"], "offsets": offsets}
        return super().forward(model, {**sample, "net_input": net_input}, reduce)
