"""Whether a kept verdict is on the present claim."""

from typing import Any

import pytest

from fastdecode.config.base import check
from fastdecode.config.claims import Claim
from fastdecode.report.claims.conditions import remaining


def claim(*checks: dict[str, Any]) -> Claim:
    return check(Claim, {"statement": "s", "check": checks}, "mine")


ORDER = claim({"rising": ["a.x", "b.x", "c.x"]})
GAIN = claim({"value": {"minus": ["a.x", {"mean": ["b.x", "c.x"]}]}, "above": -0.5, "below": 2})
CURVES = claim({"rising": ["one, K = 6", "two"]})
POINTS = claim({"rising": ["two@1", "two@2"]}, {"equal": ["one", "two"]})


@pytest.mark.parametrize(
    ("now", "kept", "left"),
    [
        (ORDER, {"a.x < b.x", "b.x < c.x"}, True),
        (ORDER, {"a.x < b.x"}, False),  # one has come
        (ORDER, {"a.x < b.x", "b.x < d.x"}, False),  # one has come, one has gone
        (ORDER, set(), False),
        (GAIN, {"-0.5 < (a.x − mean(b.x, c.x)) < 2"}, True),
        (GAIN, {"-0.5 < (a.x − mean(b.x, c.x)) < 3"}, False),  # another bound
        (CURVES, {"one, K = 6@1 < two@1", "one, K = 6@2.5 < two@2.5"}, True),
        (CURVES, {"one, K = 6 < two"}, True),  # at no x
        (CURVES, {"two@1 < one, K = 6@1"}, False),
        (POINTS, {"two@1 < two@2", "one@1 = two@1", "one@2e+06 = two@2e+06"}, True),
        (POINTS, {"two@1 < two@2", "one, two"}, True),  # no x that both have
        (POINTS, {"two@1 < two@3", "one@1 = two@1"}, False),
    ],
)
def test_conditions_are_known_by_their_words(now: Claim, kept: set[str], left: bool) -> None:
    assert remaining(now, kept) == (kept if left else set())


def test_a_condition_that_has_gone_does_not_remain() -> None:
    kept = {"a.x < b.x", "b.x < c.x", "c.x < d.x"}
    assert remaining(ORDER, kept) == {"a.x < b.x", "b.x < c.x"}
