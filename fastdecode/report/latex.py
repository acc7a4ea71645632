"""Tables for papers: LaTeX with booktabs, no wider than the text they stand in."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil

import pandas as pd

from fastdecode.report.tables import Table, is_numeric

PACKAGES = r"\usepackage{adjustbox, array, booktabs, rotating}"
LINES = 3  # of a broken text at most, if its words allow
UPRIGHT, TURNED = 100, 160  # letters in a line of a page, which may be shrunk a little
NARROW = 16  # letters of a text that is never broken into lines
LETTER = 0.52  # em, an average
WORD = r"[^\s/]+(?:/\w{1,2}\b)?/?|/"  # a heading is broken after words and slashes, not in tokens/s
WORD_OF_TEXT = r"[^\s/-]+[/-]?|[/-]"  # and a cell, by LaTeX, after hyphens, too
SPACE = 1.5  # letters between two columns
# The rest of the page is for caption and notes. On its side a page is as high as it was wide.
FITTED = r"max totalsize={{\linewidth}}{{0.75{height}}}"
ESCAPES = str.maketrans(
    {
        **{character: rf"\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "|": r"\textbar{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        **{"α": r"$\alpha$", "β": r"$\beta$", "γ": r"$\gamma$", "δ": r"$\delta$"},
        **{"ε": r"$\epsilon$", "λ": r"$\lambda$", "τ": r"$\tau$", "Δ": r"$\Delta$"},
        "≠": r"$\neq$",
        "×": r"$\times$",
        "±": r"$\pm$",
        "†": r"$^\dagger$",
        "‡": r"$^\ddagger$",
        "ᵃ": r"$^a$",
        "ᵇ": r"$^b$",
        "ᶜ": r"$^c$",
        "ᵈ": r"$^d$",
        "–": "--",
        "−": "$-$",
    }
)


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
    """How a column is set: its width and its longest cell in letters, whether of numbers, whether
    in broken lines.
    """

    width: int
    longest: int
    numeric: bool
    broken: bool

    @property
    def specification(self) -> str:
        """What stands for it in the head of `tabular`."""
        if self.broken:
            return rf">{{\raggedright\arraybackslash}}p{{{LETTER * self.width:.1f}em}}"
        return "r" if self.numeric else "l"


def to_latex(table: Table, label: str) -> str:
    """Return the table as a float for `PACKAGES`, all text escaped.

    Headings that begin alike stand below what they share, long texts are broken, a table with many
    columns is turned on its side, and one that is still too wide is shrunk. The first sentence of
    the caption is LaTeX's, the others stand below the table.
    """
    heads = shared([tuple(name.split()) for name in table.frame.columns])
    columns, turned = _fitted(table.frame, list(_leaves(heads)))
    environment, height = ("sidewaystable", r"\textwidth") if turned else ("table", r"\textheight")
    title, *notes = table.sentences
    body = [
        r"\toprule",
        *_headings(heads, columns),
        r"\midrule",
        *(_row(cells, columns) for cells in table.frame.to_numpy().tolist()),
        r"\bottomrule",
    ]
    tabular = _inside("tabular", "".join(column.specification for column in columns), body)
    floating = [
        r"\centering\footnotesize",
        r"\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{title.translate(ESCAPES)}}}",
        rf"\label{{{label}}}",
        *_inside("adjustbox", FITTED.format(height=height), tabular),
        *_below(" ".join(notes)),
    ]
    return "\n".join([f"% {PACKAGES}", *_inside(environment, "", floating)]) + "\n"


def _inside(environment: str, argument: str, lines: Sequence[str]) -> list[str]:
    """Return the lines in an environment."""
    head = rf"\begin{{{environment}}}" + (f"{{{argument}}}" if argument else "")
    return [head, *(f"  {line}" for line in lines), rf"\end{{{environment}}}"]


def shared(names: Sequence[tuple[str, ...]]) -> tuple[Head, ...]:
    """Return the headings of neighbouring columns, of which `names` are the words.

    Neighbours that begin with the same words stand below those. A name that is the beginning of
    its neighbour's would have nothing left, and nothing is shared there.
    """
    heads: list[Head] = []
    for _, run in groupby(names, key=lambda name: name[0]):
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


def _leaves(heads: Sequence[Head]) -> Iterator[str]:
    for head in heads:
        if head.below:
            yield from _leaves(head.below)
        else:
            yield head.text


def _fitted(frame: pd.DataFrame, headings: Sequence[str]) -> tuple[list[Column], bool]:
    """Return how columns are set, and whether the table is turned on its side.

    Texts are broken, and then the table is turned, only if it is too wide otherwise.
    """
    for limit in (UPRIGHT, TURNED):
        for lines in range(1, LINES + 1):
            columns = [
                _column(frame.iloc[:, i], heading, lines) for i, heading in enumerate(headings)
            ]
            room = limit - sum(column.width + SPACE for column in columns)
            if room >= 0:
                return _widened(columns, room), limit == TURNED
    return columns, True


def _widened(columns: Sequence[Column], room: float) -> list[Column]:
    """Return the columns, those of broken texts as wide as the room that is left lets them be."""
    each = int(room) // max(1, sum(column.broken for column in columns))
    return [
        replace(column, width=min(column.longest, column.width + each)) if column.broken else column
        for column in columns
    ]


def _column(cells: "pd.Series[str]", heading: str, lines: int) -> Column:
    numeric = is_numeric(cells)
    longest = max(map(len, cells), default=0)
    least = max(map(len, re.findall(WORD, heading)))
    if numeric or lines == 1 or longest <= NARROW:
        return Column(max(least, longest), longest, numeric, broken=False)
    words = max(len(word) for cell in cells for word in re.findall(WORD_OF_TEXT, cell))
    width = max(least, words, NARROW, ceil(longest / lines))
    return Column(width, longest, numeric, broken=True)


def _headings(heads: Sequence[Head], columns: Sequence[Column]) -> Iterator[str]:
    """Yield the lines of headings, that of single columns last, and rules below what is shared."""
    level = list(heads)
    for left in range(max(head.depth for head in heads), 1, -1):
        cells, rules, start = [], [], 1
        below: list[Head] = []
        for head in level:
            # What is less deep waits for its own line.
            if head.depth == left:
                cells.append(rf"\multicolumn{{{head.span}}}{{c}}{{{head.text.translate(ESCAPES)}}}")
                rules.append(rf"\cmidrule(lr){{{start}-{start + head.span - 1}}}")
                below += head.below
            else:
                cells += [""] * head.span
                below.append(head)
            start += head.span
        yield " & ".join(cells) + r" \\"
        yield " ".join(rules)
        level = below
    leaves = (_leaf(head.text, column) for head, column in zip(level, columns, strict=True))
    yield " & ".join(leaves) + r" \\"


def _leaf(text: str, column: Column) -> str:
    """Return the heading of a column, in lines no wider than the column has to be."""
    lines: list[str] = []
    for word in re.findall(rf"(?:{WORD})\s*", text):
        if lines and len(lines[-1]) + len(word.rstrip()) <= column.width:
            lines[-1] += word
        else:
            lines.append(word)
    stacked = r"\\".join(line.strip().translate(ESCAPES) for line in lines)
    side = "r" if column.numeric else "l"
    return stacked if len(lines) == 1 else rf"\shortstack[{side}]{{{stacked}}}"


def _row(cells: Sequence[str], columns: Sequence[Column]) -> str:
    texts = [
        _breakable(cell) if column.broken else cell.translate(ESCAPES)
        for cell, column in zip(cells, columns, strict=True)
    ]
    # Behind the end of a row LaTeX would read [ and * as options of that.
    guard = "{}" if texts[0].startswith(("[", "*")) else ""
    return guard + " & ".join(texts) + r" \\"


def _breakable(text: str) -> str:
    """Return the text, which may go on in the next line after a slash, too."""
    return text.translate(ESCAPES).replace("/", r"\slash{}")


def _below(notes: str) -> list[str]:
    """Return the lines of what stands below the table."""
    if not notes:
        return []
    return [
        r"\par\smallskip\noindent",
        rf"\parbox{{\linewidth}}{{\scriptsize {notes.translate(ESCAPES)}}}",
    ]
