"""Conditions on the curves of a figure: at which x they are looked at, and what is there."""

from collections.abc import Sequence

from fastdecode.config.claims import Check
from fastdecode.report.claims.evidence import Cell, Estimate, Look, Resamples, between, estimate


def places(check: Check, points: Sequence[Cell]) -> list[str]:
    """Return the x, as text, at which a condition on curves is looked at; `points` are theirs."""
    names = sorted(set(check.cells()))
    found = (_covered if check.interpolated else _shared)(names, points)
    if not check.share:
        return found
    lines = {f"{x:g}": point.origin["n"] for x, point in _of(names[0], points)}
    return [x for x in found if lines[x] >= check.share * sum(lines.values())]


def along(points: Sequence[Cell], resamples: Resamples) -> Look:
    """Return what finds curve@x on the lines between a curve's points."""

    def look(name: str) -> Estimate:
        curve, _, x = name.rpartition("@")
        found = [
            (estimate(cell.across, resamples), estimate(cell, resamples))
            for cell in points
            if cell.across and cell.curve == curve
        ]
        return between(found, float(x))

    return look


def at(check: Check, x: str) -> Check:
    """Return the condition on curves as one on their points at x."""
    return check.renamed(lambda curve: f"{curve}@{x}")


def _shared(curves: Sequence[str], points: Sequence[Cell]) -> list[str]:
    """Return the x at which all curves have a point."""
    first, *others = ([f"{x:g}" for x, _ in _of(curve, points)] for curve in curves)
    return [x for x in dict.fromkeys(first) if all(x in other for other in others)]


def _covered(curves: Sequence[str], points: Sequence[Cell]) -> list[str]:
    """Return the x at which one curve has a point, as far as all of them reach.

    Of lines that are straight between these, the difference is nowhere smaller than at one of them.
    """
    found = [[x for x, _ in _of(curve, points)] for curve in curves]
    if not all(found):
        return []
    first, last = max(map(min, found)), min(map(max, found))
    return [f"{x:g}" for x in sorted(set().union(*found)) if first <= x <= last]


def _of(curve: str, points: Sequence[Cell]) -> list[tuple[float, Cell]]:
    """Return a curve's points, each behind its x."""
    return [(cell.across.value, cell) for cell in points if cell.across and cell.curve == curve]
