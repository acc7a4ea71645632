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
    def states(self) -> Tensor:
        """The label of every state: (B, 2M + 1)."""
        between = F.pad(self.words[..., None], (1, 0), value=self.blank).flatten(1)
        return F.pad(between, (0, 1), value=self.blank)


def ctc_loss(log_probs: Tensor, slots: Tensor, labels: Labels) -> Tensor:
    """Return -log p(words | slots) of every sentence (B): the sum over all alignments.

    `log_probs` (B, T, V) of which the first `slots` (B) count. Infinite where a translation needs
    more slots than there are.
    """
    if not len(log_probs):
        return log_probs.sum((1, 2))  # empty, and not cut off from the gradient
    return F.ctc_loss(
        log_probs.transpose(0, 1),
        labels.words,
        slots,
        labels.lengths,
        blank=labels.blank,
        reduction="none",
    )


def best_alignment(log_probs: Tensor, slots: Tensor, labels: Labels) -> Tensor:
    """Return the likeliest alignment of every sentence: the label of each slot, (B, T).

    Arguments are those of ctc_loss. Behind a sentence's slots the label is that of the last one;
    where a translation needs more slots than there are, the labels mean nothing. Of equally good
    ways into a state, staying comes before stepping before leaping.
    """
    states = labels.states  # (B, N)
    differs = F.pad(states[:, 2:] != states[:, :-2], (2, 0))
    leaps = differs & (states != labels.blank)
    emitted = log_probs.gather(2, states[:, None].expand(-1, log_probs.shape[1], -1))  # (B, T, N)
    scores = emitted[:, 0].clone()
    scores[:, 2:] = -inf
    back = []  # how many states behind its slot's state the slot before was: T - 1 times (B, N)
    for t in range(1, log_probs.shape[1]):
        best, moved = scores, torch.zeros_like(states)
        for move in (1, 2):
            before = F.pad(scores[:, :-move], (move, 0), value=-inf)
            better = before > best
            if move == 2:
                better = better & leaps
            best, moved = torch.where(better, before, best), moved.masked_fill(better, move)
        goes_on = (t < slots)[:, None]
        scores = torch.where(goes_on, best + emitted[:, t], scores)
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
