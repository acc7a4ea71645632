"""CTC's most probable translation, by a beam over prefixes whose alignments add up.

A translation has as many alignments as there are ways to place its words and blanks in the slots
(alignment.py); the likeliest single one, which reading off every slot's likeliest label gives, may
read as another translation, and with many slots it mostly does: where a word may stand in any of
several, the blank is likeliest in each of them. So prefixes of translations are ranked by the sum
over their alignments (Graves et al. 2006, section 3.2), and only the best go on from slot to slot
(Hannun et al. 2014, algorithm 1, without its language model). Of each prefix two sums are kept,
that of the alignments so far which end with a blank, and with its last word: behind the latter an
equal word is the same word.

All sentences, prefixes and words take a step at once, on the device. naive.py says the same with
dictionaries.
"""

from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor

FACTOR = 6364136223846793005  # of numbers that stand for prefixes; products wrap at 64 bits


@dataclass
class _Prefixes:
    """The best prefixes of each sentence, N of them; -inf in both sums: there are fewer."""

    words: Tensor  # (B, N, T), the first `lengths` count
    lengths: Tensor  # (B, N)
    last: Tensor  # (B, N), the blank of the empty prefix
    names: Tensor  # (B, N), a number for each prefix: two have the same once in 2^64
    silent: Tensor  # (B, N), log of the alignments that end with a blank
    spoken: Tensor  # (B, N), with the last word

    @property
    def total(self) -> Tensor:
        """The log-probability of each prefix: (B, N)."""
        return torch.logaddexp(self.silent, self.spoken)


def prefix_search(
    scores: Tensor, slots: Tensor, blank: int, beam: int
) -> list[tuple[list[int], float]]:
    """Return the words and the log-probability of each sentence's best translation.

    `scores` (B, T, V) are the log-probabilities of all labels, of slots of which the first `slots`
    (B) count. `beam` prefixes go on, each with the `beam` likeliest words of a slot.
    """
    prefixes = _empty(scores, blank, beam)
    for slot in range(scores.shape[1]):
        prefixes = _step(prefixes, slot, _slot(scores[:, slot], slot < slots, blank), blank)
    best, which = prefixes.total.max(1)
    rows = torch.arange(len(which), device=which.device)
    found = prefixes.words[rows, which].tolist()
    lengths = prefixes.lengths[rows, which].tolist()
    each = zip(found, lengths, best.tolist(), strict=True)
    return [(words[:length], score) for words, length, score in each]


def _slot(scores: Tensor, counts: Tensor, blank: int) -> Tensor:
    """Return one slot's `scores` (B, V) in double precision; where it does not count: a blank.

    One slot's at a time: in double precision all would take twice what the model wrote.
    """
    certain = torch.full_like(scores[0], -inf)
    certain[blank] = 0
    return torch.where(counts[:, None], scores, certain).double()


def _empty(scores: Tensor, blank: int, beam: int) -> _Prefixes:
    """Return the empty prefix of each sentence, and no others."""
    sentences, slots, _ = scores.shape
    none = torch.zeros(sentences, beam, dtype=torch.long, device=scores.device)
    nothing = scores.new_full((sentences, beam), -inf, dtype=torch.double)
    silent = nothing.clone()
    silent[:, 0] = 0
    words = none[..., None].repeat(1, 1, slots)
    return _Prefixes(words, none, torch.full_like(none, blank), none, silent, nothing)


def _step(before: _Prefixes, slot: int, scores: Tensor, blank: int) -> _Prefixes:
    """Read one slot: `scores` (B, V) of its labels."""
    total, beam = before.total, before.last.shape[1]
    words_only = scores.clone()
    words_only[:, blank] = -inf
    chances, labels = words_only.topk(min(beam, scores.shape[1] - 1), dim=1)  # (B, K)
    silent = total + scores[:, blank, None]  # (B, N)
    spoken = before.spoken + scores.gather(1, before.last)
    again = labels[:, None] == before.last[..., None]  # (B, N, K)
    longer = torch.where(again, before.silent[..., None], total[..., None]) + chances[:, None]
    longer = longer.flatten(1)  # (B, N · K)
    names = (before.names[..., None] * FACTOR + labels[:, None] + 1).flatten(1)
    # A prefix that grows into another of the beam adds to that one's sum.
    same = (names[..., None] == before.names[:, None]) & (total > -inf)[:, None]  # (B, N · K, N)
    grown = longer[..., None].masked_fill(~same, -inf).amax(1)
    spoken = torch.logaddexp(spoken, grown)
    longer = longer.masked_fill(same.any(2), -inf)

    _, chosen = torch.cat([torch.logaddexp(silent, spoken), longer], 1).topk(beam, dim=1)
    grows = chosen >= beam
    pair = (chosen - beam).clamp(min=0)
    parent = torch.where(grows, pair // labels.shape[1], chosen)
    label = labels.gather(1, pair % labels.shape[1])
    lengths = before.lengths.gather(1, parent)
    words = before.words.gather(1, parent[..., None].expand_as(before.words))
    place = lengths.clamp(max=slot)[..., None]  # no prefix is longer than the slots before
    written = torch.where(grows[..., None], label[..., None], words.gather(2, place))
    return _Prefixes(
        words.scatter(2, place, written),
        lengths + grows,
        torch.where(grows, label, before.last.gather(1, parent)),
        torch.where(grows, names.gather(1, pair), before.names.gather(1, parent)),
        torch.cat([silent, torch.full_like(longer, -inf)], 1).gather(1, chosen),
        torch.cat([spoken, longer], 1).gather(1, chosen),
    )
