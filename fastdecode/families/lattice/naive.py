"""The tables and the candidates in plain dictionaries: what counts.py, tables.py and candidates.py
do, as slowly and clearly as possible. Tests compare the two.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from fastdecode.corpus.links import Link
from fastdecode.families.lattice.counts import BUCKETS, FURTHEST, UNIT
from fastdecode.families.lattice.tables import KEPT
from fastdecode.families.lattice.vocabulary import SPECIAL

Pair = tuple[Sequence[int], Sequence[int], Sequence[Link]]  # word numbers of both sides, links
Table = dict[Hashable, Counter[int]]


class NaiveTables:
    """Counts of word-aligned pairs and what follows from them."""

    def __init__(self, pairs: Iterable[Pair], target_words: int):
        """Count `pairs`; the target dictionary has `target_words` words."""
        self.words: Table = defaultdict(Counter)  # (x, r) and x → y
        self.positions: Table = defaultdict(Counter)  # (S, t) → s
        self.relative: Table = defaultdict(Counter)  # bucket of t → bucket of s
        self.frequency: Counter[int] = Counter()
        for source, target, links in pairs:
            self.frequency.update(y for y in target if y >= len(SPECIAL))
            shares = Counter(t for _, t in links)
            for s, t in links:
                self._add(source, s, target[t], t, UNIT // shares[t])
        order = sorted(range(len(SPECIAL), target_words), key=lambda y: (-self.frequency[y], y))
        self.rank = {y: rank for rank, y in enumerate(order)}

    def _add(self, source: Sequence[int], s: int, y: int, t: int, weight: int) -> None:
        length = len(source)
        self.positions[length, t][s] += weight
        self.relative[_bucket_of_slot(t, length)][s * BUCKETS // length] += weight
        if y >= len(SPECIAL):
            self.words[source[s], _clip(s - t)][y] += weight
            self.words[source[s]][y] += weight

    def row(self, x: int, r: int) -> dict[int, float]:
        """Return P(y | x, r) of the likeliest words."""
        pair = self.words.get((x, _clip(r)))
        return _likeliest(pair or self.words.get(x, self.frequency))

    def prior(self, length: int, t: int) -> list[float]:
        """Return P(s | S, t) for all s."""
        counts = self.positions.get((length, t))
        if counts:
            total = sum(counts.values())
            return [counts[s] / total for s in range(length)]
        buckets = [s * BUCKETS // length for s in range(length)]
        counts = self.relative.get(_bucket_of_slot(t, length), Counter())
        total = sum(counts[bucket] for bucket in set(buckets))
        if not total:
            return [1 / length] * length
        return [counts[bucket] / (buckets.count(bucket) * total) for bucket in buckets]

    def candidates(
        self, source: Sequence[int], slots: int, k: int
    ) -> list[list[tuple[int, float]]]:
        """Return the K best words of every slot and their probabilities."""
        found = []
        for t in range(slots):
            scores = dict.fromkeys(self.rank, 0)
            for s, weight in enumerate(self.prior(len(source), t)):
                for y, probability in self.row(source[s], s - t).items():
                    scores[y] += int(np.float32(probability) * np.float32(weight) * 2.0**40)
            best = sorted(scores, key=lambda y: (-scores[y], self.rank[y]))[:k]
            found.append([(y, scores[y] / 2**40) for y in best])
        return found


def _clip(r: int) -> int:
    return max(-FURTHEST, min(FURTHEST, r))


def _bucket_of_slot(t: int, length: int) -> int:
    return min(t * BUCKETS // length, 2 * BUCKETS - 1)


def _likeliest(counts: Counter[int]) -> dict[int, float]:
    """Return the KEPT most frequent words, of equally frequent ones the lower, and their shares."""
    total = sum(counts.values())
    best = sorted(counts, key=lambda y: (-counts[y], y))[:KEPT]
    return {y: counts[y] / total for y in best}
