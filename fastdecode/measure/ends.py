"""How right a translation is at its head and at its tail (Imamura and Sumita 2020, table 3).

They limit the hypotheses to their first or last 5, 10 and 15 tokens and give the precision of
their 1-grams and 4-grams, on sentences of over 30 tokens. Here an n-gram is right, as in BLEU, if
it stands anywhere in the reference, and not more often than there; tokens are words, without BPE;
and a sentence's length is its reference's. Limited so, a longer head comes nearer to the whole;
theirs goes away from it (1-grams on WMT14: 53.8%, 49.1%, 45.1%, but 59.8% of whole hypotheses), for
a reason that the paper does not give.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU

from fastdecode.measure.metrics import Metrics, metric, word_bleu

ORDERS = (1, 4)
ENDS = {
    "all": slice(None),
    **{f"first{count}": slice(count) for count in (5, 10, 15)},
    **{f"last{count}": slice(-count, None) for count in (5, 10, 15)},
}
LONG = 30


def end_counts(
    words: Sequence[str], reference: Sequence[str], scorer: BLEU
) -> dict[str, NDArray[np.int64]]:
    """Return for `precision1_first5` and so on the n-grams of each line, (N, 2): right ones, all.

    The same stands there a second time with `/over30`, of the lines with over 30 words in the
    reference, none of the others; not if there is no such line.
    """
    counts = {}
    for end, part in ENDS.items():
        scores = [
            scorer.corpus_score([" ".join(line.split()[part])], [[right]])
            for line, right in zip(words, reference, strict=True)
        ]
        for order in ORDERS:
            lines = [(score.counts[order - 1], score.totals[order - 1]) for score in scores]
            counts[f"precision{order}_{end}"] = np.array(lines)
    long = np.array([[len(right.split()) > LONG] for right in reference])  # (N, 1)
    over = {f"{name}/over{LONG}": lines * long for name, lines in counts.items()}
    return counts | (over if long.any() else {})


def end_precisions(words: Sequence[str], reference: Sequence[str], lowercase: bool) -> Metrics:
    """Return `precision1_first5`, `precision4_last15` and so on, shares between 0 and 1.

    `precision1_all` and `precision4_all` are those of whole hypotheses. All fourteen stand there a
    second time with `/over30`, of the lines with over 30 words in the reference. `words` and
    `reference` are tokenised lines without BPE. What has no n-gram to judge is left out.
    """
    scorer = word_bleu(lowercase)
    sums = {
        name: lines.sum(axis=0).tolist()
        for name, lines in end_counts(words, reference, scorer).items()
    }
    return {
        name: metric(right / total, "share", scorer)
        for name, (right, total) in sums.items()
        if total
    }
