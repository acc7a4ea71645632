"""Nucleus sampling: only the likeliest are drawn (Holtzman et al. 2020)."""

import torch
from torch import Tensor


def nucleus(chances: Tensor, draw: Tensor, top_p: float) -> Tensor:
    """Return which of `chances` (B, n) the numbers `draw` (B), uniform in [0, 1), stand for (B).

    Only the likeliest that together have a share `top_p` are drawn, always the likeliest one.
    """
    best, order = chances.sort(dim=1, descending=True, stable=True)
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
