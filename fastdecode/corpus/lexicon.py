"""The translation model that FastAlign fits, and the best links under it.

Dyer, Chahuneau and Smith (2013), "A Simple, Fast, and Effective Reparameterization of IBM Model 2":
target word j of m is translated from source word i of n (both from 1) with probability

    p(i, t_j) = (1 - p0) · exp(-λ |i/n - j/m|) / Z · p(t_j | s_i),

or from the empty word with p0 · p(t_j | empty). The tension λ is fitted, p0 is not.
"""

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from fastdecode.corpus.links import Link
from fastdecode.errors import UserError

EMPTY = "<eps>"  # FastAlign's name of the empty word
P0 = 0.08  # FastAlign's probability of the empty word
UNSEEN = 1e-9  # and of a pair of words that is not in the table


@dataclass(frozen=True)
class Lexicon:
    """p(target word | source word) by source word, and the tension λ."""

    table: dict[str, dict[str, float]]
    tension: float

    def links(self, source: Sequence[str], target: Sequence[str]) -> list[Link]:
        """Return the most probable link of every target word not due to the empty word."""
        rows = [self.table.get(word, {}) for word in source]
        empty = self.table.get(EMPTY, {})
        links = []
        for j, prior in enumerate(_priors(len(source), len(target), self.tension)):
            word = target[j]
            scores = [row.get(word, UNSEEN) * p for row, p in zip(rows, prior, strict=True)]
            best = max(scores)
            if best > P0 * empty.get(word, UNSEEN):
                links.append((scores.index(best), j))
        return links


@lru_cache(maxsize=20_000)
def _priors(n: int, m: int, tension: float) -> list[list[float]]:
    """Return, for every target position, the prior of every source position."""
    priors = []
    for j in range(1, m + 1):
        weights = [math.exp(-tension * abs(i / n - j / m)) for i in range(1, n + 1)]
        total = sum(weights) / (1 - P0)
        priors.append([weight / total for weight in weights])
    return priors


def read_table(path: Path) -> dict[str, dict[str, float]]:
    """Read the probabilities that systran-align 3.5 writes.

    Its file: two 32-bit numbers, 2 (the version) and the size of the vocabulary; its words, each
    ended by a zero byte and numbered from 1; a number of rows that is not exact; then, up to the
    end of the file, for every source word its number, the number of its translations, and for each
    of them the number of the word and a 32-bit float. Little-endian throughout.

    Raises UserError if the file is of another version.
    """
    data = path.read_bytes()
    version, size = struct.unpack_from("<2i", data)
    if version != 2:
        raise UserError(f"{path}: systran-align wrote version {version}, expected 2: install 3.5.0")
    *words, rest = data[8:].split(b"\0", size)
    names = ["", *(word.decode() for word in words)]
    entry = np.dtype([("word", "<i4"), ("probability", "<f4")])
    table = {}
    at = 4
    while at < len(rest):
        source, count = struct.unpack_from("<2i", rest, at)
        row = np.frombuffer(rest, entry, count, at + 8)
        table[names[source]] = {
            names[word]: p
            for word, p in zip(row["word"].tolist(), row["probability"].tolist(), strict=True)
        }
        at += 8 + row.nbytes
    return table
