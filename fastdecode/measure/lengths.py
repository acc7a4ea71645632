"""BLEU by the length of the reference: where a system fails on long sentences."""

from collections.abc import Sequence

from sacrebleu.metrics.bleu import BLEU

from fastdecode.measure.metrics import Metrics, metric

# Six buckets with an edge at 20, as in Huang et al. (2022, section C.1, figure 12), who do not
# print the others.
LONGEST = (10, 20, 30, 40, 50)  # in each bucket but the last, which has no end
NAMES = ("1-10", "11-20", "21-30", "31-40", "41-50", "51+")


def bucket(length: int) -> str:
    """Return the name of the bucket for a reference of `length` words, such as `11-20`."""
    return NAMES[sum(length > longest for longest in LONGEST)]


def bleu_by_length(
    texts: Sequence[str], reference: Sequence[str], lengths: Sequence[int], scorer: BLEU
) -> Metrics:
    """Return `bleu_by_length/11-20` and the like, and `lines_by_length/…`: how many lines that is.

    `lengths` are the words of each reference line, tokenised, without BPE. A bucket that no line
    falls into is left out.
    """
    buckets = [bucket(length) for length in lengths]
    metrics: Metrics = {}
    for name in NAMES:
        inside = [index for index, other in enumerate(buckets) if other == name]
        if inside:
            hypotheses = [texts[index] for index in inside]
            score = scorer.corpus_score(hypotheses, [[reference[index] for index in inside]]).score
            metrics[f"bleu_by_length/{name}"] = metric(score, "BLEU", scorer)
            metrics[f"lines_by_length/{name}"] = metric(len(inside), "lines")
    return metrics
