"""How far a number would move with other test lines: the bootstrap, with the same draws for all.

All decoders are resampled with the same draws of lines, so that the difference or the ratio of two
of them has an interval of its own, which is narrower than theirs (Koehn 2004: paired bootstrap).
Where a model was trained several times, its seeds are drawn as well (Sellam et al. 2022, The
MultiBERTs, section 3: multi-bootstrap): another training would have moved the number, too. So are
the repeats of a time: a machine drifts, and another hour would have had other times. Decoders take
turns within a repeat, and share its draws.
"""

import zlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU

from fastdecode.errors import UserError
from fastdecode.measure.lengths import NAMES, bucket
from fastdecode.measure.metrics import text_bleu

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]
RESAMPLES = 1_000  # of the bootstrap: sacreBLEU's default
SEED = 12345  # sacreBLEU's default
FEWEST = 5  # repeats that an interval of a time or a rate needs
LEVEL = 0.95  # of intervals


def draws(units: int, resamples: int = RESAMPLES, of: str = "lines") -> NDArray[np.int64]:
    """Return as many rows of `units` numbers below `units`, the same every time.

    What they are numbers `of` decides: lines and repeats are drawn apart.
    """
    key = SEED if of == "lines" else [SEED, zlib.crc32(of.encode())]
    return np.random.default_rng(key).integers(0, units, (resamples, units))  # (R, N)


def interval(drawn: Numbers) -> tuple[float, float]:
    """Return both ends of the 95% interval of a number, from its resamples (R,)."""
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return low, high


def resampled_bleu(
    texts: Sequence[str],
    reference: Sequence[str],
    language: str,
    lowercase: bool,
    resamples: int = RESAMPLES,
) -> Numbers:
    """Return the BLEU of every resample of the lines, (R,), in percent.

    Lines are detokenised; `language` and `lowercase` as in fastdecode.measure.quality.

    Raises UserError on an empty test set and on numbers of lines that differ.
    """
    return resampled_counts(counts_of_lines(texts, reference, language, lowercase), resamples)


def resampled_bleu_by_length(
    texts: Sequence[str],
    reference: Sequence[str],
    lengths: Sequence[int],
    language: str,
    lowercase: bool,
    resamples: int = RESAMPLES,
) -> dict[str, Numbers]:
    """Return the same of each bucket of lengths, such as `11-20`: see fastdecode.measure.lengths.

    Lines are drawn from all of them, and a resample's BLEU of a bucket is that of those that fall
    into it. It is NaN where none does, as happens to a bucket of some ten lines or fewer: those
    few do not tell of others.

    Raises UserError as resampled_bleu does.
    """
    counts = counts_of_lines(texts, reference, language, lowercase)
    buckets = np.array([bucket(length) for length, _ in zip(lengths, texts, strict=True)])
    return {
        name: resampled_counts(counts, resamples, buckets == name)
        for name in NAMES
        if name in buckets
    }


def check_lines(translations: int, reference: int) -> None:
    """Raise UserError on an empty test set and on numbers of lines that differ."""
    if not translations or translations != reference:
        raise UserError(
            f"{translations} translations and {reference} lines of the reference: resample a "
            "split that is not empty"
        )


def counts_of_lines(
    texts: Sequence[str], reference: Sequence[str], language: str, lowercase: bool
) -> Counts:
    """Return what BLEU is made of, of each line, (N, 2 · orders + 2).

    Raises UserError on an empty test set and on numbers of lines that differ.
    """
    check_lines(len(texts), len(reference))
    count = counter(language, lowercase)
    return np.array([count(text, [right]) for text, right in zip(texts, reference, strict=True)])


def counter(language: str, lowercase: bool) -> Callable[[str, Sequence[str]], list[int]]:
    """Return what counts, of a text and its references, what BLEU is made of.

    That is n-grams that are right, all of them, and both lengths, (2 · orders + 2,).
    """
    scorer = text_bleu(language, lowercase, effective_order=True)  # for lines alone

    def count(text: str, right: Sequence[str]) -> list[int]:
        score = scorer.sentence_score(text, right)
        return [*score.counts, *score.totals, score.sys_len, score.ref_len]

    return count


def resampled_counts(
    counts: Counts, resamples: int = RESAMPLES, inside: NDArray[np.bool_] | None = None
) -> Numbers:
    """Return the BLEU of every resample of lines, (R,), from `counts` of each, (N, …).

    If `inside` names some of them, (N,), it is that of these, and NaN where none is drawn.
    """
    some = np.ones(len(counts), dtype=bool) if inside is None else inside
    drawn = (lines[some[lines]] for lines in draws(len(counts), resamples))
    sums = ((len(lines), counts[lines].sum(axis=0)) for lines in drawn)
    return np.array([score_of(row) if lines else np.nan for lines, row in sums])


