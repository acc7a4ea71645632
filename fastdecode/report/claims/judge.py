"""The verdict on a claim, dataset by dataset and tier by tier."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from fastdecode.config.claims import Check, Claim, Inner, Term, inner
from fastdecode.config.papers import Artifact
from fastdecode.measure.resampling import interval
from fastdecode.report.claims.conditions import bounded, equal, rising, whole
from fastdecode.report.claims.evidence import (
    Cell,
    Estimate,
    Resamples,
    between,
    combine,
    estimate,
)
from fastdecode.report.tables import APART

HOLDS, FAILS, UNKNOWN = "holds", "does not hold", "cannot be told"
RARE = 0.01  # a share of resamples that may lack what a number is of, such as lines of a length
UNMEASURED = "not measured in this run"
SO_FAR = "what was measured of it holds"
NO_INTERVAL = "no interval is known"
NO_TWIN = "a decoder does not write what it has to"
TOO_FEW = "too few repeats or lines for an interval"
Look = Callable[[str], Estimate]


@dataclass(frozen=True)
class Finding:
    """One condition, as it was found: a number of ours, its interval and its bounds."""

    text: str
    verdict: str
    value: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    above: float = float("nan")
    below: float = float("nan")
    cells: tuple[Cell, ...] = ()
    why: str = ""  # it cannot be told
    artifact: str = ""  # and panel of it, where each has a number of its own


@dataclass(frozen=True)
class Judgement:
    """A claim on one dataset and in one tier; "" where there is none."""

    claim: str
    place: str
    tier: str
    verdict: str
    findings: tuple[Finding, ...] = ()
    why: str = ""


def judge(
    claims: Mapping[str, Claim],
    artifacts: Mapping[str, Artifact],
    found: Mapping[str, Sequence[Cell]],
    resamples: Resamples,
) -> list[Judgement]:
    """Return the verdicts on all claims of a paper; `found` are the cells of its artifacts."""
    return [
        judgement
        for name, claim in claims.items()
        for judgement in _judge(name, claim, artifacts, found, resamples)
    ]


def _judge(
    name: str,
    claim: Claim,
    artifacts: Mapping[str, Artifact],
    found: Mapping[str, Sequence[Cell]],
    resamples: Resamples,
) -> list[Judgement]:
    if claim.unchecked:
        return [Judgement(name, "", "", UNKNOWN, why=claim.unchecked)]
    wanted = {_without_artifact(cell, claim) for check in claim.check for cell in check.cells()}
    named = [
        cell
        for artifact in claim.artifacts
        for cell in found.get(artifact, ())
        if _names(cell) & wanted
    ]
    judgements = []
    for place in dict.fromkeys(cell.place for cell in named):
        if claim.datasets and place not in claim.datasets:
            continue
        tiers = dict.fromkeys(cell.tier for cell in named if cell.place == place and cell.tier)
        for tier in tiers or [""]:
            case = _Case(claim, artifacts, found, resamples, place, tier)
            findings = tuple(case.findings())
            verdict, why = _verdict(findings)
            judgements.append(Judgement(name, place, tier, verdict, findings, why))
    if judgements:
        return judgements
    why = UNMEASURED
    if claim.datasets:
        why = f"{why}: it is about {', '.join(claim.datasets)}"
    return [Judgement(name, "", "", UNKNOWN, why=why)]


def _verdict(findings: Sequence[Finding]) -> tuple[str, str]:
    """Return the worst verdict, and of one that cannot be told whether all that is known holds."""
    verdicts = {finding.verdict for finding in findings}
    worst = next((one for one in (FAILS, UNKNOWN, HOLDS) if one in verdicts), UNKNOWN)
    measured = {finding.verdict for finding in findings if not np.isnan(finding.value)}
    return worst, SO_FAR if worst == UNKNOWN and measured == {HOLDS} else ""


@dataclass(frozen=True)
class _Case:
    """A claim on one dataset and in one tier."""

    claim: Claim
    artifacts: Mapping[str, Artifact]
    found: Mapping[str, Sequence[Cell]]
    resamples: Resamples
    place: str
    tier: str

    def findings(self) -> list[Finding]:
        """Return what is found of all conditions; what several artifacts say alike stands once.

        Alike is a verdict with the same number of the same systems: a difference of zero is not.
        """
        found: dict[tuple[object, ...], Finding] = {}
        for check in self.claim.check:
            for finding in self._check(check):
                of = tuple(cell.origin.get("what") for cell in finding.cells)
                alike = (finding.text, repr(finding.value), finding.verdict, of)
                found.setdefault(alike, finding)
        return list(found.values())

    def _check(self, check: Check) -> Iterator[Finding]:
        """Yield what is found of a condition in each artifact, and panel, that can tell of it."""
        names = set(check.cells())
        if all(name.partition(".")[0] in self.claim.artifacts for name in names):
            yield from _conditions(check, self._looking("", None))
            return
        told: dict[str, None] = {}
        asked = check.artifacts or self.claim.artifacts
        for artifact in asked:
            here = [cell for cell in self._cells(artifact) if _names(cell) & names]
            for panel in dict.fromkeys(cell.panel for cell in here):
                if check.panel not in ("", panel):
                    continue
                told[artifact] = None
                look = self._looking(artifact, panel)
                told_by = partial(replace, artifact=f"{artifact} {panel}".strip())
                if self.artifacts[artifact].kind == "table" or any("@" in n for n in names):
                    yield from map(told_by, _conditions(check, look))
                    continue
                points = [cell for cell in here if cell.panel == panel]
                shared = (_covered if check.interpolated else _shared)(names, points)
                shared = _frequent(shared, names, points, check.share)
                if check.interpolated:
                    look = self._looking_along(points)
                for x in shared:
                    yield from map(told_by, _conditions(_at(check, x), look))
                if not shared:
                    why = f"no x at which all of {', '.join(sorted(names))} were measured"
                    yield Finding(whole(check), UNKNOWN, why=why)
        if not told:
            yield from _conditions(check, self._looking("", None))
        for artifact in asked:
            if artifact not in told and self._has(artifact, names, told):
                told_by = partial(replace, artifact=artifact)
                yield from map(told_by, _conditions(check, self._looking(artifact, None)))

    def _has(self, artifact: str, names: Collection[str], told: Collection[str]) -> bool:
        """Tell whether a table has all these cells, and is of the data that one of `told` is of.

        A claim on big models and on base ones does not hold by the base ones alone. Tables that
        differ in their data are judged on each data apart.
        """
        table = self.artifacts[artifact]
        return (
            table.kind == "table"
            and any(self.artifacts[one].datasets == table.datasets for one in told)
            and all(
                row in table.rows and column in table.measured
                for row, _, column in (name.rpartition(".") for name in names)
            )
        )

    def _cells(self, artifact: str) -> list[Cell]:
        """Return the cells of an artifact that are about this dataset, and this tier or none."""
        return [
            cell
            for cell in self.found.get(artifact, ())
            if cell.place == self.place and cell.tier in (self.tier, "")
        ]

    def _looking(self, artifact: str, panel: str | None) -> Look:
        """Return what finds a cell, here or in the artifact that its name begins with."""

        def look(name: str) -> Estimate:
            first, _, rest = name.partition(".")
            named = first in self.claim.artifacts
            cells = self._cells(first if named else artifact)
            wanted = rest if named else name
            for cell in cells:
                if cell.name == wanted and (named or panel == cell.panel):
                    return estimate(cell, self.resamples)
            return Estimate(float("nan"), missing=(name,))

        return look

    def _looking_along(self, points: Sequence[Cell]) -> Look:
        """Return what finds curve@x on the lines between a curve's points."""

        def look(name: str) -> Estimate:
            curve, _, x = name.rpartition("@")
            found = [
                (estimate(cell.across, self.resamples), estimate(cell, self.resamples))
                for cell in points
                if cell.across and cell.curve == curve
            ]
            return between(found, float(x))

        return look


