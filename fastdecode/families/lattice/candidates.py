"""The candidates of every slot of the lattice, looked up in the tables.

Deng and Rush (2021), section 3: slot t of a translation has the K words of largest

    P(y_t | x) = Σ_s P(y_t | x_s, s - t) · P(s | S, t).

It does not depend on the length of the translation, so one may ask for any number of slots. Terms
are products of two single-precision numbers in units of 2^-40, and sums are integers: a batch, a
sentence alone, a CPU, a GPU and the naive twin agree in every bit. What is below 2^-40 counts as
none.

Of equally probable words the more frequent one of the training text comes first, then the lower
number. Where a slot has fewer than K words, the most frequent ones that it lacks fill it up with
probability 0, in the same order.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from fastdecode.errors import UserError
from fastdecode.families.lattice.counts import FURTHEST
from fastdecode.families.lattice.tables import ALONE, Tables

ONE = 2**40  # a probability of one
RANKS = 2**20  # more than any dictionary has words; probability · RANKS + tie sorts by both
CELLS = {"cpu": 2**20, "cuda": 2**26}  # of (sentence, slot, word) at a time: 8 bytes each


class Candidates:
    """The look-up on one device, for sentences of word numbers without `</s>`."""

    def __init__(self, tables: Tables, device: str = "cpu"):
        """Look up in `tables`: on a CPU they stay on disk, else they are copied to `device`."""
        self._tables = tables
        self._device = device
        arrays = (tables.rows_start, tables.rows_length, tables.ids, tables.probabilities)
        self._start, self._length, self._ids, self._probabilities = (
            torch.from_numpy(array).to(device) for array in arrays
        )
        self._prior = torch.from_numpy(tables.prior).to(device)  # (S + 1, T, S)
        self._kept = torch.arange(tables.header["settings"]["kept"], device=device)
        self._kept_alone = torch.arange(tables.header["settings"]["kept_alone"], device=device)
        words = tables.words_by_frequency()
        self._words = torch.from_numpy(words).to(device)  # by rank
        # What a word of probability 0 has: less than any other, the more the more frequent it is.
        ties = np.full(len(tables.frequency), -1)
        ties[words] = RANKS - 1 - np.arange(len(words))
        self._ties = torch.from_numpy(ties).to(device)

    def single(self, source: Sequence[int], slots: int, k: int) -> tuple[Tensor, Tensor]:
        """Return the K best words of each slot for one sentence: numbers and probabilities (T, K).

        Raises UserError if the dictionary has no K words.
        """
        ids, probabilities = self.batch([source], slots, k)
        return ids[0], probabilities[0]

    def batch(self, sources: Sequence[Sequence[int]], slots: int, k: int) -> tuple[Tensor, Tensor]:
        """Return the same for several sentences, with equally many slots: two tensors (B, T, K).

        Raises UserError if the dictionary has no K words.
        """
        self._check(k)
        cells = slots * len(self._ties)
        step = max(1, CELLS["cpu" if self._device == "cpu" else "cuda"] // max(1, cells))
        groups = [sources[i : i + step] for i in range(0, len(sources), step)]
        found = [self._look_up(group, slots, k) for group in groups]
        ids, probabilities = map(torch.cat, zip(*found, strict=True))
        return ids, probabilities

    def shared_candidates(self, source: Sequence[int], k: int) -> Tensor:
        """Return the K words of largest Σ_s P(y | x_s), one set (K,) for all slots of a sentence.

        This is the baseline of figure 1 at equal size: L'Hostis, Grangier and Auli (2016) select a
        vocabulary for each sentence. Raises UserError if the dictionary has no K words.
        """
        self._check(k)
        words = torch.tensor(source, device=self._device)
        rows = words[None, None], torch.full_like(words, ALONE)
        even = torch.full((1, 1, len(source)), 1 / len(source), device=self._device)
        ids, _ = self._rank(*rows, even, self._kept_alone, k)
        return ids[0, 0]

    def shared_union(self, source: Sequence[int], k: int) -> Tensor:
        """Return (U), rising, all words that are among the K likeliest of any source word.

        This is the same baseline as its paper has it, at its true size. Raises UserError if the
        tables do not keep K words.
        """
        if k > len(self._kept_alone):
            raise UserError(f"K = {k}: the tables keep {len(self._kept_alone)} words: lower K")
        words = torch.tensor(source, device=self._device)
        start, length = self._start[words, ALONE], self._length[words, ALONE]
        within = self._kept_alone[:k]
        ids = self._ids[start[:, None] + within]  # (S, K)
        found: Tensor = ids[within < length[:, None]].long().unique()
        return found

    def _check(self, k: int) -> None:
        if k > len(self._words):
            raise UserError(f"K = {k}: the dictionary has {len(self._words)} words: lower K")

    def _look_up(
        self, sources: Sequence[Sequence[int]], slots: int, k: int
    ) -> tuple[Tensor, Tensor]:
        lengths = [len(source) for source in sources]
        longest = max(lengths)
        padded = [[*source, *[0] * (longest - len(source))] for source in sources]
        words = torch.tensor(padded, device=self._device)
        s = torch.arange(longest, device=self._device)
        t = torch.arange(slots, device=self._device)[:, None]
        columns = (s - t).clamp(-FURTHEST, FURTHEST) + FURTHEST  # (T, S)
        return self._rank(words[:, None], columns, self._positions(lengths, slots), self._kept, k)

    def _positions(self, lengths: list[int], slots: int) -> Tensor:
        """Return P(s | S, t) of some sentences: (B, T, S), 0 where s is beyond a sentence."""
        longest = max(lengths)
        if longest < len(self._prior) and slots <= self._prior.shape[1]:
            return self._prior[lengths, :slots, :longest]
        table = torch.zeros(len(lengths), slots, longest)
        for row, length in zip(table, lengths, strict=True):
            row[:, :length] = torch.from_numpy(self._tables.positions(length, slots))
        return table.to(self._device)

    def _rank(
        self, words: Tensor, columns: Tensor, weights: Tensor, within: Tensor, k: int
    ) -> tuple[Tensor, Tensor]:
        """Return the K best of Σ_s P(y | row of s) · weight of s, best first: two (B, T, K).

        The rows are those of `words` and `columns`, which broadcast to (B, T, S) as `weights` are;
        `within` counts the entries of the longest row.
        """
        index = self._start[words, columns][..., None] + within  # (B, T, S, entries)
        there = within < self._length[words, columns][..., None]
        terms = self._probabilities[index] * weights[..., None]
        terms = (terms * ONE).long() * there
        # Probability and tie as one integer: no two words have the same.
        scores = self._ties.expand(*weights.shape[:2], -1).clone()  # (B, T, V)
        scores.scatter_add_(2, self._ids[index].long().flatten(2), (terms * RANKS).flatten(2))
        best = scores.topk(k).values
        ids = self._words[RANKS - 1 - best % RANKS]
        return ids, (best // RANKS).double().div(ONE).float()