def score_of(counts: Counts) -> float:
    """Return the BLEU, in percent, of what it is made of, (2 · orders + 2,)."""
    *orders, length, wanted = counts.tolist()
    half = len(orders) // 2
    scored = BLEU.compute_bleu(orders[:half], orders[half:], length, wanted, smooth_method="exp")
    return float(scored.score)


def resampled_ratio(counts: Counts, resamples: int = RESAMPLES) -> Numbers:
    """Return one sum over lines by another of every resample of the lines, (R,).

    `counts` are both of each line, (N, 2). It is NaN where the second sum is zero.
    """
    sums = np.array([counts[lines].sum(axis=0) for lines in draws(len(counts), resamples)])
    return sums[:, 0] / np.where(sums[:, 1], sums[:, 1], np.nan)


def resampled_seeds(scores: Numbers, model: str) -> Numbers:
    """Return the mean over as many seeds as there are, drawn with replacement, of resamples, (R,).

    `scores` (seeds, R) are of one decoder, the same resamples of lines for every seed. Decoders of
    one `model` (the name of what decides) share the draws of seeds, so that their differences are
    those of the same trainings; models are drawn apart, since seed 2 of one has nothing to do with
    seed 2 of another.

    Draws from few seeds vary too little, by (S - 1) / S; deviations from the mean over seeds are
    stretched by the root of its inverse (Rao and Wu 1988), so that their variance is the unbiased
    estimate. Quantiles of draws of three are still too narrow where seeds matter more than lines: a
    95% interval then has the truth in some 81 of 100 cases for one model, or for two decoders of
    it, and in some 87 for two models. One seed tells nothing of others: its resamples are returned
    as they are.
    """
    seeds, resamples = scores.shape
    mean: Numbers = scores.mean(axis=0)  # (R,)
    if seeds == 1:
        return mean
    random = np.random.default_rng([SEED, zlib.crc32(model.encode())])
    drawn = random.integers(0, seeds, (seeds, resamples))  # (S, R)
    moved = np.take_along_axis(scores, drawn, axis=0).mean(axis=0) - mean
    stretched: Numbers = mean + moved * (seeds / (seeds - 1)) ** 0.5
    return stretched


def resampled_time(milliseconds: Numbers) -> Numbers:
    """Return the median time of every resample of the lines and of the repeats, (R,).

    `milliseconds` are of single lines, (lines, repeats), the lines in the same order for all
    decoders. They are NaN for fewer than FEWEST repeats, which do not tell of others: between the
    least and the greatest of three the true median lies in three of four cases only. Both are drawn
    anew (Owen 2007, The pigeonhole bootstrap), whose intervals are rather too wide than too narrow.
    """
    if milliseconds.shape[1] < FEWEST:
        return np.full(RESAMPLES, np.nan)
    drawn = zip(draws(len(milliseconds)), _repeats(milliseconds.shape[1]), strict=True)
    return np.array([np.median(milliseconds[np.ix_(*both)]) for both in drawn])


def resampled_stages(milliseconds: Numbers, inside: NDArray[np.bool_]) -> Numbers:
    """Return the mean time of stages of every resample of lines and repeats, (R, stages).

    `milliseconds` are (lines, repeats, stages), `inside` says which lines count, (lines,). It is
    NaN where none of them is drawn, and for fewer than FEWEST repeats.
    """
    lines, repeats, stages = milliseconds.shape
    found = np.full((RESAMPLES, stages), np.nan)
    if repeats < FEWEST:
        return found
    for row, (some, again) in enumerate(zip(draws(lines), _repeats(repeats), strict=True)):
        if inside[some].any():
            found[row] = milliseconds[np.ix_(some[inside[some]], again)].mean(axis=(0, 1))
    return found


def resampled_rate(rates: Numbers) -> Numbers:
    """Return the median rate of every resample of the repeats, (R,); `rates` has one a repeat.

    They are NaN for fewer than FEWEST repeats, as times are.
    """
    if len(rates) < FEWEST:
        return np.full(RESAMPLES, np.nan)
    return np.median(rates[_repeats(len(rates))], axis=1)


def _repeats(count: int) -> NDArray[np.int64]:
    return draws(count, of="repeats")
