"""How often a decoder stammers: the sign of a parallel decoder that mixes several translations."""

from collections.abc import Iterable, Sequence
from itertools import pairwise


def repetition_rate(lines: Iterable[Sequence[str]]) -> float:
    """Return the share of tokens that equal the token just before them.

    Xia et al. (2022, appendix B, table 9) call it the token repetition ratio and do not define it;
    this is the usual measure, since Ghazvininejad et al. (2019, Mask-Predict). Tokens are BPE
    pieces as they were decoded, and each of them counts, a line's first one too. It is 0 where
    there is none.
    """
    tokens = repeated = 0
    for line in lines:
        tokens += len(line)
        repeated += repeats(line)
    return repeated / tokens if tokens else 0.0


def repeats(tokens: Sequence[str]) -> int:
    """Return how many tokens of a line equal the token just before them."""
    return sum(before == token for before, token in pairwise(tokens))
