"""A lattice with nothing trained or counted, for timing: random weights and made-up tables.

The tables have the shape of real ones: every pair of a source word and an offset has KEPT links
whose probabilities fall as 1 / rank, and those of neighbouring offsets are mostly the same words.
Slots come from the source words around the diagonal. A translation is predicted to be as long as
its source.
"""

from dataclasses import replace
from math import gcd
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdecode.families.lattice.counts import BUCKETS, OFFSETS
from fastdecode.families.lattice.lengths import LengthLine, write_lengths
from fastdecode.families.lattice.model import LatticeModel
from fastdecode.families.lattice.reading import Array
from fastdecode.families.lattice.tables import ARRAYS, FORMAT, HEADER, KEPT
from fastdecode.families.lattice.vocabulary import SPECIAL, checksum
from fastdecode.files import write_json
from fastdecode.system import System
from fastdecode.transformer.linear import has_bf16

if TYPE_CHECKING:
    from fastdecode.measure.untrained import Untrained

LAYERS = ("6-1",)
SPREAD = 3.0  # slots, the standard deviation of where a word's translation stands
STRIDE = 7919  # the words of a row are so far apart, or a little more
PUBLISHED = {
    f"6-1/{engine}-vocabulary": "lattice.table1.ours_kd.speedup"
    for engine in ("eager", "fastdecode", "bf16")
}


def decoders(length: int, device: str) -> dict[str, dict[str, Any]]:
    """Return the decoder rows, by name; their lengths follow from the tables, for any `length`."""
    del length
    engines: dict[str, dict[str, Any]] = {
        "eager": {"engine": "eager"},
        "fastdecode": {"engine": "fastdecode"},
    }
    if device == "cpu" and has_bf16():
        engines["bf16"] = {"engine": "fastdecode", "bf16": True}
    return {
        f"{name}-{normalise}": {**engine, "normalise": normalise}
        for normalise in ("vocabulary", "candidates")
        for name, engine in engines.items()
    }


def build(plan: "Untrained") -> System:
    """Return a scorer with tables for sources of `plan.length` words."""
    system = plan.system(LatticeModel, orders=3)
    write_made_up(plan.folder / "tables", list(system.target.symbols), plan.length)
    write_lengths(plan.folder / "lengths.json", LengthLine(1.0, 0.0, 1, 0.0), {})
    return replace(system, assets=plan.folder)


def write_made_up(folder: Path, words: list[str], length: int) -> None:
    """Write tables from `words` to `words` for sources of `length` words and any translation."""
    folder.mkdir(parents=True)
    size, ring = len(words), KEPT + OFFSETS
    x, rank = np.arange(size)[:, None], np.arange(ring)
    others = size - len(SPECIAL)
    stride = next(step for step in range(STRIDE, STRIDE + others) if gcd(step, others) == 1)
    ids = len(SPECIAL) + (x * ring + rank * stride) % others
    shares = 1 / (1 + rank)
    start = x * ring + np.arange(OFFSETS + 1)  # each offset begins one word further on
    slots = np.arange(2 * length)[:, None]
    near = np.exp(-(((np.arange(length) - slots) / SPREAD) ** 2) / 2)  # (T, S)
    prior = np.zeros((length + 1, 2 * length, length), np.float32)
    prior[length] = near / near.sum(1, keepdims=True)
    arrays: dict[str, Array] = {
        "rows_start": start,
        "rows_length": np.full(start.shape, KEPT, np.int16),
        "ids": ids.ravel().astype(np.int32),
        "probabilities": np.tile(shares / shares[:KEPT].sum(), size).astype(np.float32),
        "prior": prior,
        "relative": np.ones((2 * BUCKETS, BUCKETS), np.int64),
        "frequency": size - np.arange(size),
    }
    for name in ARRAYS:
        np.save(folder / f"{name}.npy", arrays[name])
    side = {"words": size, "sha256": checksum(words)}
    header = {
        "format": FORMAT,
        "dictionaries": {"source": side, "target": side},
        "settings": {"kept": KEPT, "kept_alone": KEPT},
    }
    write_json(folder / HEADER, header)
