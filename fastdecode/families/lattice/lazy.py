"""Exact normalisation over the vocabulary, only where the best path may be.

An edge's log-probability is a logit less log Z, and Z takes a product with the whole vocabulary for
every row (slot t, word i). The part of Z that the K candidates and `</s>` make up is known from the
logits themselves: it is smaller, so it gives an upper bound on all edges of the row. A search under
bounds tells how good a path through a row can be at most; the rows of the largest such sums are
normalised exactly, and so on, until every row that could still be on a best path is exact. Then the
best path is that of the exact lattice, and so is its score.

With a trained model a tenth of the rows or two is enough. With random weights all bounds are
equally loose and all rows are taken; their number grows from round to round, so that this costs
little more than taking them at once.
"""

from collections.abc import Callable
from math import inf

import torch
from torch import Tensor

FIRST, GROWTH = 32, 1.5  # rows of the first round, and how many times as many every next one has
MARGIN = 1e-4  # a path that is worse by less counts as equally good


def tighten(first: Tensor, edges: Tensor, shortest: int, excess: Callable[[Tensor], Tensor]) -> int:
    """Make the bounds `edges` (T - 1, K, K + 1) of one sentence exact where it matters, in place.

    `first` (K + 1) is exact; see paths.py for both and for `shortest`, from 2 on; T is the longest.
    `excess` returns, for numbers (n) of rows t · K + i, by how much their bounds are too large.

    Returns how many rows were made exact.
    """
    rows = edges.flatten(0, 1)  # a view: (T - 1) · K
    exact = rows.new_zeros(len(rows), dtype=torch.bool)
    # The score of a path is a sum of T numbers of one sign: in any order it is off by T · ε · |sum|
    # at most. So two such sums of one path, of two rows here, or of a row here and of the search,
    # differ by 2 · T · ε · |sum| at most.
    rounding = 2 * (len(edges) + 1) * torch.finfo(edges.dtype).eps
    count = FIRST
    while True:
        best = through(first, edges, shortest).flatten()
        most = best.max()
        open_best = best.masked_fill(exact, -inf)
        found, chosen = open_best.topk(min(count, len(best)))
        if not found[0] > most - (rounding * most.abs()).clamp(min=MARGIN):
            return int(exact.sum())
        chosen = chosen[found > -inf]
        rows[chosen] -= excess(chosen)[:, None]
        exact[chosen] = True
        count = int(count * GROWTH)


def through(first: Tensor, edges: Tensor, shortest: int) -> Tensor:
    """Return the score of the best path through every row: (T - 1, K)."""
    steps, words, _ = edges.shape
    before = first.new_empty(steps, words)
    before[0] = first[:-1]
    for word, step, result in zip(before[:, :, None], edges[:, :, :-1], before[1:], strict=False):
        torch.amax(word + step, dim=0, out=result)
    after = edges[:, :, -1].clone()  # of ending behind the word
    after[: shortest - 2] = -inf
    for slot in range(steps - 2, -1, -1):
        further = (edges[slot, :, :-1] + after[slot + 1]).amax(dim=1)
        torch.maximum(after[slot], further, out=after[slot])
    return before + after
