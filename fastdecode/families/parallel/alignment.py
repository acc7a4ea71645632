"""CTC: many alignments of slots and words give one translation (Graves et al. 2006).

A slot holds a word or the blank. Read out, equal neighbours are one word, then blanks are left out:
a path through the 2M + 1 states blank, y_1, blank, …, y_M, blank, which may stay in a state, go on
to the next, or leap over a blank between two words that differ. For a translation of M words, of
which R stand right behind an equal one, at least M + R slots are needed.
"""

from dataclasses import dataclass
from itertools import groupby
from math import inf

import torch
import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True)
class Labels:
    """Translations to align: `words` (B, M) padded with anything, `lengths` (B), and the blank."""

    words: Tensor
    lengths: Tensor
    blank: int

    @property
    def needed(self) -> Tensor:
        """How many slots each translation needs at least: (B)."""
        again = self.words[:, 1:] == self.words[:, :-1]
        inside = torch.arange(1, self.words.shape[1], device=self.words.device)
        return self.lengths + (again & (inside < self.lengths[:, None])).sum(1)

    @property
    def wanted(self) -> Tensor:
        """What slots are asked for, the blank and every word: (B, M + 1)."""
        return F.pad(self.words, (1, 0), value=self.blank)

    @property
    def asked(self) -> Tensor:
        """Which of the `wanted` every state is: (B, 2M + 1)."""
        states = torch.arange(2 * self.words.shape[1] + 1, device=self.words.device)
        which = torch.where(states % 2 == 1, (states + 1) // 2, 0)
        return which.expand(len(self.words), -1)


def ctc_loss(emitted: Tensor, slots: Tensor, labels: Labels) -> Tensor:
    """Return -log p(words | slots) of every sentence (B): the sum over all alignments.

    `emitted` (B, T, M + 1) are the log-probabilities of `labels.wanted` in each slot, of which the
    first `slots` (B) count. Infinite where a translation needs more slots than there are.
    """
    if not len(emitted):
        return emitted.sum((1, 2))  # empty, and not cut off from the gradient
    alike = labels.words[:, :, None] == labels.words[:, None]  # (B, M, M)
    # Equal words are one label, the first of them: a blank has to stand between neighbours.
    first = alike.int().argmax(2) + 1
    loss = F.ctc_loss(
        emitted.transpose(0, 1), first, slots, labels.lengths, blank=0, reduction="none"
    )
    # PyTorch's gradient is right behind a softmax over the same labels alone: it has the
    # probability of every label added, which cancels there. This is zero and takes it away.
    kept = emitted.detach()
    counts = torch.arange(emitted.shape[1], device=emitted.device) < slots[:, None]  # (B, T)
    added = (kept.exp() * (kept - emitted)).sum(2).masked_fill(~counts, 0.0).sum(1)
    return loss + added


def best_alignment(emitted: Tensor, slots: Tensor, labels: Labels) -> Tensor:
    """Return the likeliest alignment of every sentence: the label of each slot, (B, T).

    Arguments are those of ctc_loss. Behind a sentence's slots the label is that of the last one;
    where a translation needs more slots than there are, the labels mean nothing. Of equally good
    ways into a state, staying comes before stepping before leaping.
    """
    asked = labels.asked
    states = labels.wanted.gather(1, asked)  # (B, N)
    differs = F.pad(states[:, 2:] != states[:, :-2], (2, 0))
    leaps = differs & (states != labels.blank)
    reached = emitted.gather(2, asked[:, None].expand(-1, emitted.shape[1], -1))  # (B, T, N)
    scores = reached[:, 0].clone()
    scores[:, 2:] = -inf
    back = []  # how many states behind its slot's state the slot before was: T - 1 times (B, N)
    for t in range(1, emitted.shape[1]):
        best, moved = scores, torch.zeros_like(states)
        for move in (1, 2):
            before = F.pad(scores[:, :-move], (move, 0), value=-inf)
            better = before > best
            if move == 2:
                better = better & leaps
            best, moved = torch.where(better, before, best), moved.masked_fill(better, move)
        goes_on = (t < slots)[:, None]
        scores = torch.where(goes_on, best + reached[:, t], scores)
        back.append(moved.masked_fill(~goes_on, 0))
    end = 2 * labels.lengths[:, None]  # (B, 1): in the last blank, or in the last word
    word = (end - 1).clamp(min=0)
    state = torch.where(scores.gather(1, word) > scores.gather(1, end), word, end)
    path = [state]
    for moved in reversed(back):
        state = state - moved.gather(1, state)
        path.append(state)
    return states.gather(1, torch.cat(path[::-1], dim=1))


def collapse(words: list[int], blank: int) -> list[int]:
    """Read an alignment: equal neighbours are one word, blanks none."""
    return [word for word, _ in groupby(words) if word != blank]
