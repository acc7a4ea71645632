"""What the searches of the lattice share: where a path may end, and the way back along it.

Slots count from 0 and lengths count `</s>`: a path of length L has words in slots 0 to L - 2,
`</s>` in slot L - 1, and PAD in all later slots. A sentence's lengths go from `shortest` (Tmin >=
1; from 2 on a translation has words) to `longest` (Tmax), so `</s>` stands in one of the slots Tmin
- 1 to Tmax - 1 and PAD from slot Tmin on at the earliest. The paper says only that PAD allows for
several lengths (section 4). Our reading, which naive_search.py follows to the letter: `</s>` to PAD
and PAD to PAD cost nothing; all else from `</s>`, all else from or to PAD, and any word in slot
Tmax - 1 are forbidden. So the end of a path needs no states of its own: `</s>` is one more column
beside the K words, and what stands behind it is settled.

A lattice is given as two tensors of log-probabilities, in float32 or float64:

- `first` (B, K + 1): of each word in slot 0, and of `</s>` there;
- `edges` (B, T - 1, K, K + 1): [b, t, i, j] of word j in slot t + 1 behind word i in slot t; column
  K is `</s>` in slot t + 1.

T is the batch's longest Tmax. -inf forbids. What a sentence has no use for may hold anything, even
NaN: steps beyond its own Tmax, its words in slot Tmax - 1, and `</s>` before slot Tmin - 1.

Of equally good paths the shorter one wins, and of equally long ones that with the lower index where
they differ last. Scores are not divided by the length.
"""

from dataclasses import dataclass
from math import inf

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class Paths:
    """The best path of every sentence, on the device of its lattice."""

    words: Tensor
    """(B, T - 1), the index among the K candidates in each slot; 0 behind the last word."""
    lengths: Tensor
    """(B), slots with `</s>`: one more than words."""
    scores: Tensor
    """(B), -inf where every path is forbidden; its words then mean nothing."""

    def to_lists(self) -> list[tuple[list[int], float]]:
        """Return each sentence's words and score: one copy from the device."""
        columns = (self.words, self.lengths[:, None], self.scores[:, None])
        rows = torch.cat(columns, dim=1).tolist()  # indices are small enough for any float
        return [(list(map(int, row[: int(row[-2]) - 1])), row[-1]) for row in rows]


def best_paths(scores: Tensor, edges: Tensor, shortest: Tensor, longest: Tensor) -> Paths:
    """Return the best path of each sentence, without waiting for the device.

    `scores` (B, T, K + 1) are those of the best path up to and with each word in each slot, and in
    column K of the best that ends there; `shortest` and `longest` (B) are the sentences' Tmin and
    Tmax, 1 <= Tmin <= Tmax <= T.
    """
    slots = torch.arange(scores.shape[1], device=scores.device)
    outside = (slots < shortest[:, None] - 1) | (slots >= longest[:, None])
    best, end = scores[:, :, -1].masked_fill(outside, -inf).max(dim=1)  # the first of equals
    lengths = (end + 1).maximum(shortest)  # otherwise too short where every end is at -inf
    trace = follow if scores.device.type == "cpu" else follow_by_doubling
    return Paths(trace(scores, edges, lengths), lengths, best)


def follow(scores: Tensor, edges: Tensor, lengths: Tensor) -> Tensor:
    """Return the words (B, T - 1) of the paths of these lengths, going back from their ends.

    For the CPU, where a look at one number costs nothing: the best predecessor is sought for the
    words of the path alone, K sums a slot.
    """
    words = np.zeros(edges.shape[:2], np.int64)
    parts = zip(words, scores[:, :, :-1].numpy(), edges.numpy(), lengths.tolist(), strict=True)
    for path, before, step, length in parts:
        word = -1  # `</s>`, the last column
        for slot in range(length - 2, -1, -1):
            path[slot] = word = int((before[slot] + step[slot, :, word]).argmax())
    return torch.from_numpy(words)


def follow_by_doubling(scores: Tensor, edges: Tensor, lengths: Tensor) -> Tensor:
    """Return what `follow` returns, in O(log T) operations on the device.

    Finds every word's best predecessor, which takes memory for B·T·K² numbers; then joins tables
    "from slot t + n back to slot t" for n = 1, 2, 4, … until they all begin at the last slot.
    """
    slots, end = edges.shape[1], edges.shape[3] - 1
    table = (scores[:, :-1, :-1, None] + edges).argmax(dim=2)  # (B, T - 1, K + 1)
    ended = torch.arange(slots, device=edges.device) >= lengths[:, None] - 1
    table = table.masked_fill(ended[:, :, None], end)  # so that the walk waits in `</s>`
    span = 1
    while span < slots:
        joined = table[:, :-span].gather(2, table[:, span:])
        table = torch.cat((joined, table[:, -span:]), dim=1)
        span *= 2
    return table[:, :, end].masked_fill(ended, 0)
