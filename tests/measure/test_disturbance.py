import os
from pathlib import Path

import pytest

from fastdecode.measure.disturbance import (
    REPEATS,
    WARMUP,
    Usage,
    cores_of_others,
    disturbances,
    read_usage,
)

TICK = os.sysconf("SC_CLK_TCK")


def test_the_machines_clock_counts_all_but_idleness(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    # user nice system idle iowait irq softirq steal guest guest_nice
    stat.write_text("cpu  100 20 30 9000 4000 5 6 7 50 20\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
    assert read_usage(stat).machine == (100 + 20 + 30 + 5 + 6 + 7) / TICK


@pytest.mark.parametrize(
    "text", ["", "cpu 1 2 3\n", "cpu0 1 1 1 1 1 1 1 1\n", "cpu a b c d e f g h\n"]
)
def test_what_cannot_be_read_is_not_known(tmp_path: Path, text: str) -> None:
    stat = tmp_path / "stat"
    stat.write_text(text)
    assert read_usage(stat).machine is None
    assert read_usage(tmp_path / "none").machine is None


def test_own_work_is_not_that_of_others() -> None:
    before = read_usage()
    while (after := read_usage()).own - before.own < 0.05:
        pass
    assert after.wall - before.wall >= 0.04
    quiet = [(Usage(0, 0, 10), Usage(10, 20, 30))]  # two cores busy, both by this process
    assert cores_of_others(quiet) == 0


def test_others_are_averaged_over_the_turns_alone() -> None:
    turns = [
        (Usage(0, 0, 0), Usage(2, 2, 3)),  # half a core
        (Usage(50, 40, 90), Usage(52, 42, 94)),  # a whole one; what lies between does not count
    ]
    assert cores_of_others(turns) == 0.75
    assert cores_of_others([(Usage(0, 0, 0), Usage(1, 1.02, 1))]) == 0  # ticks are coarse
    assert cores_of_others([(Usage(0, 0, None), Usage(1, 1, 1))]) is None
    assert cores_of_others([]) is None


@pytest.mark.parametrize(
    ("medians", "others", "reasons"),
    [
        ([100.0, 105.0, 110.0], 0.2, []),
        ([100.0, 114.0, 90.0], 0.1, ["drift 27%"]),
        ([100.0, 111.0, 100.0], None, ["drift 11%"]),
        ([100.0, 100.0, 100.0], 0.62, ["others used 0.6 cores"]),
        ([1.0, 2.0, 1.0], 1.0, ["drift 100%", "others used 1.0 cores"]),
        ([0.0, 1.0, 0.0], 0.0, []),  # a clock too coarse to tell
    ],
)
def test_reasons(medians: list[float], others: float | None, reasons: list[str]) -> None:
    enough = [*medians, *[medians[0]] * (REPEATS - len(medians))]
    assert disturbances(enough, others, WARMUP) == reasons
    few = [f"{len(medians)} repeats", "19 sentences of warm-up"]
    assert disturbances(medians, others, WARMUP - 1) == [*reasons, *few]


def test_one_repeat_or_sentence_too_few_is_a_reason() -> None:
    assert disturbances([1.0] * REPEATS, 0.0, WARMUP) == []
    assert disturbances([1.0] * (REPEATS - 1), 0.0, WARMUP) == ["4 repeats"]
    assert disturbances([1.0] * REPEATS, 0.0, WARMUP - 1) == ["19 sentences of warm-up"]
