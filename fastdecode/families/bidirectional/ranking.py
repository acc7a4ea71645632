"""The tie rule: of equal scores the first comes first."""

from math import inf

from torch import Tensor


def first_best(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the K best of the last dimension of `scores` (…, n) and where they are, best first.

    Of equal ones the first wins, which `topk` leaves open; only those at -inf come in any order.
    K is cut down to n. Looking for ties waits for the device. Scores of half precision have so many
    that some row of a batch nearly always has one at the K-th place: only such rows are sorted.
    """
    k = min(k, scores.shape[-1])
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
