"""Several hypotheses for one source line: how unlike one another they are, and how good.

The measures of Shen et al. (2019, Mixture Models for Diverse Machine Translation), by which figure
8 of Huang et al. (2022) sets quality against diversity: a hypothesis is sampled for each reference
that a line has. Lines are detokenised text, BLEU is that of corpora, in percent.
"""

from collections.abc import Sequence
from itertools import permutations
from statistics import fmean

import numpy as np

from fastdecode.errors import UserError
from fastdecode.measure.metrics import Metric, metric, text_bleu
from fastdecode.measure.resampling import RESAMPLES, Numbers, counter, resampled_counts

Lines = Sequence[Sequence[str]]  # for each source line, several texts


def pairwise_bleu(hypotheses: Lines, language: str, lowercase: bool) -> Metric:
    """Score every hypothesis against every other one of its line; low means diverse.

    Raises UserError if no line has two hypotheses.
    """
    pairs = [pair for line in hypotheses for pair in permutations(line, 2)]
    if not pairs:
        raise UserError("no line has two hypotheses to compare: sample more than one a line")
    return _score(pairs, language, lowercase)


def resampled_pairwise_bleu(
    hypotheses: Lines, language: str, lowercase: bool, resamples: int = RESAMPLES
) -> Numbers:
    """Return the same of every resample of the lines, (R,): see fastdecode.measure.resampling."""
    count = counter(language, lowercase)
    pairs = [permutations(line, 2) for line in hypotheses if len(line) > 1]
    counts = [[count(text, [other]) for text, other in line] for line in pairs]
    return resampled_counts(np.array([np.sum(line, axis=0) for line in counts]), resamples)


def multi_reference_bleu(
    hypotheses: Lines, references: Lines, language: str, lowercase: bool
) -> Metric:
    """Score all hypotheses against all references of their line but one; average over that one.

    One is left out so that the number compares with that of a reference against all others.

    Raises UserError unless every line has hypotheses and equally many references, two at least.
    """
    _check(hypotheses, references)
    counts = {len(line) for line in references}
    if len(counts) > 1 or min(counts) < 2:
        raise UserError(
            f"lines have from {min(counts)} to {max(counts)} references: multi-reference BLEU "
            "needs the same number for every line, two at least"
        )
    scorer = text_bleu(language, lowercase)
    texts = [text for line in hypotheses for text in line]
    streams = [  # one for each rank of a reference, as long as `texts`
        [right for line, right in zip(hypotheses, rank, strict=True) for _ in line]
        for rank in zip(*references, strict=True)
    ]
    scores = [
        scorer.corpus_score(texts, streams[:left_out] + streams[left_out + 1 :]).score
        for left_out in range(len(streams))
    ]
    return metric(fmean(scores), "BLEU", scorer)


def resampled_multi_reference_bleu(
    hypotheses: Lines,
    references: Lines,
    language: str,
    lowercase: bool,
    resamples: int = RESAMPLES,
) -> Numbers:
    """Return the same of every resample of the lines, (R,): see fastdecode.measure.resampling."""
    count = counter(language, lowercase)
    scores = []
    for left_out in range(len(references[0])):
        some = ([*right[:left_out], *right[left_out + 1 :]] for right in references)
        lines = zip(hypotheses, some, strict=True)
        counts = [np.sum([count(text, right) for text in line], axis=0) for line, right in lines]
        scores.append(resampled_counts(np.array(counts), resamples))
    mean: Numbers = np.mean(scores, axis=0)
    return mean


def _score(pairs: Sequence[tuple[str, str]], language: str, lowercase: bool) -> Metric:
    """Return the BLEU of pairs of a hypothesis and its reference."""
    scorer = text_bleu(language, lowercase)
    texts, right = zip(*pairs, strict=True)
    return metric(scorer.corpus_score(texts, [right]).score, "BLEU", scorer)


def _check(hypotheses: Lines, references: Lines) -> None:
    if len(hypotheses) != len(references):
        raise UserError(
            f"hypotheses for {len(hypotheses)} lines but references for {len(references)}: "
            "score translations of the same split"
        )
    if not hypotheses or not all(map(len, [*hypotheses, *references])):
        raise UserError("a line without hypotheses or references, or no lines at all")
