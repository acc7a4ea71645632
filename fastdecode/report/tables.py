"""Tables for people, as Markdown, and what they say in common (LaTeX: fastdecode.report.latex)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from fastdecode.errors import UserError
from fastdecode.measure.agreement import FEW, GAP
from fastdecode.measure.disturbance import DRIFT, OTHERS, REPEATS, WARMUP

NOT_RUN = "not run in this configuration"
NOT_MEASURED = "–"
MINUS = "−"
DISTURBED, RANDOM, APART = MARKS = "†", "‡", "≠"  # of times
MEANINGS = {DISTURBED: "disturbed", APART: "not what it has to write"}  # in the head of a figure
MARKUP = re.compile(r"[\\|<*`]|&(?=#?\w+;)|(?<!\w)_|_(?!\w)|\](?=\()")  # a _ within a word is none
NOTES = {
    "±": "±: standard deviation over seeds.",
    DISTURBED: f"{DISTURBED}: the machine was disturbed: medians of repeats differ by more than "
    f"{DRIFT:.0%}, or other processes used more than {OTHERS} cores; or the time is of fewer than "
    f"{REPEATS} repeats, or {WARMUP} sentences of warm-up.",
    RANDOM: f"{RANDOM}: random weights, every translation as long as its reference.",
    APART: f"{APART}: on more than {FEW:.0%} of the lines it writes something else than its twin, "
    f"or the search that it repeats, not within {GAP} in score: see the table of agreement.",
    NOT_MEASURED: f"{NOT_MEASURED}: not measured.",
}


@dataclass(frozen=True)
class Table:
    """A table as it is printed: every cell is text; the first sentence says what it shows."""

    frame: pd.DataFrame
    sentences: Sequence[str]

    @property
    def caption(self) -> str:
        """All that is said about it."""
        return " ".join(self.sentences)


def of_both(marks: str, others: str) -> str:
    """Return what a number that is made of two times is marked with."""
    return "".join(mark for mark in MARKS if mark in marks + others)


def signed(number: str) -> str:
    """Return a number as text with a minus for its hyphen, where it has one."""
    return f"{MINUS}{number[1:]}" if number.startswith("-") else number


def notes(frame: pd.DataFrame) -> list[str]:
    """Return what a caption says about the marks in the table."""
    text = "".join(frame.to_numpy().ravel())
    return [note for mark, note in NOTES.items() if mark in text]


def millions(count: str) -> str:
    """Return a number of parameters as it is printed; it is empty of given translations."""
    return f"{int(count) / 1e6:.2f} M" if count else NOT_MEASURED


def seeds_of(seeds: Iterable[str]) -> str:
    """Return every seed once, as captions and figures say them; a text may name several."""
    return ", ".join(sorted({seed for text in seeds for seed in text.split()}, key=int))


def only(rows: pd.DataFrame, column: str) -> str:
    """Return the one value of a column; raise UserError if it has several."""
    values = rows[column].unique().tolist()
    if len(values) > 1:
        raise UserError(
            f"one table cannot hold different values of {column} "
            f"({' and '.join(map(str, sorted(values)))}): make a table of each, or, where another "
            "version of this project measured some of it, measure it anew (snakemake --forcerun)"
        )
    return str(values[0])


def only_known(rows: pd.DataFrame, column: str) -> str:
    """Return the one value of a column that is filled, or "" if none is.

    Raises UserError if it has several: of a model whose translations alone are given, less is known
    than of another seed that was trained.
    """
    filled = rows[rows[column] != ""]
    return "" if filled.empty else only(filled, column)


def to_markdown(frame: pd.DataFrame, caption: str) -> str:
    """Return the caption and below it the table, columns of numbers aligned to the right.

    What Markdown would read as its own, in a line of a corpus, is escaped.
    """

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(MARKUP.sub(r"\\\g<0>", cell) for cell in cells) + " |"

    rule = ["---:" if is_numeric(frame[column]) else "---" for column in frame.columns]
    lines = [line(list(frame.columns)), line(rule), *map(line, frame.to_numpy().tolist())]
    return caption + "\n\n" + "\n".join(lines) + "\n"


def is_numeric(cells: "pd.Series[str]") -> bool:
    """Whether every cell is a number, but for those that say that there is none."""
    return all(
        cell.lstrip(f"+{MINUS}×")[:1].isdigit() or cell in ("", NOT_RUN, NOT_MEASURED)
        for cell in cells
    )
