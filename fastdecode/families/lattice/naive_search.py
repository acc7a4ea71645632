"""The rules of the lattice to the letter, in plain Python: what viterbi.py and scan.py must equal.

States are the words 0 to K - 1, then `</s>` (K) and PAD (K + 1); see paths.py for the tensors.
"""

from math import inf

from torch import Tensor


def begin(first: Tensor, state: int, shortest: int, longest: int) -> float:
    """Return the score of `state` in slot 0 of one sentence; `first` is (K + 1)."""
    words = len(first) - 1
    end, pad = words, words + 1
    if state == pad or (state == end and shortest > 1) or (state < end and longest == 1):
        return -inf
    return float(first[state])


def step(edges: Tensor, slot: int, before: int, after: int, shortest: int, longest: int) -> float:
    """Return the score of `after` in `slot` behind `before`; `edges` is (T - 1, K, K + 1)."""
    words = edges.shape[1]
    end, pad = words, words + 1
    if before in (end, pad):
        return 0.0 if after == pad else -inf
    if after == pad or slot >= longest:  # only PAD may stand there, and no word comes before it
        return -inf
    if after == end and slot < shortest - 1:
        return -inf
    if after < words and slot == longest - 1:
        return -inf
    return float(edges[slot - 1, before, after])


def search(first: Tensor, edges: Tensor, shortest: int, longest: int) -> tuple[list[int], float]:
    """Return the states in all T slots of one sentence's best path, and its score."""
    pad = len(first)
    order = [pad, *range(pad)]  # PAD before `</s>`: of equally good paths the shorter one
    scores = [begin(first, state, shortest, longest) for state in range(pad + 1)]
    parents: list[list[int]] = []
    for slot in range(1, len(edges) + 1):
        best, parent = [], []
        for after in range(pad + 1):
            sums = [
                scores[state] + step(edges, slot, state, after, shortest, longest)
                for state in range(pad + 1)
            ]
            parent.append(max(order, key=sums.__getitem__))  # the first of equals
            best.append(sums[parent[-1]])
        scores = best
        parents.append(parent)
    path = [max(order, key=scores.__getitem__)]
    score = scores[path[0]]
    for parent in reversed(parents):
        path.append(parent[path[-1]])
    return path[::-1], score