def _without_artifact(cell: str, claim: Claim) -> str:
    """Return the name of a cell without that of an artifact."""
    first, _, rest = cell.partition(".")
    return rest if first in claim.artifacts else cell


def _names(cell: Cell) -> set[str]:
    """Return what a claim may call a cell: by its name, or by that of its curve."""
    return {cell.name, cell.curve}


def _shared(curves: set[str], cells: Sequence[Cell]) -> list[str]:
    """Return the x, as text, at which all curves have a point."""
    places = [[f"{x:g}" for x in found] for found in _places(curves, cells)]
    return [x for x in dict.fromkeys(places[0]) if all(x in others for others in places)]


def _frequent(
    places: list[str], curves: set[str], cells: Sequence[Cell], share: float
) -> list[str]:
    """Return the x of `places` that stand for at least such a share of a curve's lines."""
    if not share:
        return places
    curve = min(curves)
    lines = {f"{c.across.value:g}": c.origin["n"] for c in cells if c.across and c.curve == curve}
    return [x for x in places if lines[x] >= share * sum(lines.values())]


def _covered(curves: set[str], cells: Sequence[Cell]) -> list[str]:
    """Return the x, as text, at which one curve has a point, as far as all of them reach.

    Of lines that are straight between these, the difference is nowhere smaller than at one of them.
    """
    places = _places(curves, cells)
    if not all(places):
        return []
    first, last = max(map(min, places)), min(map(max, places))
    return [f"{x:g}" for x in sorted(set().union(*places)) if first <= x <= last]


