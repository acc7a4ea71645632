"""What is found of one condition: a number of ours, and whether it is within its bounds."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fastdecode.config.claims import Check, Inner, Term, inner
from fastdecode.measure.resampling import interval
from fastdecode.report.claims.conditions import bounded, equal, rising
from fastdecode.report.claims.evidence import Cell, Estimate, Look, combine
from fastdecode.report.tables import APART

HOLDS, FAILS, UNKNOWN = "holds", "does not hold", "cannot be told"
RARE = 0.01  # a share of resamples that may lack what a number is of, such as lines of a length
NO_INTERVAL = "no interval is known"
NO_TWIN = "a decoder does not write what it has to"
BY_ZERO = "it is a ratio over zero"
TOO_FEW = "too few repeats or lines for an interval"


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


def weigh(check: Check, look: Look) -> Iterator[Finding]:
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
    if made.missing or made.by_zero:
        return _without_value(text, made)
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
    if made.missing or made.by_zero:
        return _without_value(text, made)
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


def _without_value(text: str, made: Estimate) -> Finding:
    names = ", ".join(dict.fromkeys(made.missing))
    why = f"not measured: {names}" if names else BY_ZERO
    return Finding(text, UNKNOWN, cells=made.cells, why=why)
