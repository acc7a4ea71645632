"""How right a translation is at its head and at its tail (Imamura and Sumita 2020, table 3).

They limit the hypotheses to their first or last 5, 10 and 15 tokens and give the precision of
their 1-grams and 4-grams, on sentences of over 30 tokens. Here an n-gram is right, as in BLEU, if
it stands anywhere in the reference, and not more often than there; tokens are words, without BPE;
and a sentence's length is its reference's. Limited so, a longer head comes nearer to the whole;
theirs goes away from it (1-grams on WMT14: 53.8%, 49.1%, 45.1%, but 59.8% of whole hypotheses), for
a reason that the paper does not give.
"""

from collections.abc import Sequence

from fastdecode.measure.metrics import Metrics, metric, word_bleu

ORDERS = (1, 4)
ENDS = {
    "all": slice(None),
    **{f"first{count}": slice(count) for count in (5, 10, 15)},
    **{f"last{count}": slice(-count, None) for count in (5, 10, 15)},
}
LONG = 30


def end_precisions(words: Sequence[str], reference: Sequence[str], lowercase: bool) -> Metrics:
    """Return `precision1_first5`, `precision4_last15` and so on, shares between 0 and 1.

    `precision1_all` and `precision4_all` are those of whole hypotheses. All fourteen stand there a
    second time with `/over30`, of the lines with over 30 words in the reference. `words` and
    `reference` are tokenised lines without BPE. What has no n-gram to judge is left out.
    """
    lines = [(line.split(), right) for line, right in zip(words, reference, strict=True)]
    long = [(line, right) for line, right in lines if len(right.split()) > LONG]
    scorer = word_bleu(lowercase)
    metrics: Metrics = {}
    for chosen, suffix in ((lines, ""), (long, f"/over{LONG}")):
        if not chosen:
            continue
        references = [[right for _, right in chosen]]
        for end, part in ENDS.items():
            hypotheses = [" ".join(line[part]) for line, _ in chosen]
            score = scorer.corpus_score(hypotheses, references)
            for order in ORDERS:
                right, total = score.counts[order - 1], score.totals[order - 1]
                if total:
                    name = f"precision{order}_{end}{suffix}"
                    metrics[name] = metric(right / total, "share", scorer)
    return metrics
