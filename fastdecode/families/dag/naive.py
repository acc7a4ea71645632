"""The naive twins: sums and maxima over all paths in log space, as equation 14 has them.

Huang et al. (2022), appendix A. Everything else that sums over paths is tested against these, and
where the fast sum runs out of numbers, sum_paths is what is taken instead.
"""

from math import inf

import torch
from torch import Tensor


def sum_paths(tokens: Tensor, links: Tensor, lengths: Tensor, sizes: Tensor) -> Tensor:
    """Return log P(Y | X) = log Σ_A P(Y, A | X) of some sentences: (B).

    `tokens` (B, M, L) are log P(y_i | vertex u), `links` (B, L, L) log-probabilities, `lengths` (B)
    the tokens of the targets with their frame, `sizes` (B) the vertices. Paths go from the first
    vertex to the last. Of a target longer than its graph the result is -inf.
    """
    sums = prefix_sums(tokens, links)
    rows = torch.arange(len(sums), device=sums.device)
    return sums[rows, lengths - 1, sizes - 1]


def prefix_sums(tokens: Tensor, links: Tensor) -> Tensor:
    """Return log f (B, M, L): over all paths that write the first i tokens and end at vertex u.

    Arguments as for sum_paths.
    """
    f = [_first(tokens)]
    for i in range(1, tokens.shape[1]):
        f.append(_logsumexp(f[-1][:, :, None] + links) + tokens[:, i])  # equation 14
    return torch.stack(f, dim=1)


def max_paths(tokens: Tensor, links: Tensor, lengths: Tensor, sizes: Tensor) -> Tensor:
    """Return log max_A P(Y, A | X) of some sentences: (B). See sum_paths."""
    f = _first(tokens)
    found = f.new_full((len(f),), -inf)
    last = (sizes - 1)[:, None]
    for i in range(1, tokens.shape[1]):
        f = (f[:, :, None] + links).amax(1) + tokens[:, i]
        found = found.where(lengths != i + 1, f.gather(1, last)[:, 0])
    return found


def _first(tokens: Tensor) -> Tensor:
    """Return f_1 (B, L): only the first vertex can begin a path (equation 15)."""
    first = torch.full_like(tokens[:, 0], -inf)
    return torch.cat([tokens[:, 0, :1], first[:, 1:]], dim=1)


def _logsumexp(terms: Tensor) -> Tensor:
    """Sum (B, L, L) over the second dimension; where nothing adds up, -inf with gradient 0."""
    nothing = (terms == -inf).all(1, keepdim=True)
    return terms.masked_fill(nothing, 0.0).logsumexp(1).masked_fill(nothing[:, 0], -inf)
