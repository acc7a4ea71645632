"""Times of whole sentences are tested with verdicts; here are stages."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fastdecode.errors import UserError
from fastdecode.measure.resampling import draws
from fastdecode.measure.summary import UNACCOUNTED
from fastdecode.report.claims.clocked import Clocked
from fastdecode.report.claims.findings import HOLDS, UNKNOWN
from tests.report.claims.cases import Resamples, cells_of, judged, line

WHERE = ("toy", "test", "reference", "S1")
ENTRY = "raw/quick/beam5"
LINES, REPEATS = 7, 5
TIMES = {"encode": np.arange(LINES) + 1.0, "decode": np.full(LINES, 5.0)}
REST = 0.5
DRIFT = (0.5, -0.25, 0.0, 0.0, -0.25)  # of a stage, repeat by repeat
STEADY = (0.0,) * REPEATS


def timed(
    folder: Path,
    staged_repeats: int = REPEATS,
    drift: tuple[float, ...] = STEADY,
    left_over: bool = True,
) -> Clocked:
    """Times by line, what each of the stages takes more in a repeat, and what they leave over."""
    rest = {UNACCOUNTED: np.full(LINES, REST)} if left_over else {}
    whole = [
        {"decoder": ENTRY, "batch": 1, "repeat": repeat, "line": number, "tokens": 3 * number}
        | {
            "milliseconds": sum(times[number] for times in TIMES.values())
            + REST
            + 2 * drift[repeat]
        }
        for repeat in range(REPEATS)
        for number in range(LINES)
    ]
    staged = [
        {"decoder": ENTRY, "batch": 1, "repeat": repeat, "line": number, "tokens": 3 * number}
        | {"stage": stage, "milliseconds": times[number] + (drift[repeat] if stage in TIMES else 0)}
        for repeat in range(staged_repeats)
        for number in range(LINES)
        for stage, times in (TIMES | rest).items()
    ]
    pd.DataFrame(whole).to_csv(folder / "t.samples.csv.gz", index=False)
    pd.DataFrame(staged).to_csv(folder / "t.stages.csv.gz", index=False)
    return Clocked({WHERE: folder / "t.samples.csv.gz"})


@pytest.mark.parametrize("left_over", [True, False])  # False: before November 26, 2026
def test_stages_are_means_of_the_lines_and_repeats_drawn(tmp_path: Path, left_over: bool) -> None:
    clocked = timed(tmp_path, drift=DRIFT, left_over=left_over)
    more = np.array(DRIFT)[draws(REPEATS, of="repeats")].mean(axis=1)
    encode, decode = TIMES["encode"][draws(LINES)].mean(axis=1) + more, 5.0 + more
    for names, right in (
        ("encode", encode),
        ("decode", decode),
        ("encode + unaccounted", encode + REST),
        ("encode + decode + unaccounted", encode + decode + REST),
        ("", 0.0),  # a row whose stage this decoder does not have
    ):
        found = clocked.stages(WHERE, ENTRY, names, "", share=False)
        assert found is not None and found == pytest.approx(np.broadcast_to(right, found.shape))
        part = clocked.stages(WHERE, ENTRY, names, "", share=True)
        assert part == pytest.approx(found / (encode + decode + REST))


def test_stages_of_outputs_of_some_lengths(tmp_path: Path) -> None:
    clocked = timed(tmp_path)
    found = clocked.stages(WHERE, ENTRY, "encode", "3–9", share=False)
    inside = (draws(LINES) >= 1) & (draws(LINES) <= 3)  # the lines of 3, 6 and 9 tokens
    sums = np.where(inside, TIMES["encode"][draws(LINES)], 0).sum(axis=1)
    counts = inside.sum(axis=1)
    assert (counts == 0).any()
    right = sums / np.where(counts, counts, np.nan)
    assert found == pytest.approx(right, nan_ok=True)
    nothing = clocked.stages(WHERE, ENTRY, "encode", "30–40", share=True)
    assert nothing is not None and np.isnan(nothing).all()


def test_one_line_of_a_length_does_not_tell_of_others(tmp_path: Path) -> None:
    found = timed(tmp_path).stages(WHERE, ENTRY, "encode", "18–18", share=False)
    assert found is not None
    assert np.nanmin(found) == np.nanmax(found) and np.isnan(np.quantile(found, 0.5))


def test_stages_of_fewer_repeats_than_the_whole_say_nothing(tmp_path: Path) -> None:
    assert timed(tmp_path, staged_repeats=1).stages(WHERE, ENTRY, "encode", "", share=True) is None


def test_stages_of_what_was_not_timed_are_not_known(tmp_path: Path) -> None:
    clocked = timed(tmp_path)
    assert clocked.stages(WHERE, "raw/other/beam5", "encode", "", share=True) is None
    assert (
        clocked.stages(("toy", "test", "optimised", "S1"), ENTRY, "encode", "", share=True) is None
    )


def test_a_stage_that_had_another_name_is_not_known(tmp_path: Path) -> None:
    clocked = timed(tmp_path)
    assert clocked.stages(WHERE, ENTRY, "encode + draft", "", share=False) is None


def test_an_empty_output_is_among_the_shortest(tmp_path: Path) -> None:
    """As in the figure, whose number this is the interval of."""
    found = timed(tmp_path).stages(WHERE, ENTRY, "encode", "1–3", share=False)
    inside = draws(LINES) <= 1  # the lines of no token and of 3
    sums = np.where(inside, TIMES["encode"][draws(LINES)], 0).sum(axis=1)
    counts = inside.sum(axis=1)
    assert found == pytest.approx(sums / np.where(counts, counts, np.nan), nan_ok=True)


def test_the_order_of_two_stages_is_told_by_its_interval(tmp_path: Path) -> None:
    same = {"tier": "reference", "scenario": "S1", "what": ENTRY}
    found = {
        "table1": cells_of(
            tmp_path,
            line("quick", "module", 4.0, part="encode", **same),
            line("slow", "module", 5.0, part="decode", **same),
            line("other", "module", 0.4, part="unaccounted", **same),
        )
    }
    times = Resamples(times=timed(tmp_path))
    for low, high, verdict in (
        ("other", "quick", HOLDS),
        ("quick", "slow", UNKNOWN),  # three lines in seven say otherwise
    ):
        check = {"rising": [f"{low}.module", f"{high}.module"]}
        (one,) = judged(found, check, resamples=times)
        assert one.verdict == verdict
        (one,) = judged(found, check)
        assert (one.verdict, one.findings[0].why) == (UNKNOWN, "no interval is known")


def test_samples_that_are_no_more(tmp_path: Path) -> None:
    clocked = timed(tmp_path)
    (tmp_path / "t.stages.csv.gz").write_bytes(b"")
    with pytest.raises(UserError, match=r"t\.stages\.csv\.gz: .*run the workflow again"):
        clocked.stages(WHERE, ENTRY, "encode", "", share=True)


def test_a_share_of_time_is_resampled_in_percent_as_cells_are(tmp_path: Path) -> None:
    same = {"tier": "reference", "scenario": "S1", "what": ENTRY, "part": "encode"}
    (cell,) = cells_of(tmp_path, line("quick", "share", 42.0, **same))
    clocked = timed(tmp_path)
    share = clocked.stages(WHERE, ENTRY, "encode", "", share=True)
    drawn = Resamples(times=clocked).of(cell)
    assert share is not None and drawn is not None and drawn == pytest.approx(100 * share)