def _places(curves: set[str], cells: Sequence[Cell]) -> list[list[float]]:
    """Return the x of all points of each curve."""
    return [
        [cell.across.value for cell in cells if cell.across and cell.curve == curve]
        for curve in sorted(curves)
    ]


def _at(check: Check, x: str) -> Check:
    """Return the condition on curves as one on their points at x."""

    def at(term: Any) -> Any:
        if isinstance(term, str):
            return f"{term}@{x}"
        return {operation: tuple(map(at, parts)) for operation, parts in term.items()}

    terms = {"rising": tuple(map(at, check.rising)), "equal": tuple(map(at, check.equal))}
    value = None if check.value is None else at(check.value)
    return check.model_copy(update={**terms, "value": value})


def _conditions(check: Check, look: Look) -> Iterator[Finding]:
    """Yield a finding for every pair of neighbours of an order, or for the one value."""
    for low, high in zip(check.rising, check.rising[1:], strict=False):
        made = combine("minus", [_evaluate(high, look), _evaluate(low, look)])
        yield _within(rising(low, high), made, 0.0, None)
    for one, other in zip(check.equal, check.equal[1:], strict=False):
        made = combine("minus", [_evaluate(one, look), _evaluate(other, look)])
        yield _same(equal(one, other), made)
    if check.value is not None:
        text = bounded(check.value, check.above, check.below)
        yield _within(text, _evaluate(check.value, look), check.above, check.below)


def _evaluate(term: Term | Inner, look: Look) -> Estimate:
    if isinstance(term, str):
        return look(term)
    return combine(next(iter(term)), [_evaluate(part, look) for part in inner(term)])


def _of_wrong_words(cell: Cell) -> bool:
    """Tell whether a cell is a time of a decoder that does not write what it has to."""
    metric = cell.metric
    timeless = metric is not None and (metric.steady or metric.kind in ("quality", "gain"))
    return not timeless and APART in str(cell.origin.get("marks", ""))


def _within(text: str, made: Estimate, above: float | None, below: float | None) -> Finding:
    """Say whether a number, with its interval where it has one, is between its bounds."""
    bottom = float("-inf") if above is None else above
    top = float("inf") if below is None else below
    if made.missing:
        return _unmeasured(text, made)
    low = high = made.value
    if made.drawn is not None:
        there = made.drawn[~np.isnan(made.drawn)]
        drawn = there if len(there) >= (1 - RARE) * len(made.drawn) else made.drawn
        low, high = interval(drawn)
    verdict, why = UNKNOWN, "the interval reaches over a bound"
    if np.isnan(low):
        why = TOO_FEW
    if any(map(_of_wrong_words, made.cells)):
        why = NO_TWIN
    elif made.no_interval:
        why = NO_INTERVAL
    elif bottom < low and high < top:
        verdict, why = HOLDS, ""
    elif high <= bottom or top <= low:
        verdict, why = FAILS, ""
    known = made.drawn is not None and not made.no_interval
    nothing = float("nan")
    return Finding(
        text,
        verdict,
        made.value,
        low if known else nothing,
        high if known else nothing,
        nothing if above is None else above,
        nothing if below is None else below,
        made.cells,
        why,
    )


def _same(text: str, made: Estimate) -> Finding:
    """Say whether a difference is zero, with every resample, too."""
    if made.missing:
        return _unmeasured(text, made)
    verdict, why = HOLDS, ""
    if made.value != 0:
        verdict = FAILS
    elif made.no_interval:
        verdict, why = UNKNOWN, NO_INTERVAL
    elif made.drawn is not None and np.isnan(made.drawn).any():
        verdict, why = UNKNOWN, TOO_FEW
    elif made.drawn is not None and made.drawn.any():
        verdict = FAILS
    return Finding(text, verdict, made.value, above=0, below=0, cells=made.cells, why=why)


def _unmeasured(text: str, made: Estimate) -> Finding:
    names = ", ".join(dict.fromkeys(made.missing))
    return Finding(text, UNKNOWN, cells=made.cells, why=f"not measured: {names}")
