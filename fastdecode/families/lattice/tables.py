"""The finished tables of the lattice, in a folder that is memory-mapped.

`rows_start.npy` and `rows_length.npy` (source words, OFFSETS + 1) say where the row of a source
word x and an offset r + FURTHEST lies within `ids.npy` and `probabilities.npy`: the likeliest words
y and P(y | x, r), best first, equally likely ones in the order of their numbers. The last column is
P(y | x), whatever the offset. Backing off is a matter of where these point: the row of a pair never
seen is the beginning of P(y | x), that of a word never seen the likeliest words of all. So decoding
reads one stretch of memory for each pair and never branches.

Rows have as many entries as were seen, up to KEPT, since most words are too rare to fill a row: the
tables of Multi30k (4,112 words) take 4 MB, and a dense one of 40 entries a pair would take 54.

`prior.npy` (S + 1, T, S) holds P(s | S, t) at [S, t, s]. A slot never seen for a length has its
relative position's distribution (`relative.npy`, weights), spread evenly over the tokens of a
bucket; if that was never seen either, the even one. `frequency.npy` (target words,) says how often
each occurs. `tables.json` has sizes, settings, checksums of the dictionaries, what was counted.

Probabilities sum to one before a row is cut, to at most one after it: they are not renormalised.
"""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from fastdecode.corpus.aside import build_aside
from fastdecode.errors import UserError
from fastdecode.families.lattice.counts import (
    BUCKETS,
    FURTHEST,
    LONGEST,
    OFFSETS,
    Counts,
    bucket_of_slot,
    bucket_of_source,
    count,
    sum_by_key,
)
from fastdecode.families.lattice.lengths import write_lengths
from fastdecode.families.lattice.reading import Array
from fastdecode.families.lattice.vocabulary import SPECIAL, checksum, read_dictionary
from fastdecode.files import read_json, write_json
from fastdecode.progress import say

FORMAT = 1
HEADER = "tables.json"
KEPT = 40  # entries of a row P(y | x, r)
KEPT_ALONE = 128  # entries of a row P(y | x): the baseline draws its whole vocabulary from these
ALONE = OFFSETS  # the column of P(y | x)
BLOCK = 64  # source words that are sorted at a time
ARRAYS = (
    "rows_start",
    "rows_length",
    "ids",
    "probabilities",
    "prior",
    "relative",
    "frequency",
)


@dataclass(frozen=True)
class Tables:
    """Opened tables: see above for what the arrays hold. They are read from disk as needed."""

    rows_start: Array
    rows_length: Array
    ids: Array
    probabilities: Array
    prior: Array
    relative: Array
    frequency: Array
    header: dict[str, Any]

    def positions(self, length: int, slots: int) -> Array:
        """Return P(s | S, t) for a source of `length` tokens: (slots, length) floats."""
        table = _spread(self.relative, length, slots)
        if length < len(self.prior):
            known = self.prior[length, :slots, :length]
            table[: len(known)] = known
        return table

    def words_by_frequency(self) -> Array:
        """Return all target words but the special ones, the most frequent first."""
        return _by_frequency(self.frequency)


def build(
    source: Path,
    target: Path,
    links: Path,
    dictionaries: tuple[Path, Path],
    out: Path,
    origin: dict[str, Any],
) -> None:
    """Count a word-aligned training text; the folder `out` gets `tables/` and `lengths.json`.

    `dictionaries` are those of source and target. Both appear when all is done. `origin` is the
    provenance that goes into `tables.json` and `lengths.json`.

    Raises UserError if the text is not what counts.count wants, and if there are tables already.
    """
    if (out / "tables").exists():
        raise UserError(f"{out / 'tables'} is there already: delete it to count anew")
    words = read_dictionary(dictionaries[0]), read_dictionary(dictionaries[1])
    counts = count(source, target, links, *words)
    say("lattice", f"{counts.totals['links']:,} links, {len(counts.triples):,} different")
    with build_aside(out) as part:
        write_tables(counts, part / "tables", *words, origin)
        write_lengths(part / "lengths.json", counts.lengths, origin)
    say("lattice", f"{out / 'tables'} is written")


def write_tables(
    counts: Counts,
    folder: Path,
    source_words: list[str],
    target_words: list[str],
    origin: dict[str, Any],
    kept: int = KEPT,
) -> None:
    """Write the tables of `counts`, with rows of `kept` entries, to the new folder `folder`."""
    folder.mkdir(parents=True)
    rows, ids, probabilities, kept_share = _all_rows(counts, kept)
    length = np.bincount(rows, minlength=len(source_words) * (OFFSETS + 1))
    start = (np.cumsum(length) - length).reshape(-1, OFFSETS + 1)
    length = length.reshape(start.shape)
    seen = {"pairs": int((length[:, :ALONE] > 0).sum()), "words": int((length[:, ALONE] > 0).sum())}

    words = _by_frequency(counts.words)
    words = words[counts.words[words] > 0][:KEPT_ALONE]
    never = length[:, ALONE] == 0
    start[never, ALONE], length[never, ALONE] = len(ids), len(words)
    never = length[:, :ALONE] == 0
    start[:, :ALONE] = np.where(never, start[:, ALONE:], start[:, :ALONE])
    length[:, :ALONE] = np.where(never, np.minimum(kept, length[:, ALONE:]), length[:, :ALONE])

    often = counts.words[words] / max(1, counts.words[len(SPECIAL) :].sum())
    beyond = np.zeros(max(kept, KEPT_ALONE))  # so that one may read past a short row
    arrays = {
        "rows_start": start,
        "rows_length": length.astype(np.int16),
        "ids": np.concatenate([ids, words, beyond]).astype(np.int32),
        "probabilities": np.concatenate([probabilities, often, beyond]).astype(np.float32),
        "prior": _prior(counts),
        "relative": counts.relative,
        "frequency": counts.words,
    }
    for name in ARRAYS:
        np.save(folder / f"{name}.npy", arrays[name])
    header = {
        "format": FORMAT,
        "dictionaries": {
            side: {"words": len(words), "sha256": checksum(words)}
            for side, words in (("source", source_words), ("target", target_words))
        },
        "settings": {
            "furthest": FURTHEST,
            "kept": kept,
            "kept_alone": KEPT_ALONE,
            "longest": LONGEST,
            "buckets": BUCKETS,
        },
        "counted": counts.totals,
        "different_links": len(counts.triples),
        "seen_pairs": seen["pairs"],
        "seen_source_words": seen["words"],
        "entries": len(ids),
        "kept_share": kept_share,
        "provenance": origin,
    }
    write_json(folder / HEADER, header)


