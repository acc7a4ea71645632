"""Viterbi search as a scan over matrices, where addition is max and multiplication is plus.

One step of the recursion multiplies a vector of K scores by a matrix of edges, and multiplication
is associative. So two steps at a time are joined into one, which leaves half as many; their scores,
found in the same way, are those of the even slots, and one step from each of these gives the odd
ones. That is O(log T) operations one after another, where viterbi.py has T - 1, for T·K³ sums where
it has T·K². It can pay where an operation costs more than the sums in it: on a GPU, with few
sentences and small K. On a CPU it never does.
"""

import torch
from torch import Tensor

from fastdecode.families.lattice.paths import Paths, best_paths

SUMS = 2**26  # at one time, 256 MB of float32


def scan(first: Tensor, edges: Tensor, shortest: Tensor, longest: Tensor) -> Paths:
    """Return what `viterbi` returns, but for the rounding of sums taken in another order.

    So two paths may change places whose scores differ in their last digits only. Takes memory for
    2·B·T·K² numbers and SUMS.
    """
    return best_paths(_reach(first, edges), edges, shortest, longest)


def _reach(first: Tensor, steps: Tensor) -> Tensor:
    """Return the best scores (B, n + 1, K + 1) before and after each of n steps (B, n, K, K + 1).

    Column K is the end of the path in that very slot, so it leads nowhere.
    """
    count = steps.shape[1]
    if not count:
        return first[:, None]
    even = _reach(first, _join(steps[:, : count - 1 : 2, :, :-1], steps[:, 1::2]))
    odd = (even[:, : (count + 1) // 2, :-1, None] + steps[:, ::2]).amax(dim=2)
    scores = first.new_empty(len(first), count + 1, first.shape[1])
    scores[:, ::2], scores[:, 1::2] = even, odd
    return scores


def _join(a: Tensor, b: Tensor) -> Tensor:
    """Return max over k of a[…, i, k] + b[…, k, j], for as many rows i at once as SUMS allows."""
    rows = max(1, SUMS // max(1, b.numel()))
    parts = [(part[..., None] + b[:, :, None]).amax(dim=3) for part in a.split(rows, dim=2)]
    return torch.cat(parts, dim=2)
