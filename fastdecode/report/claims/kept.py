"""Verdicts that are kept in `docs/measurements`, as far as they are on claims as they now stand."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from fastdecode.config.claims import Claim
from fastdecode.config.metrics import METRICS
from fastdecode.config.papers import AT, Artifact, Paper
from fastdecode.report.claims.conditions import remaining
from fastdecode.report.claims.findings import FAILS, HOLDS, UNKNOWN
from fastdecode.report.claims.judge import UNMEASURED
from fastdecode.report.claims.printed import VERDICTS
from fastdecode.report.tables import MARKS


@dataclass(frozen=True)
class Kept:
    """What a run says of a claim: of several data the worst, of times in the claim's tier."""

    verdict: str
    measured: bool
    """Whether a number of it was measured."""
    marks: str = ""
    """Those of the times among the numbers that decide, of MARKS."""
    so_far: bool = False
    """It cannot be told, and all of its conditions that were measured hold."""


def kept_verdicts(paper: Paper, csv: Path) -> dict[str, Kept]:
    """Return what a kept file of verdicts says of each claim, by its name.

    A verdict is that of the conditions which the claim still has. Left out is a claim that was
    judged before its present reading, by conditions among which one of the present ones is not, on
    data that it is not about, in other tiers alone than the one it names, or by a number without an
    interval that other lines would move.
    """
    frame = VERDICTS.read(csv)
    kept = {}
    for name, judged in frame.groupby("claim", sort=False):
        lines = _present(paper.claims.get(str(name)), judged)
        if len(lines) and _sure(paper, lines):
            kept[str(name)] = _worst(lines)
    return kept


def _worst(lines: pd.DataFrame) -> Kept:
    found = {*lines["finding"].where(lines["condition"] != "", lines["verdict"])}
    worst = next(one for one in (FAILS, UNKNOWN, HOLDS) if one in found)
    deciding = lines.loc[lines["finding"] == worst, "marks"]
    marks = "".join(mark for mark in MARKS if deciding.str.contains(mark).any())
    measured = {*lines.loc[lines["value"].notna(), "finding"]}
    return Kept(worst, bool(measured), marks, worst == UNKNOWN and measured == {HOLDS})


def _present(claim: Claim | None, lines: pd.DataFrame) -> pd.DataFrame:
    """Return the kept lines that are on a claim as it now stands, in the tier that counts."""
    first, none = lines.iloc[0], lines[:0]
    if claim is None or (first["statement"], first["reading"]) != (claim.statement, claim.reading):
        return none
    if claim.datasets and not set(lines["dataset"]) <= {"", *claim.datasets}:
        return none
    tiers = set(lines["tier"])
    if claim.tier in tiers:
        lines = lines[lines["tier"].isin(["", claim.tier])]  # data that was not timed has none
    elif "tier" in claim.model_fields_set and tiers != {""}:
        return none
    conditions = set(filter(None, lines["condition"]))
    if not conditions and all(why.startswith(UNMEASURED) for why in lines["why"]):
        return lines  # by whichever conditions
    standing_in = claim.of_curves(claim.otherwise.values())
    known = remaining(claim, conditions) | remaining(standing_in, conditions)
    return lines[lines["condition"].isin(known)]


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
