"""Word-aligned BPE text as arrays, some ten thousand pairs at a time.

At millions of pairs Python has no time to look at every token and link by itself: words are looked
up by `map`, and links are parsed from the bytes of a whole chunk at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastdecode.corpus.links import parse_links
from fastdecode.errors import UserError
from fastdecode.families.lattice.vocabulary import Numbers
from fastdecode.files import count_lines, read_lines, read_pairs
from fastdecode.progress import track

Array = NDArray[Any]

CHUNK = 50_000  # pairs: about 2.5 million tokens, 300 MB of Python's strings
DASH, SPACE, NEWLINE = b"- \n"


@dataclass(frozen=True)
class Chunk:
    """Some sentence pairs: the words of all lines one after another, and all their links."""

    source: Array
    """Word numbers, of all source lines."""
    target: Array
    source_lengths: Array
    """Tokens of each line."""
    target_lengths: Array
    line: Array
    """The line that each link belongs to, counted from 0 within the chunk."""
    i: Array
    """The source token of each link, counted from 0 within the line."""
    j: Array


def read_chunks(
    source: Path,
    target: Path,
    links: Path,
    source_numbers: Numbers,
    target_numbers: Numbers,
    size: int = CHUNK,
) -> Iterator[Chunk]:
    """Yield a word-aligned text, `size` pairs at a time.

    Raises UserError if the files differ in their number of lines, and on anything that is not a
    link between two tokens of its pair.
    """
    triples = track(_read_triples(source, target, links), "lattice", "pairs")
    first = 1
    while rows := list(islice(triples, size)):
        sources, targets, linked = zip(*rows, strict=True)
        x, source_lengths = _look_up(sources, source_numbers)
        y, target_lengths = _look_up(targets, target_numbers)
        line, i, j = _parse(linked) or _parse_slowly(linked, links, first)
        outside = np.flatnonzero((i >= source_lengths[line]) | (j >= target_lengths[line]))
        if len(outside):
            k = outside[0]
            raise UserError(
                f"{links}, line {first + line[k]}: link {i[k]}-{j[k]} in a pair of "
                f"{source_lengths[line[k]]} and {target_lengths[line[k]]} tokens: align this text "
                "anew"
            )
        yield Chunk(x, y, source_lengths, target_lengths, line, i, j)
        first += len(rows)


def _read_triples(source: Path, target: Path, links: Path) -> Iterator[tuple[str, str, str]]:
    for pair, line in zip_longest(read_pairs(source, target), read_lines(links)):
        if pair is None or line is None:
            raise UserError(
                f"{links} has {count_lines(links)} lines, and the text {count_lines(source)} "
                "pairs: align it anew"
            )
        yield *pair, line


def _look_up(lines: tuple[str, ...], numbers: Numbers) -> tuple[Array, Array]:
    """Return the word numbers of all lines, and how many each has."""
    words = [line.split() for line in lines]
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    found = map(numbers.__getitem__, chain.from_iterable(words))
    return np.fromiter(found, np.int64, int(lengths.sum())), lengths


def _parse(lines: tuple[str, ...]) -> tuple[Array, Array, Array] | None:
    """Return line, i and j of all links, or None if they are not as format_links writes them."""
    text = np.frombuffer("".join(f"{line}\n" for line in lines).encode(), np.uint8)
    digits = text - ord("0")  # over 9 where there is none: below "0" bytes wrap around
    ends = np.flatnonzero(digits > 9)  # one behind every number, and one in every empty line
    sizes = np.diff(ends, prepend=-1) - 1
    newline = text[ends] == NEWLINE
    line = np.cumsum(newline) - newline
    filled = (sizes > 0) | ~newline
    ends, sizes, line = ends[filled], sizes[filled], line[filled]
    if len(ends) == 0:
        return line, line, line
    behind = text[ends]
    if (
        len(ends) % 2
        or sizes.min() < 1
        or sizes.max() > 9
        or (behind[::2] != DASH).any()
        or ((behind[1::2] != SPACE) & (behind[1::2] != NEWLINE)).any()
        or (line[::2] != line[1::2]).any()
    ):
        return None
    values = np.zeros(len(ends), np.int64)
    for place in range(sizes.max()):
        has = sizes > place
        values[has] += 10**place * digits[ends[has] - 1 - place].astype(np.int64)
    return line[::2], values[::2], values[1::2]


def _parse_slowly(lines: tuple[str, ...], path: Path, first: int) -> tuple[Array, Array, Array]:
    """Do the same for anything that parse_links reads; say where it does not."""
    found: list[tuple[int, int, int]] = []
    for number, line in enumerate(lines):
        try:
            found += [(number, i, j) for i, j in parse_links(line)]
        except UserError as error:
            raise UserError(f"{path}, line {first + number}: {error}") from None
    links = np.array(found, np.int64).reshape(-1, 3)
    return links[:, 0], links[:, 1], links[:, 2]
