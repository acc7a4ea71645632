"""Counts of a word-aligned training text: what the tables of the lattice are made from.

Deng and Rush (2021), section 3: P(y | x_s, r) with r = s - t, the source position of a link less
its target position, and P(s | S, t), the position in a source of S tokens that slot t of its
translation comes from; both by relative counts over links, without smoothing. Positions are counted
from 0 in BPE tokens. `</s>` has no part in it: S counts without it, no link leads to it, and it is
never a candidate.

What the paper leaves open:
- r is clipped to [-20, 20];
- a target token without link is skipped; one with n links has the weight 1/n on each;
- target words that the dictionary lacks are skipped: `<unk>` is never a candidate. Source words
  that it lacks are counted as one word, `<unk>`;
- what is counted for keys never seen stands in tables.py;
- a pair with an empty side has no links, and no part in the lengths either.

Weights are integers, UNIT for a whole one, so that no order of adding them up changes a bit.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fastdecode.errors import UserError
from fastdecode.families.lattice.lengths import LengthFit, LengthLine
from fastdecode.families.lattice.reading import CHUNK, Array, Chunk, read_chunks
from fastdecode.families.lattice.vocabulary import SPECIAL, Numbers

FURTHEST = 20  # clips r
OFFSETS = 2 * FURTHEST + 1
UNIT = 720_720  # what 1 to 16 divide; more links than that lose less than 1 in 40,000 by rounding
LONGEST = 256  # positions from here on are counted relative to the length alone
BUCKETS = 20  # relative positions that a source length has


@dataclass(frozen=True)
class Counts:
    """Weights of a text's links and of its target words."""

    triples: Array
    """(N,) (x · OFFSETS + r + FURTHEST) · target words + y, rising."""
    weights: Array
    """(N,) the weight of each."""
    positions: Array
    """(S + 1, T, S) weight of source position a at slot t of a source of S tokens: [S, t, a]."""
    relative: Array
    """(2 · BUCKETS, BUCKETS) the same for relative positions: see bucket_of_slot."""
    words: Array
    """(target words,) how often each occurs, linked or not."""
    source_words: int
    lengths: LengthLine
    totals: dict[str, int]
    """What was counted and what was skipped."""


def bucket_of_slot(t: Array, length: Array | int) -> Array:
    """Return the relative position of slot t; the last is for all from twice the length on."""
    return np.minimum(t * BUCKETS // length, 2 * BUCKETS - 1)


def bucket_of_source(a: Array, length: Array | int) -> Array:
    """Return the relative position of source token a of `length`."""
    return a * BUCKETS // length


def count(
    source: Path,
    target: Path,
    links: Path,
    source_words: list[str],
    target_words: list[str],
    chunk: int = CHUNK,
) -> Counts:
    """Count a word-aligned text of any size, streaming; the words are those of its dictionaries.

    Raises UserError if the files do not belong together, if links are malformed, and if there is no
    link at all.
    """
    counter = _Counter(len(source_words), len(target_words))
    numbers = Numbers(source_words), Numbers(target_words)
    for part in read_chunks(source, target, links, *numbers, size=chunk):
        counter.add(part)
    if not counter.totals["links"]:
        raise UserError(f"{links}: no links, nothing to count")
    return counter.result()


class _Counter:
    def __init__(self, source_words: int, target_words: int):
        self._source_words = source_words
        self._size = target_words
        self._runs: list[tuple[Array, Array]] = []  # triples and weights, the longest run first
        self._positions = np.zeros((LONGEST + 1, LONGEST, LONGEST), np.int64)
        self._extent = 0, 0  # the longest source and the number of slots in it
        self._relative = np.zeros((2 * BUCKETS, BUCKETS), np.int64)
        self._words = np.zeros(target_words, np.int64)
        self._lengths = LengthFit()
        names = ("pairs", "source_tokens", "target_tokens", "links", "unlinked", "unknown_targets")
        self.totals = dict.fromkeys(names, 0)

    def add(self, chunk: Chunk) -> None:
        """Count the pairs of `chunk`."""
        first_source, first_target = (
            np.cumsum(lengths) - lengths for lengths in (chunk.source_lengths, chunk.target_lengths)
        )
        target = first_target[chunk.line] + chunk.j  # the token of each link
        shares = np.bincount(target, minlength=len(chunk.target))
        weights = UNIT // shares[target]
        self._count_words(chunk, first_source, target, weights)
        self._count_positions(chunk, weights)
        self._words += np.bincount(chunk.target, minlength=self._size)
        # An empty side is none that was translated: it says nothing of lengths.
        both = (chunk.source_lengths > 0) & (chunk.target_lengths > 0)
        self._lengths.add(chunk.source_lengths[both], chunk.target_lengths[both])
        more = {
            "pairs": len(chunk.source_lengths),
            "source_tokens": len(chunk.source),
            "target_tokens": len(chunk.target),
            "links": len(chunk.line),
            "unlinked": int((shares == 0).sum()),
            "unknown_targets": int((chunk.target < len(SPECIAL)).sum()),
        }
        for name, number in more.items():
            self.totals[name] += number

    def _count_words(
        self, chunk: Chunk, first_source: Array, target: Array, weights: Array
    ) -> None:
        x, y = chunk.source[first_source[chunk.line] + chunk.i], chunk.target[target]
        r = np.clip(chunk.i - chunk.j, -FURTHEST, FURTHEST)
        triples = (x * OFFSETS + r + FURTHEST) * self._size + y
        known = y >= len(SPECIAL)
        run = sum_by_key(triples[known], weights[known])
        # Runs are merged when they are of a size, so that each is copied seldom.
        while self._runs and len(self._runs[-1][0]) < 2 * len(run[0]):
            run = _merge(self._runs.pop(), run)
        self._runs.append(run)

    def _count_positions(self, chunk: Chunk, weights: Array) -> None:
        length, t, a = chunk.source_lengths[chunk.line], chunk.j, chunk.i
        near = (length <= LONGEST) & (t < LONGEST)
        cell = (length[near] * LONGEST + t[near]) * LONGEST + a[near]
        np.add.at(self._positions.reshape(-1), cell, weights[near])
        longest, most = self._extent
        self._extent = length[near].max(initial=longest), (t[near] + 1).max(initial=most)
        cell = bucket_of_slot(t, length) * BUCKETS + bucket_of_source(a, length)
        np.add.at(self._relative.reshape(-1), cell, weights)

    def result(self) -> Counts:
        """Return the counts of all chunks."""
        run = self._runs.pop()
        while self._runs:
            run = _merge(self._runs.pop(), run)
        longest, most = self._extent
        return Counts(
            *run,
            self._positions[: longest + 1, :most, :longest].copy(),
            self._relative,
            self._words,
            self._source_words,
            self._lengths.line(),
            self.totals,
        )


def _merge(one: tuple[Array, Array], other: tuple[Array, Array]) -> tuple[Array, Array]:
    keys, weights = map(np.concatenate, zip(one, other, strict=True))
    return sum_by_key(keys, weights)


def sum_by_key(keys: Array, weights: Array) -> tuple[Array, Array]:
    """Return the different keys, rising, and the sum of the weights of each."""
    if not len(keys):
        return keys, weights
    order = np.argsort(keys)
    keys, weights = keys[order], weights[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[first], np.add.reduceat(weights, first)
