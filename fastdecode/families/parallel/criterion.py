"""The loss of CTC: -log p(target) over all alignments, in log space."""

from math import log
from typing import Any

from fairseq import utils
from fairseq.criterions import FairseqCriterion, register_criterion
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics

from fastdecode.families.parallel.alignment import Labels, ctc_loss


@register_criterion("fastdecode_ctc", dataclass=FairseqDataclass)
class CtcCriterion(FairseqCriterion):  # type: ignore[misc]
    """Sums the loss over sentences; the gradient is that of the mean over their words.

    A sentence whose target needs more slots than its source gives has probability 0 and teaches
    nothing: it is left out of loss and words, and counted as `infeasible` in every log line.
    """

    def forward(self, model: Any, sample: dict[str, Any], reduce: bool = True) -> Any:
        """See fairseq; the model's slots are `sample["prev_target"]` (B, T)."""
        slots, inputs, target = sample["prev_target"], sample["net_input"], sample["target"]
        emitted = model(inputs["src_tokens"], inputs["src_lengths"], slots, target)["emitted"]
        labels, counts = model.labels(target), (slots != self.padding_idx).sum(1)
        feasible = labels.needed <= counts
        kept = Labels(labels.words[feasible], labels.lengths[feasible], labels.blank)
        loss = ctc_loss(emitted[feasible], counts[feasible], kept).sum()
        words = int(kept.lengths.sum())
        logged = {
            "loss": loss.data,
            "ntokens": sample["ntokens"],
            "nsentences": sample["nsentences"],
            "sample_size": words,
            "infeasible": int((~feasible).sum()),
        }
        return loss, words, logged

    @classmethod
    def reduce_metrics(cls, logging_outputs: list[dict[str, Any]]) -> None:
        """Add up what the workers log: loss a word in bits, and how many were infeasible."""

        def total(key: str) -> float:
            return float(utils.item(sum(log[key] for log in logging_outputs)))

        words = total("sample_size")
        loss = total("loss") / max(words, 1) / log(2)
        metrics.log_scalar("loss", loss, words, round=3)
        metrics.log_scalar("nll_loss", loss, words, round=3)  # nothing is smoothed
        metrics.log_scalar_sum("infeasible", total("infeasible"))

    @staticmethod
    def logging_outputs_can_be_summed() -> bool:
        """See fairseq."""
        return True
