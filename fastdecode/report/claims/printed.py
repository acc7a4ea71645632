"""Verdicts as a CSV, a finding a line, and as a table, a claim a line."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from fastdecode.config.claims import Claim
from fastdecode.report.claims.evidence import Cell
from fastdecode.report.claims.findings import HOLDS, Finding
from fastdecode.report.claims.judge import SO_FAR, Judgement
from fastdecode.report.sheet import Sheet
from fastdecode.report.tables import MARKS, Table

NUMBERS = ("value", "low", "high", "above", "below")
COLUMNS = [
    # of the claim
    "claim",
    "statement",
    "reading",
    "dataset",
    "tier",
    "verdict",
    "why",
    # of one condition
    "condition",
    *NUMBERS,
    "finding",
    "finding_why",
    "cells",
    # of its cells
    "what",
    "marks",
    "device",
    "commit",
    "artifact",  # that the condition is judged by, where each is by itself
]
VERDICTS = Sheet(tuple(COLUMNS), NUMBERS, added=("artifact",))
CAPTION = (
    "Intervals (95%) of BLEU, of what else translations are counted by and of shares of tokens are "
    "from 1,000 resamples of the lines (paired bootstrap), and of the seeds where a system has "
    "several, those of times from as many of the timed lines and of the repeats, five or more, of "
    "rates from as many of the repeats; settings, sizes and memory have none. A claim holds if the "
    "interval, or the number, of every condition is within its bounds, does not hold if one is "
    "outside, and cannot be told otherwise, nor by a number of test lines or of a clock whose "
    "interval is not known. Intervals of one seed know nothing of others, and of three they are "
    "too narrow: where seeds matter more than lines, 80 to 90 in 100 have the truth. None is "
    "corrected for the number of tests."
)


def verdicts(claims: Mapping[str, Claim], judgements: Sequence[Judgement]) -> pd.DataFrame:
    """Return a line for each finding, one at least for each judgement, with COLUMNS."""
    lines = []
    for one in judgements:
        claim = claims[one.claim]
        head = {"claim": one.claim, "statement": claim.statement, "reading": claim.reading}
        head |= {"dataset": one.place, "tier": one.tier, "verdict": one.verdict, "why": one.why}
        lines += [{**head, **_line(finding)} for finding in one.findings] or [head]
    return VERDICTS.frame(lines)


def _line(finding: Finding) -> dict[str, Any]:
    return {
        "condition": finding.text,
        "finding": finding.verdict,
        "finding_why": finding.why,
        "artifact": finding.artifact,
        **{name: getattr(finding, name) for name in NUMBERS},
        "cells": "; ".join(f"{cell.name} {cell.value:.6g}" for cell in finding.cells),
        **{key: _every(finding.cells, key) for key in ("what", "device", "commit")},
        "marks": "".join(mark for mark in MARKS if mark in _every(finding.cells, "marks")),
    }


def _every(cells: Sequence[Cell], key: str) -> str:
    return " ".join(dict.fromkeys(filter(None, (str(cell.origin.get(key, "")) for cell in cells))))


def printed(name: str, frame: pd.DataFrame) -> Table:
    """Return the table of such lines: what is claimed, the verdict, and the numbers behind it."""
    lines = [
        {
            "claim": said(group.iloc[0]),
            "verdict": judged(group.iloc[0]),
            "where": where(group.iloc[0]),
            "numbers": "; ".join(found(group)),
        }
        for group in judgements(frame)
    ]
    held = sum(line["verdict"] == HOLDS for line in lines)
    title = f"Claims of {name}: {held} of {len(lines)} verdicts say that they hold."
    return Table(pd.DataFrame(lines, dtype=str), [title, CAPTION])


def judgements(frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the lines of each verdict: of a claim, a dataset and a tier."""
    for _, group in frame.groupby(["claim", "dataset", "tier"], sort=False):
        yield group


def said(line: "pd.Series[Any]") -> str:
    """Return a claim, and how it is read on our numbers."""
    return (
        f"{line['statement']}. Read as: {line['reading']}" if line["reading"] else line["statement"]
    )


def judged(line: "pd.Series[Any]") -> str:
    """Return a verdict, and of one that cannot be told whether all that was measured holds."""
    verdict, why = line["verdict"], line["why"]
    return f"{verdict}; {why}" if why == SO_FAR else str(verdict)


def where(line: "pd.Series[Any]") -> str:
    """Return the dataset of a verdict, and its tier."""
    return " ".join(filter(None, [line["dataset"], line["tier"] and f"({line['tier']})"]))


def found(group: pd.DataFrame) -> list[str]:
    """Return why a claim cannot be told, or what was found of its conditions."""
    return [text for _, text in findings(group)] or [str(group["why"].iloc[0])]


def findings(group: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield what was found of the conditions of a verdict: the finding's own verdict, and a text.

    A condition that several artifacts tell of stands behind the name of each.
    """
    lines = group[group["condition"] != ""]
    several = lines["condition"].duplicated(keep=False)
    for line, again in zip(lines.to_dict("records"), several, strict=True):
        by = f"{line['artifact']}: " if again and line["artifact"] else ""
        yield str(line["finding"]), by + _numbers(line)


def _numbers(line: dict[Any, Any]) -> str:
    """Return a finding: condition, number, interval, and the verdict where it does not hold."""
    text = str(line["condition"])
    if pd.isna(line["value"]):
        return f"{text} ({line['finding_why']})"
    signed = line["above"] == 0 and not line["below"] > 0  # an order: the number is a difference
    form = "{:+.3g}" if signed else "{:.3g}"
    text += f": {form.format(line['value'])}"
    if pd.notna(line["low"]):
        text += f" [{form.format(line['low'])}, {form.format(line['high'])}]"
    text += str(line["marks"])
    if line["finding"] == HOLDS:
        return text
    return f"{text} ({', '.join(filter(None, [line['finding'], line['finding_why']]))})"
