"""The tie rule: of equal scores the first comes first."""

from math import inf

import torch
from torch import Tensor

ONE_SORT = 4096  # of so many PyTorch sorts each row in one go, on a GPU


def first_best(scores: Tensor, k: int, look: bool = True) -> tuple[Tensor, Tensor]:
    """Return the K best of the last dimension of `scores` (…, n) and where they are, best first.

    Of equal ones the first wins, which `topk` leaves open; only those at -inf come in any order.
    K is cut down to n. To `look` for ties waits for the device. Scores of half precision have so
    many that some row of a batch nearly always has one at the K-th place: only such rows are
    sorted.
    """
    k = min(k, scores.shape[-1])
    if not look:
        return first_best_unseen(scores, k)
    best, index = scores.topk(min(k + 1, scores.shape[-1]))
    equal = (best[..., :-1] == best[..., 1:]) & (best[..., 1:] > -inf)
    if not bool(equal.any()):
        return best[..., :k], index[..., :k]
    index = index[..., :k].sort(dim=-1).values
    best, order = scores.gather(-1, index).sort(dim=-1, descending=True, stable=True)
    index = index.gather(-1, order)
    cut = equal[..., k - 1 :].any(-1)  # the last one in equals the first one left out
    if bool(cut.any()):
        whole, order = scores[cut].sort(dim=-1, descending=True, stable=True)
        best[cut], index[cut] = whole[:, :k], order[:, :k]
    return best, index


def first_best_unseen(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return what `first_best` returns, without a look: K is at most n.

    Of many scores the K first best are put before they are sorted: in order of their places those
    that are better than the K-th, then its equals, which are more than find room.
    """
    size = scores.shape[-1]
    if size <= ONE_SORT:
        best, index = scores.sort(dim=-1, descending=True, stable=True)
        return best[..., :k], index[..., :k]
    last = scores.topk(k).values[..., -1:]
    rank = torch.arange(size, 0, -1, dtype=torch.int32, device=scores.device)
    rank = rank.where(scores <= last, rank + size).masked_fill(scores < last, 0)
    index = rank.topk(k).indices
    best, order = scores.gather(-1, index).sort(dim=-1, descending=True, stable=True)
    return best, index.gather(-1, order)
