"""Verdicts that are kept in `docs/measurements`, as far as they are on claims as they now stand."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from fastdecode.config.claims import Claim
from fastdecode.config.metrics import METRICS
from fastdecode.config.papers import AT, Artifact, Paper
from fastdecode.report.claims.conditions import still
from fastdecode.report.claims.judge import FAILS, HOLDS, UNKNOWN, UNMEASURED
from fastdecode.report.claims.printed import VERDICTS
from fastdecode.report.tables import DISTURBED, RANDOM


@dataclass(frozen=True)
class Kept:
    """What a run says of a claim: of several data the worst, of times in the reference tier."""

    verdict: str
    measured: bool
    """Whether a number of it was measured."""
    marks: str = ""
    """Those of the times among its numbers, such as DISTURBED."""


def kept_verdicts(paper: Paper, csv: Path) -> dict[str, Kept]:
    """Return what a kept file of verdicts says of each claim, by its name.

    Left out is a claim that was judged before its present reading, by other conditions, on data
    that it is not about, or by a number without an interval that other lines would move.
    """
    frame = VERDICTS.read(csv)
    return {
        str(name): _worst(lines)
        for name, lines in frame.groupby("claim", sort=False)
        if _same(paper.claims, lines) and _sure(paper, lines)
    }


def _worst(lines: pd.DataFrame) -> Kept:
    if "reference" in set(lines["tier"]):  # the papers timed no other
        lines = lines[lines["tier"] == "reference"]
    verdicts = set(lines["verdict"])
    worst = next(one for one in (FAILS, UNKNOWN, HOLDS) if one in verdicts)
    marks = "".join(mark for mark in (DISTURBED, RANDOM) if lines["marks"].str.contains(mark).any())
    return Kept(worst, bool(lines["value"].notna().any()), marks)


def _same(claims: Mapping[str, Claim], lines: pd.DataFrame) -> bool:
    """Tell whether kept verdicts are on a claim as it now stands."""
    first = lines.iloc[0]
    claim = claims.get(first["claim"])
    if claim is None or (first["statement"], first["reading"]) != (claim.statement, claim.reading):
        return False
    if claim.datasets and not set(lines["dataset"]) <= {"", *claim.datasets}:
        return False
    conditions = set(filter(None, lines["condition"]))
    if not conditions and all(why.startswith(UNMEASURED) for why in lines["why"]):
        return True  # by whichever conditions
    return still(claim, conditions)


def _sure(paper: Paper, lines: pd.DataFrame) -> bool:
    """Tell whether no number that others would move was judged without an interval."""
    claim = paper.claims[lines["claim"].iloc[0]]
    # what is to be equal has no interval: it is so with every resample, or not
    equal = (lines["above"] == 0) & (lines["below"] == 0)
    without_interval = lines[lines["finding"].isin([HOLDS, FAILS]) & lines["low"].isna() & ~equal]
    names = [
        part.rpartition(" ")[0] for cells in without_interval["cells"] for part in cells.split("; ")
    ]
    metrics = {
        _measured(paper.artifacts[artifact], name) for artifact in claim.artifacts for name in names
    }
    return not any(METRICS[metric].random for metric in metrics if metric in METRICS)


def _measured(artifact: Artifact, cell: str) -> str:
    """Return the metric of a cell, as claims name it: row.column, curve@x or curve@label.x."""
    _, _, column = cell.rpartition(".")
    if artifact.kind == "figure" and column != "x":
        column = "y"
    return artifact.measured.get(column, "").partition(AT)[0]
