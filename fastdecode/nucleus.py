"""Nucleus sampling: only the likeliest are drawn (Holtzman et al. 2020)."""

import torch
from torch import Tensor


def nucleus(chances: Tensor, draw: Tensor, top_p: float) -> Tensor:
    """Return which of `chances` (B, n) the numbers `draw` (B), uniform in [0, 1), stand for (B).

    Only the likeliest that together have a share `top_p` are drawn, always the likeliest one.
    """
    if chances.is_cuda:  # which would have to wait for a count
        best, order = chances.sort(dim=1, descending=True, stable=True)
    else:
        best, order = _head(chances, top_p)
    before = best.cumsum(1) - best
    kept = best.masked_fill(before >= top_p, 0.0)
    kept[:, 0] = best[:, 0]
    sums = kept.cumsum(1)
    goal = draw[:, None].to(sums) * sums[:, -1:]
    index = torch.searchsorted(sums, goal, right=True).clamp(max=sums.shape[1] - 1)
    # A goal at the very end of the sums may fall behind the last one that is kept.
    index = index.minimum((kept > 0).sum(1, keepdim=True).clamp(min=1) - 1)
    chosen: Tensor = order.gather(1, index)[:, 0]
    return chosen


def _head(chances: Tensor, top_p: float) -> tuple[Tensor, Tensor]:
    """Return the likeliest of each row, best first, and where they are: all of its nucleus.

    A nucleus is far smaller than a row, which would take long to sort. All chances below the
    `floor` together are less than what a row has beyond `top_p`, so that none is in the nucleus.
    Half of that leaves room for rounding. Rows that have fewer than others end in zeros.
    """
    floor = (chances.sum(1, keepdim=True) - top_p) / (2 * chances.shape[1])
    high = ~(chances < floor)  # all of a row that is not finite
    counts = high.sum(1)
    rows, columns = high.nonzero(as_tuple=True)
    first = counts.cumsum(0) - counts
    slots = torch.arange(len(rows)) - first[rows]
    where = torch.zeros(len(chances), int(counts.max()), dtype=torch.long)
    where[rows, slots] = columns
    heads = torch.zeros(where.shape, dtype=chances.dtype)
    heads[rows, slots] = chances[rows, columns]
    best, order = heads.sort(dim=1, descending=True, stable=True)
    return best, where.gather(1, order)
