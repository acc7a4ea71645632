"""The translation model that FastAlign fits, and the best links under it.

Dyer, Chahuneau and Smith (2013), "A Simple, Fast, and Effective Reparameterization of IBM Model 2":
target word j of m is translated from source word i of n (both from 1) with probability

    p(i, t_j) = (1 - p0) · exp(-λ |i/n - j/m|) / Z · p(t_j | s_i),

or from the empty word with p0 · p(t_j | empty). The tension λ is fitted, p0 is not.
"""

import struct
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastdecode.corpus.links import Link
from fastdecode.errors import UserError

EMPTY = "<eps>"  # FastAlign's name of the empty word
P0 = 0.08  # FastAlign's probability of the empty word
UNSEEN = 1e-9  # and of a pair of words that is not in the table

Array = NDArray[Any]


class Lexicon:
    """p(target word | source word) as systran-align 3.5 writes it, and the tension λ.

    12 bytes a pair of words: a number made of both, in rising order, and its probability.
    """

    def __init__(self, path: Path, tension: float):
        """Read the table in `path`.

        Its file: two 32-bit numbers, 2 (the version) and the size of the vocabulary; its words,
        each ended by a zero byte, counted from 1; a number not needed here; then, up to the end of
        the file, for every source word in rising order its number, the number of its translations,
        and for each of them the number of the word and a 32-bit float. Little-endian throughout.

        Raises UserError if the file is of another version.
        """
        data = path.read_bytes()
        version, size = struct.unpack_from("<2i", data)
        if version != 2:
            raise UserError(
                f"{path}: systran-align wrote version {version} of its file, expected 2: "
                "install systran-align 3.5.0"
            )
        *words, rest = data[8:].split(b"\0", size)
        self._number = {word.decode(): number for number, word in enumerate(words, 1)}
        self._size = size + 1
        entry = np.dtype([("word", "<i4"), ("probability", "<f4")])
        rows = []
        at = 4
        while at < len(rest):
            source, count = struct.unpack_from("<2i", rest, at)
            row = np.frombuffer(rest, entry, count, at + 8)
            row = row[np.argsort(row["word"])]
            rows.append((source * self._size + row["word"].astype(np.int64), row["probability"]))
            at += 8 + row.nbytes
        self._pairs = np.concatenate([pairs for pairs, _ in rows])
        self._probabilities = np.concatenate([probabilities for _, probabilities in rows])
        self._tension = tension

    def probabilities(self, source: Sequence[str], target: Sequence[str]) -> Array:
        """Return p(target word | source word), a row for every source word."""
        rows, columns = (
            np.array([self._number.get(word, 0) for word in side]) for side in (source, target)
        )
        wanted = rows[:, None] * self._size + columns  # (S, T)
        at = np.searchsorted(self._pairs, wanted)
        at[at == len(self._pairs)] = 0
        return np.where(self._pairs[at] == wanted, self._probabilities[at], UNSEEN)

    def links(self, source: Sequence[str], target: Sequence[str]) -> list[Link]:
        """Return the most probable link of every target word not due to the empty word."""
        prior = _prior(len(source), len(target), self._tension)
        scores = prior * self.probabilities([EMPTY, *source], target)  # (1 + S, T)
        best = np.argmax(scores, axis=0).tolist()
        return [(i - 1, j) for j, i in enumerate(best) if i > 0]


@lru_cache(maxsize=10_000)
def _prior(n: int, m: int, tension: float) -> Array:
    """Return the prior of the empty word and n source words for each of m target words."""
    i, j = np.arange(1, n + 1)[:, None] / n, np.arange(1, m + 1) / m  # as FastAlign rounds them
    weights = np.exp(-tension * np.abs(i - j))  # (n, m)
    share = (1 - P0) * weights / weights.sum(axis=0)
    return np.vstack([np.full(m, P0), share])
