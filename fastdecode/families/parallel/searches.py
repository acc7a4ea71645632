"""From a network to words: in one pass, in a few, or along CTC's slots.

A search takes framed sources and returns, for every sentence, the numbers of its words and a score.
"""

from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol

import torch
from fairseq.data import Dictionary
from torch import Tensor

from fastdecode.families.parallel.alignment import collapse
from fastdecode.families.parallel.networks import Network
from fastdecode.families.parallel.prefixes import prefix_search
from fastdecode.families.parallel.slots import is_word_slot, source_slots
from fastdecode.framing import FRAME, blank_slots
from fastdecode.glancing import lowest
from fastdecode.stages import Stopwatch

Found = list[tuple[list[int], float]]


class Search(Protocol):
    """One way to decode a batch."""

    @property
    def passes(self) -> int:
        """How often the decoder runs for each sentence."""

    def __call__(self, sources: Tensor, encoded: Any, watch: Stopwatch) -> Found:
        """Translate `sources` (B, S), which the network has read already.

        Stages: length (where one is predicted), decode.
        """


@dataclass(frozen=True)
class LengthsTried:
    """Which lengths are tried."""

    network: Network
    tried: int
    most: int  # slots, with the frame

    def __call__(self, encoded: Any) -> Tensor:
        """Return the lengths to try, with the frame, nearest to the predicted one: (B, C).

        They have a word at least: no source is empty, and a mean over no words would win.
        """
        predicted = self.network.lengths(encoded)[:, None].clamp(min=FRAME + 1)
        around = torch.arange(self.tried, device=predicted.device) - self.tried // 2
        return (predicted + around).clamp(FRAME + 1, self.most)


@dataclass(frozen=True)
class Argmax:
    """Each slot's likeliest word (Gu et al. 2018).

    The score is the mean log-probability of the slots, `<s>` and `</s>` among them. As in fairseq's
    generator a slot where padding is predicted is left out, whatever its probability.
    """

    network: Network
    words: Dictionary
    lengths: LengthsTried
    merge: bool
    passes: int = 1

    def __call__(self, sources: Tensor, encoded: Any, watch: Stopwatch) -> Found:
        """See Search."""
        pad = self.words.pad()
        lengths = self.lengths(encoded)  # (B, C)
        watch.lap("length")
        slots = blank_slots(lengths.flatten(), self.words)  # (B · C, T)
        encoded = self.network.repeated(encoded, self.lengths.tried)
        scores, words = self.network.likeliest(slots, encoded, slots != pad)
        words = words.masked_fill(slots == pad, pad)
        filled = words != pad
        means = (scores.float() * filled).sum(1) / filled.sum(1).clamp(min=1)
        best, words = _best(means.view(lengths.shape), words)
        found = zip(words.tolist(), best.tolist(), strict=True)
        watch.lap("decode")
        special = {self.words.bos(), pad, self.words.eos()}
        return [(self._read([i for i in ids if i not in special]), score) for ids, score in found]

    def _read(self, ids: list[int]) -> list[int]:
        return [i for i, _ in groupby(ids)] if self.merge else ids


@dataclass(frozen=True)
class MaskPredict:
    """Fill all slots, then again and again those least sure (Ghazvininejad et al. 2019).

    Behind pass t of n, a translation of N words masks the floor(N · (n - t) / n) of lowest
    probability, that of the pass in which each was written. `<unk>` is the mask, so that a slot
    where it is predicted is masked too; `<s>`, `</s>` and padding are never predicted. The score is
    the mean log-probability of the words.
    """

    network: Network
    words: Dictionary
    lengths: LengthsTried
    passes: int

    def __call__(self, sources: Tensor, encoded: Any, watch: Stopwatch) -> Found:
        """See Search."""
        banned = (self.words.bos(), self.words.pad(), self.words.eos())
        lengths = self.lengths(encoded)  # (B, C)
        watch.lap("length")
        slots = blank_slots(lengths.flatten(), self.words)  # (B · C, T)
        encoded = self.network.repeated(encoded, self.lengths.tried)
        word = is_word_slot(slots, self.words)
        counts = word.sum(1)
        scores = torch.zeros(slots.shape, device=slots.device)
        for left in reversed(range(self.passes)):
            masked = slots == self.words.unk()
            new_scores, new_words = self.network.likeliest(slots, encoded, masked, banned)
            slots = torch.where(masked, new_words, slots)
            scores = torch.where(masked, new_scores.float(), scores)
            if left:
                worst = lowest(scores, word, counts * left // self.passes)
                slots = slots.masked_fill(worst, self.words.unk())
        means = (scores * word).sum(1) / counts
        best, slots = _best(means.view(lengths.shape), slots)
        found = zip(slots.tolist(), best.tolist(), strict=True)
        watch.lap("decode")
        return [([i for i in ids if i not in banned], score) for ids, score in found]


@dataclass(frozen=True)
class Ctc:
    """Each slot's likeliest label, read as CTC reads (Libovický and Helcl 2018).

    The score is the mean log-probability of the slots.
    """

    network: Network
    words: Dictionary
    upsample: int
    passes: int = 1

    def __call__(self, sources: Tensor, encoded: Any, watch: Stopwatch) -> Found:
        """See Search."""
        blank, pad, eos = self.words.bos(), self.words.pad(), self.words.eos()
        slots = source_slots(sources, self.upsample, self.words)  # (B, T)
        filled = slots != pad
        scores, words = self.network.likeliest(slots, encoded, filled, (pad, eos))
        words = words.masked_fill(~filled, blank)
        means = (scores.float() * filled).sum(1) / filled.sum(1)
        found = zip(words.tolist(), means.tolist(), strict=True)
        watch.lap("decode")
        return [(collapse(ids, blank), score) for ids, score in found]


@dataclass(frozen=True)
class CtcBeam:
    """The translation whose alignments add up to most, by a beam over prefixes (prefixes.py).

    The score is its log-probability, by the number of slots.
    """

    network: Network
    words: Dictionary
    upsample: int
    beam: int
    passes: int = 1

    def __call__(self, sources: Tensor, encoded: Any, watch: Stopwatch) -> Found:
        """See Search; a stage more, search."""
        blank, pad, eos = self.words.bos(), self.words.pad(), self.words.eos()
        slots = source_slots(sources, self.upsample, self.words)  # (B, T)
        scores = self.network.scores(slots, encoded, (pad, eos))
        watch.lap("decode")
        counts = (slots != pad).sum(1)
        found = prefix_search(scores, counts, blank, self.beam)
        watch.lap("search")
        each = zip(found, counts.tolist(), strict=True)
        return [(ids, score / count) for (ids, score), count in each]


def _best(means: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
    """Return each sentence's best score (B), and the words of that length (B, T).

    `means` (B, C) are the scores of C lengths, `words` (B · C, T) what each of them holds.
    """
    best, chosen = means.max(1)
    return best, words.unflatten(0, means.shape)[torch.arange(len(chosen)), chosen]
