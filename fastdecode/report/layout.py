r"""How a printed table is laid out: headings that share words, widths, which way it stands.

Sizes are estimates, in letters and lines of \footnotesize: LaTeX alone knows them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from math import ceil

import pandas as pd

from fastdecode.report.tables import is_numeric

# A page of `article`, in letters and lines of \footnotesize; of larger pages more is not needed.
UPRIGHT, TURNED = (78, 58), (129, 36)
ENOUGH = 0.8  # of the size: what is not shrunk more is as good as what is not shrunk
LEAST = 0.6  # of the size: a table that would be smaller is divided
FEWEST = 10  # rows of a piece
NARROW = 16  # letters of a text that is never broken into lines
LINES = 3  # of a broken text at most, if its words allow
SPACE = 1.5  # letters between two columns
SMALLER = 0.85  # notes beside the table
WORD = r"[^\s/]+(?:/\w{1,2}\b)?/?|/"  # a heading is broken after words and slashes, not in tokens/s
WORD_OF_TEXT = r"[^\s/-]+[/-]?|[/-]"  # and a cell, by LaTeX, after hyphens, too


@dataclass(frozen=True)
class Head:
    """A heading over `span` columns, and the headings below it: none over a single column."""

    text: str
    span: int
    below: tuple["Head", ...] = ()

    @property
    def depth(self) -> int:
        """Lines of headings, its own among them."""
        return 1 + max((head.depth for head in self.below), default=0)


@dataclass(frozen=True)
class Column:
    """How a column is set: its width and its longest cell in letters; whether it is of numbers,
    and whether its texts are broken into lines.
    """

    width: int
    longest: int
    numeric: bool
    broken: bool


@dataclass(frozen=True)
class Layout:
    """How a table is set, and how much of its size is left where a page holds it, more or less."""

    columns: tuple[Column, ...]
    turned: bool
    scale: float


def shared(names: Sequence[tuple[str, ...]]) -> tuple[Head, ...]:
    """Return the headings of neighbouring columns, of which `names` are the words.

    Neighbours that begin with the same words stand below those. A name that is the beginning of
    its neighbour's would have nothing left, and nothing is shared there.
    """
    heads: list[Head] = []
    for _, run in groupby(names, key=lambda name: name[:1]):
        alike = list(run)
        common = _common(alike) if len(alike) > 1 else 0
        if common:
            text = " ".join(alike[0][:common]).rstrip(",:")
            heads.append(Head(text, len(alike), shared([name[common:] for name in alike])))
        else:
            heads += [Head(" ".join(name), 1) for name in alike]
    return tuple(heads)


def _common(names: Sequence[tuple[str, ...]]) -> int:
    """Return how many words all begin with and have others behind."""
    pairs = zip(*(name[:-1] for name in names), strict=False)
    alike = [len(set(words)) == 1 for words in pairs]
    return alike.index(False) if False in alike else len(alike)


def divided(
    frame: pd.DataFrame, heads: Sequence[Head], notes: int
) -> list[tuple[pd.DataFrame, Layout]]:
    """Return as few pieces of a table as are not too small, of about as many rows, each laid out.

    A piece never begins in the middle of what stands below one filled first cell. `notes` are the
    letters below the last piece.
    """
    numeric = [is_numeric(frame.iloc[:, i]) for i in range(frame.shape[1])]  # in every piece
    for parts in range(1, ceil(len(frame) / FEWEST) + 1):
        pieces = list(_pieces(frame, ceil(len(frame) / parts)))
        below = [0] * (len(pieces) - 1) + [notes]
        layouts = [
            lay_out(piece, heads, n, numeric) for piece, n in zip(pieces, below, strict=True)
        ]
        if min(layout.scale for layout in layouts) >= LEAST:
            return list(zip(pieces, layouts, strict=True))
    # dividing does not help: it is too wide
    return [(frame, lay_out(frame, heads, notes, numeric))]


def _pieces(frame: pd.DataFrame, size: int) -> Iterator[pd.DataFrame]:
    """Yield pieces of about `size` rows, each from a row on whose first cell is filled."""
    filled = [row for row in range(len(frame)) if frame.iloc[row, 0]]
    ideal = range(size, len(frame), size)
    starts = {max((row for row in filled if row <= start), default=0) for start in ideal}
    edges = [*sorted({0, *starts}), len(frame)]
    for start, end in pairwise(edges):
        yield frame.iloc[start:end]


def lay_out(
    frame: pd.DataFrame, heads: Sequence[Head], notes: int, numeric: Sequence[bool]
) -> Layout:
    """Return the layout that leaves most of the size; of equal ones that with least done to it.

    `numeric` says which columns are of numbers.
    """
    layouts = _layouts(frame, heads, notes, numeric)
    return max(layouts, key=lambda layout: min(layout.scale, ENOUGH))


def _layouts(
    frame: pd.DataFrame, heads: Sequence[Head], notes: int, numeric: Sequence[bool]
) -> Iterator[Layout]:
    rows = frame.to_numpy().tolist()
    names = list(enumerate(zip(leaves(heads), numeric, strict=True)))
    headings = 1 + max((head.depth for head in heads), default=0)
    for turned, (letters, lines) in ((False, UPRIGHT), (True, TURNED)):
        below = SMALLER * ceil(SMALLER * notes / letters)
        for most in range(1, LINES + 1):
            narrow = [_column(frame.iloc[:, i], *leaf, most) for i, leaf in names]
            columns = _widened(narrow, letters - _width(heads, narrow))
            height = headings + sum(_height(row, columns) for row in rows) + below
            scale = min(1.0, letters / max(1.0, _width(heads, columns)), lines / height)
            yield Layout(tuple(columns), turned, scale)


def leaves(heads: Sequence[Head]) -> Iterator[str]:
    """Yield the headings of single columns."""
    for head in heads:
        if head.below:
            yield from leaves(head.below)
        else:
            yield head.text


def _column(cells: "pd.Series[str]", heading: str, numeric: bool, lines: int) -> Column:
    longest = max(map(len, cells), default=0)
    least = max(map(len, re.findall(WORD, heading)), default=0)
    if numeric or lines == 1 or longest <= NARROW:
        return Column(max(least, longest), longest, numeric, broken=False)
    words = (len(word) for cell in cells for word in re.findall(WORD_OF_TEXT, cell))
    width = max(least, max(words, default=0), NARROW, ceil(longest / lines))
    return Column(width, longest, numeric, broken=True)


def _widened(columns: Sequence[Column], room: float) -> list[Column]:
    """Return the columns, those of broken texts as wide as the room that is left lets them be."""
    each = max(0, int(room) // max(1, sum(column.broken for column in columns)))
    return [
        replace(column, width=max(column.width, min(column.longest, column.width + each)))
        if column.broken
        else column
        for column in columns
    ]


def _width(heads: Sequence[Head], columns: Sequence[Column]) -> float:
    """Return the letters of a line, of which a heading over several columns may need more."""
    width, start = 0.0, 0
    for head in heads:
        own = columns[start : start + head.span]
        inner = _width(head.below, own) if head.below else own[0].width + SPACE
        width += max(inner, len(head.text) + SPACE if head.below else 0)
        start += head.span
    return width


def _height(row: Sequence[str], columns: Sequence[Column]) -> int:
    """Return the lines of a row."""
    cells = zip(row, columns, strict=True)
    return max((ceil(len(cell) / c.width) for cell, c in cells if c.broken), default=1) or 1
