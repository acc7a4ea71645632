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
        inside = torch.arange(self.words.shape[1], device=self.words.device)[1:]
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


@torch.no_grad()
def best_alignment(emitted: Tensor, slots: Tensor, labels: Labels) -> Tensor:
    """Return the likeliest alignment of every sentence: the label of each slot, (B, T).

    Arguments are those of ctc_loss. Behind a sentence's slots the label is that of the last one;
    where a translation needs more slots than there are, the labels mean nothing. Of equally good
    ways into a state, staying comes before stepping before leaping.
    """
    asked, count = labels.asked, emitted.shape[1]
    states = labels.wanted.gather(1, asked)  # (B, N)
    # A translation without a word has one state, the blank.
    differs = F.pad(states[:, 2:] != states[:, :-2], (2, 0))[:, : states.shape[1]]
    leaps = differs & (states != labels.blank)
    barred = emitted.new_zeros(states.shape).masked_fill(~leaps, -inf)  # added to a leap
    reached = emitted.transpose(0, 1).gather(2, asked.expand(count, -1, -1))  # (T, B, N)
    # A step of this loop is so little work that only the number of operations counts: which way
    # led to a state is asked behind it, of all slots at once. Two states that nothing reaches
    # stand before the first, for those that come from there.
    scores = reached.new_full((*reached.shape[:2], 2 + states.shape[1]), -inf)
    scores[0, :, 2:4] = reached[0, :, :2]
    for t in range(1, count):
        before = scores[t - 1]
        best = torch.maximum(before[:, 2:], before[:, 1:-1])
        best = torch.maximum(best, before[:, :-2] + barred)
        torch.add(best, reached[t], out=scores[t, :, 2:])
    stay, step, leap = (scores[:-1, :, at : at + states.shape[1]] for at in (2, 1, 0))
    moved = (step > stay).long()  # how many states behind a slot's state the slot before was
    moved[leap + barred > torch.maximum(stay, step)] = 2
    moved[torch.arange(1, count, device=slots.device)[:, None] >= slots] = 0
    last = scores[slots - 1, torch.arange(len(slots), device=slots.device), 2:]  # (B, N)
    end = 2 * labels.lengths[:, None]  # (B, 1): in the last blank, or in the last word
    word = (end - 1).clamp(min=0)
    state = torch.where(last.gather(1, word) > last.gather(1, end), word, end)
    path = [state]
    for back in reversed(moved.unbind()):
        state = state - back.gather(1, state)
        path.append(state)
    return states.gather(1, torch.cat(path[::-1], dim=1))


def collapse(words: list[int], blank: int) -> list[int]:
    """Read an alignment: equal neighbours are one word, blanks none."""
    return [word for word, _ in groupby(words) if word != blank]
