"""One condition over numbers that are given: its verdict, its interval, and why none is told."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fastdecode.config.claims import Check
from fastdecode.config.metrics import METRICS
from fastdecode.report.claims.evidence import Cell, Estimate
from fastdecode.report.claims.findings import (
    FAILS,
    HOLDS,
    NO_INTERVAL,
    NO_TWIN,
    TOO_FEW,
    UNKNOWN,
    Finding,
    weigh,
)
from fastdecode.report.tables import APART

SPREAD = np.linspace(-1, 1, 1001)  # of resamples: their 95% interval is 0.95 to both sides


def exact(value: float) -> Estimate:
    """A setting or a size: no resample moves it."""
    return Estimate(value)


def drawn(value: float, spread: float = 1.0) -> Estimate:
    return Estimate(value, value + spread * SPREAD)


def weighed(check: Check, **numbers: Estimate) -> list[Finding]:
    return list(weigh(check, lambda name: numbers[name]))


def found(check: Check, **numbers: Estimate) -> Finding:
    (finding,) = weighed(check, **numbers)
    return finding


@pytest.mark.parametrize(
    ("difference", "verdict"), [(0.96, HOLDS), (0.94, UNKNOWN), (-0.94, UNKNOWN), (-0.96, FAILS)]
)
def test_an_order_is_told_by_the_interval(difference: float, verdict: str) -> None:
    finding = found(Check(rising=("a", "b")), a=exact(30.0), b=drawn(30.0 + difference))
    assert finding.verdict == verdict and (finding.why != "") == (verdict == UNKNOWN)
    assert finding.value == pytest.approx(difference)
    assert (finding.low, finding.high) == pytest.approx((difference - 0.95, difference + 0.95))


def test_every_pair_of_neighbours_of_an_order_is_one() -> None:
    order = Check(rising=("a", "b", "c"))
    first, second = weighed(order, a=exact(1), b=exact(3), c=exact(2))
    assert (first.verdict, second.verdict) == (HOLDS, FAILS)
    assert (first.value, second.value) == (2, -1)
    assert first.text == "a < b" and second.text == "b < c"


def test_equal_numbers_are_in_no_order() -> None:
    assert found(Check(rising=("a", "b")), a=exact(1), b=exact(1)).verdict == FAILS


@pytest.mark.parametrize(
    ("bounds", "verdict"),
    [
        ({"above": 4.0}, HOLDS),
        ({"above": 4.5}, UNKNOWN),
        ({"above": 6.0}, FAILS),
        ({"below": 6.0}, HOLDS),
        ({"below": 5.5}, UNKNOWN),
        ({"below": 4.0}, FAILS),
        ({"above": 4.0, "below": 6.0}, HOLDS),
        ({"above": 4.5, "below": 6.0}, UNKNOWN),
        ({"above": 0.0, "below": 4.0}, FAILS),
    ],
)
def test_a_value_and_its_bounds(bounds: Mapping[str, float], verdict: str) -> None:
    finding = found(Check(value="a", **bounds), a=drawn(5.0))
    assert finding.verdict == verdict
    assert [finding.above, finding.below] == pytest.approx(
        [bounds.get("above", np.nan), bounds.get("below", np.nan)], nan_ok=True
    )


def test_bounds_themselves_are_outside() -> None:
    for bounds in ({"above": 5.0}, {"below": 5.0}):
        assert found(Check(value="a", **bounds), a=exact(5.0)).verdict == FAILS


def test_terms_are_made_of_resamples_one_by_one() -> None:
    same = drawn(30.0)  # what moves both does not move their difference
    other = replace(same, value=32.0, drawn=30.0 + SPREAD + 2.0)
    finding = found(Check(value={"minus": ("b", "a")}, above=1.9), a=same, b=other)
    assert finding.verdict == HOLDS
    assert (finding.low, finding.high) == pytest.approx((2.0, 2.0))


def test_what_was_not_measured_is_named() -> None:
    gone = Estimate(np.nan, missing=("a.bleu",))
    for check in (Check(rising=("a", "b")), Check(equal=("a", "b"))):
        finding = found(check, a=gone, b=exact(1))
        assert (finding.verdict, finding.why) == (UNKNOWN, "not measured: a.bleu")


def test_a_number_that_others_would_move_is_not_told_without_an_interval() -> None:
    alone = Estimate(99.0, no_interval=True)
    for check in (Check(value="a", above=0.0), Check(equal=("a", "a"))):
        finding = found(check, a=alone)
        assert (finding.verdict, finding.why) == (UNKNOWN, NO_INTERVAL)
        assert np.isnan(finding.low) and np.isnan(finding.high)
    assert found(Check(equal=("a", "b")), a=alone, b=exact(98.0)).verdict == FAILS


def test_few_resamples_may_lack_a_number_and_many_may_not() -> None:
    def lacking(count: int) -> Estimate:
        numbers = 5.0 + SPREAD
        numbers[:count] = np.nan
        return Estimate(5.0, numbers)

    assert found(Check(value="a", above=3.0), a=lacking(10)).verdict == HOLDS
    finding = found(Check(value="a", above=3.0), a=lacking(11))
    assert (finding.verdict, finding.why) == (UNKNOWN, TOO_FEW)
    finding = found(Check(equal=("a", "b")), a=lacking(1), b=lacking(1))
    assert (finding.verdict, finding.why) == (UNKNOWN, TOO_FEW)


def test_equal_numbers_are_so_with_every_resample() -> None:
    same = Check(equal=("a", "b"))
    assert found(same, a=drawn(5.0), b=drawn(5.0)).verdict == HOLDS
    once = 5.0 + SPREAD
    once[500] += 1e-9
    assert found(same, a=drawn(5.0), b=Estimate(5.0, once)).verdict == FAILS
    assert found(same, a=exact(5.0), b=exact(5.0)).verdict == HOLDS
    first, second = weighed(Check(equal=("a", "b", "c")), a=exact(1), b=exact(1), c=exact(2))
    assert (first.verdict, second.verdict) == (HOLDS, FAILS)


def test_a_time_of_other_words_tells_nothing_and_their_quality_does() -> None:
    timed = next(metric for metric in METRICS.values() if metric.kind == "speed")
    scored = next(metric for metric in METRICS.values() if metric.kind == "quality")
    check = Check(value="a", above=0.0)
    for metric, marks, verdict in (
        (timed, APART, UNKNOWN),
        (timed, "", HOLDS),
        (scored, APART, HOLDS),
    ):
        cell = Cell(5.0, "toy", "", "reference", "a.x", metric, {"marks": marks})
        finding = found(check, a=replace(drawn(5.0), cells=(cell,)))
        assert finding.verdict == verdict and (finding.why == NO_TWIN) == (verdict == UNKNOWN)
        assert finding.cells == (cell,)


@given(low=st.floats(-50, 50), high=st.floats(-50, 50), spread=st.floats(0, 20))
def test_an_order_holds_where_its_opposite_does_not(low: float, high: float, spread: float) -> None:
    apart, reach = abs(low - high), 0.95 * spread
    assume(abs(apart - reach) > 1e-6)  # nearer to the end of the interval rounding decides
    numbers = {"a": drawn(low, spread), "b": exact(high)}
    one = found(Check(rising=("a", "b")), **numbers).verdict
    other = found(Check(rising=("b", "a")), **numbers).verdict
    assert {one, other} == ({HOLDS, FAILS} if apart > reach else {UNKNOWN})
    assert (one == HOLDS) == (apart > reach and low < high)