def open_tables(folder: Path, source_words: list[str], target_words: list[str]) -> Tables:
    """Open the tables in `folder`; the words are those of the dictionaries they are read with.

    Raises UserError if there are no tables, if they are damaged or of an older format, and if they
    were counted with another dictionary.
    """
    if not (folder / HEADER).is_file():
        raise UserError(f"{folder}: no lattice tables: count them with the rule count_lattice")
    header = read_json(folder / HEADER)
    if header.get("format") != FORMAT:
        raise UserError(f"{folder}: tables of another version: delete the folder and count anew")
    for side, words in (("source", source_words), ("target", target_words)):
        if header["dictionaries"][side]["sha256"] != checksum(words):
            raise UserError(
                f"{folder}: counted with another {side} dictionary, of "
                f"{header['dictionaries'][side]['words']:,} words and not these {len(words):,}: "
                "take the tables of this data set, or delete the folder and count anew"
            )
    try:
        # "c": changes would stay in memory, which PyTorch wants to hear and nobody makes
        arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="c") for name in ARRAYS}
    except (OSError, ValueError, EOFError) as error:
        raise UserError(f"{folder}: damaged ({error}): delete the folder and count anew") from None
    return Tables(**arrays, header=header)


def _all_rows(counts: Counts, kept: int) -> tuple[Array, Array, Array, float]:
    """Return row, word and probability of all entries, rows rising; and the weight they keep.

    Rows are numbered x · (OFFSETS + 1) + column.
    """
    size = len(counts.words)
    starts = np.arange(0, counts.source_words + BLOCK, BLOCK) * OFFSETS * size
    found = []
    weight = 0
    for begin, end in pairwise(np.searchsorted(counts.triples, starts)):
        triples, weights = counts.triples[begin:end], counts.weights[begin:end]
        row, word = np.divmod(triples, size)
        x = row // OFFSETS
        pairs = _cut(row + x, word, weights, kept)  # a column more than there are offsets
        key, sums = sum_by_key(x * size + word, weights)
        x, word = np.divmod(key, size)
        alone = _cut(x * (OFFSETS + 1) + ALONE, word, sums, max(kept, KEPT_ALONE))
        weight += int(pairs[3].sum())
        rows, words, probabilities, _ = map(np.concatenate, zip(pairs, alone, strict=True))
        order = np.argsort(rows, kind="stable")
        found.append((rows[order], words[order], probabilities[order]))
    rows, words, probabilities = map(np.concatenate, zip(*found, strict=True))
    return rows, words, probabilities, weight / max(1, int(counts.weights.sum()))


def _cut(row: Array, word: Array, weight: Array, most: int) -> tuple[Array, Array, Array, Array]:
    """Return row, word, probability and weight of the `most` heaviest entries of each row.

    The entries come in the order of rows, then words; they leave in that of rows, then weights.
    """
    begin = np.flatnonzero(np.diff(row, prepend=-1))
    size = np.diff(begin, append=len(row))
    total = np.repeat(np.add.reduceat(weight, begin), size) if len(row) else weight  # of each row
    order = np.lexsort((-weight, row))  # stable: of equal weights the lower word first
    order = order[
        np.arange(len(row)) - np.repeat(begin, size) < most
    ]  # rows lie where they were: only within them the order is another
    return row[order], word[order], weight[order] / total[order], weight[order]


def _prior(counts: Counts) -> Array:
    """Return P(s | S, t) for all lengths and slots that were counted."""
    prior = np.zeros(counts.positions.shape, np.float32)
    _, slots, _ = counts.positions.shape
    for length in range(1, len(prior)):
        weights = counts.positions[length, :, :length]
        total = weights.sum(1, keepdims=True)
        known = weights / np.maximum(1, total)
        prior[length, :, :length] = np.where(total, known, _spread(counts.relative, length, slots))
    return prior


def _spread(relative: Array, length: int, slots: int) -> Array:
    """Return P(s | S, t) as the relative positions of s and t have it: (slots, length) floats."""
    bucket = bucket_of_source(np.arange(length), length)
    sharing = np.bincount(bucket, minlength=BUCKETS)  # tokens in each bucket
    weights = relative[bucket_of_slot(np.arange(slots), length)]  # (slots, BUCKETS)
    total = weights[:, sharing > 0].sum(1, keepdims=True)
    even = np.full((slots, length), 1 / length)
    shares = weights[:, bucket] / (sharing[bucket] * np.maximum(1, total))
    return np.where(total, shares, even).astype(np.float32)


def _by_frequency(counts: Array) -> Array:
    """Return all words but the special ones, the most frequent first, then the lower number."""
    words = np.arange(len(SPECIAL), len(counts))
    return words[np.argsort(-counts[words], kind="stable")]
