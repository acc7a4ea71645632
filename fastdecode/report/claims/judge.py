"""The verdict on a claim, dataset by dataset and tier by tier."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fastdecode.config.claims import Check, Claim
from fastdecode.config.papers import Artifact
from fastdecode.report.claims import curves
from fastdecode.report.claims.conditions import whole
from fastdecode.report.claims.evidence import Cell, Estimate, Look, Resamples, estimate
from fastdecode.report.claims.findings import FAILS, HOLDS, UNKNOWN, Finding, weigh

UNMEASURED = "not measured in this run"
SO_FAR = "what was measured of it holds"


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
    """Return the verdicts on all claims of a paper.

    `artifacts` are all of the paper's, `found` has the cells of those that were made.
    """
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
    cells = [cell for artifact in claim.artifacts for cell in found.get(artifact, ())]
    judgements = []
    for place in dict.fromkeys(cell.place for cell in cells):
        here = [cell for cell in cells if cell.place == place]
        asked = claim.of_curves({cell.curve for cell in here})
        wanted = {_without_artifact(cell, asked) for check in asked.check for cell in check.cells()}
        named = [cell for cell in here if _names(cell) & wanted]
        if not named or (claim.datasets and place not in claim.datasets):
            continue
        for tier in dict.fromkeys(cell.tier for cell in named if cell.tier) or [""]:
            case = _Case(asked, artifacts, found, resamples, place, tier)
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
            yield from weigh(check, self._looking("", None))
            return
        told: dict[str, None] = {}
        asked = check.artifacts or self.claim.artifacts
        for artifact in asked:
            here = [cell for cell in self._cells(artifact) if _names(cell) & names]
            for panel in dict.fromkeys(cell.panel for cell in here):
                if check.panel in ("", panel):
                    told[artifact] = None
                    points = [cell for cell in here if cell.panel == panel]
                    for finding in self._told(check, artifact, points):
                        yield replace(finding, artifact=f"{artifact} {panel}".strip())
        if not told:
            yield from weigh(check, self._looking("", None))
        for artifact in asked:
            if artifact not in told and self._has(artifact, names, told):
                for finding in weigh(check, self._looking(artifact, None)):
                    yield replace(finding, artifact=artifact)

    def _told(self, check: Check, artifact: str, cells: Sequence[Cell]) -> Iterator[Finding]:
        """Yield what some cells of one panel tell of a condition; on curves, at each x."""
        names = set(check.cells())
        look = self._looking(artifact, cells[0].panel)
        if self.artifacts[artifact].kind == "table" or any("@" in name for name in names):
            yield from weigh(check, look)
            return
        if check.interpolated:
            look = curves.along(cells, self.resamples)
        places = curves.places(check, cells)
        for x in places:
            yield from weigh(curves.at(check, x), look)
        if not places:
            why = f"no x at which all of {', '.join(sorted(names))} were measured"
            yield Finding(whole(check), UNKNOWN, why=why)

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


def _without_artifact(cell: str, claim: Claim) -> str:
    """Return the name of a cell without that of an artifact."""
    first, _, rest = cell.partition(".")
    return rest if first in claim.artifacts else cell


def _names(cell: Cell) -> set[str]:
    """Return what a claim may call a cell: by its name, or by that of its curve."""
    return {cell.name, cell.curve}
