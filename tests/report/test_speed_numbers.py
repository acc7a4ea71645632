from pathlib import Path

import pandas as pd
import pytest

from fastdecode.errors import UserError
from fastdecode.files import write_csv
from fastdecode.report.speed_numbers import (
    COLUMNS,
    LATER,
    SPEEDS,
    precision_of,
    speed_rows,
)
from tests.report.conftest import value

OVER = {"reference": "raw/base/beam5", "optimised": "raw/base/fast"}


def rows_of(tidy: pd.DataFrame, scenario: str = "S1") -> pd.DataFrame:
    return speed_rows(tidy, "toy", "test", scenario, OVER)


def picked(frame: pd.DataFrame, **cells: str) -> pd.DataFrame:
    for column, cell in cells.items():
        frame = frame[frame[column] == cell]
    return frame


def changed(tidy: pd.DataFrame, column: str, cell: str, **where: str) -> pd.DataFrame:
    """Return the table with one cell of the rows `where` overwritten."""
    tidy = tidy.copy()
    tidy.loc[picked(tidy, **where).index, column] = cell
    return tidy


def test_a_row_for_every_decoder_setting_by_setting(tidy: pd.DataFrame) -> None:
    rows = rows_of(tidy)
    groups = rows[["tier", "threads", "precision", "target", "decoder"]]
    assert groups.to_numpy().tolist() == [
        [tier, threads, precision, target, decoder]
        for tier, threads, decoders in (
            ("reference", "1", [("fp32", "beam5"), ("fp32", "greedy")]),
            ("reference", "2", [("fp32", "beam5"), ("fp32", "greedy")]),
            ("optimised", "1", [("fp32", "fast")]),
            ("optimised", "1", [("int8", "eight")]),
            ("optimised", "2", [("fp32", "fast")]),
            ("optimised", "2", [("int8", "eight")]),
        )
        for target in ("raw", "big")
        for precision, decoder in decoders
    ]
    assert list(rows.columns) == COLUMNS


def test_decoders_stand_as_they_were_timed(tidy: pd.DataFrame) -> None:
    names = [("big", "fast"), ("raw", "greedy"), ("big", "greedy"), ("raw", "beam5")]
    some = pd.concat(picked(tidy, target=target, decoder=decoder) for target, decoder in names)
    rows = speed_rows(some, "toy", "test", "S1", {"reference": "raw/base/beam5"})
    one = picked(rows, threads="1")[["target", "decoder"]].to_numpy().tolist()
    assert one == [list(name) for name in (*names[1:], names[0])]  # the reference tier goes first


def test_every_ratio_stays_within_its_setting(tidy: pd.DataFrame) -> None:
    rows = rows_of(tidy).set_index(["threads", "target", "decoder"]).sort_index()
    for threads in ("1", "2"):
        assert rows.loc[threads, "speedup"].to_dict() == pytest.approx(
            {
                ("raw", "beam5"): 1,
                ("raw", "greedy"): 1.25,
                ("big", "beam5"): 2,
                ("big", "greedy"): 2.5,
                # over the fast one: not 2.5 and 5
                ("raw", "fast"): 1,
                ("big", "fast"): 2,
                # over the fast one in fp32
                ("raw", "eight"): 2,
                ("big", "eight"): 4,
            }
        )
    eight = rows.loc["1", "raw", "eight"]
    assert (eight["over"], eight["over_precision"]) == ("raw/base/fast", "fp32")


def test_in_batches_the_best_size_counts(tidy: pd.DataFrame) -> None:
    rows = rows_of(tidy, "Smax")
    assert set(rows["batch"]) == {"8"}
    greedy = picked(rows, threads="1", target="raw", decoder="greedy").iloc[0]
    assert greedy["throughput_sentences"] == pytest.approx(250)
    assert greedy["latency_median"] == pytest.approx(32)
    assert greedy["speedup"] == pytest.approx(1.25)  # sentences a second, not times, are compared
    beam = {"tier": "reference", "decoder": "beam5", "batch": "32", "target": "raw"}
    better = tidy.copy()
    better.loc[picked(tidy, metric="throughput_sentences", threads="1", **beam).index, "value"] = (
        500
    )
    rows = picked(rows_of(better, "Smax"), threads="1", tier="reference", target="raw")
    assert rows["batch"].tolist() == ["32", "8"]
    assert rows["speedup"].tolist() == pytest.approx([1, 0.5])


@pytest.mark.parametrize("coarse", ["int8", "none"])
def test_a_run_in_half_precision(tidy: pd.DataFrame, coarse: str) -> None:
    tidy["precision"] = tidy["precision"].replace({"fp32": "bf16", "int8": coarse})
    tidy = tidy[tidy["precision"] != "none"]
    rows = rows_of(tidy)
    assert precision_of(rows) == "bf16"
    assert set(rows["over_precision"]) == {"bf16"}


def test_bleu_is_of_the_seed_that_was_timed(tidy: pd.DataFrame) -> None:
    other = picked(tidy, metric="bleu").assign(seed="2", value=99.0)
    assert rows_of(pd.concat([other, tidy])).equals(rows_of(tidy))


def test_what_differs_with_one_seed_differs(tidy: pd.DataFrame) -> None:
    seeds = [
        value("raw/base/beam5", "differs", number, seed=seed)
        for seed, number in (("1", 0.0), ("2", 1.0), ("3", 0.0))
    ]
    rows = picked(rows_of(pd.concat([tidy, pd.DataFrame(seeds)])), tier="reference")
    assert set(picked(rows, target="raw", decoder="beam5")["differs"]) == {1.0}
    assert set(rows["over_differs"]) == {1.0}


@pytest.mark.parametrize(
    ("column", "cell", "where"),
    [
        ("tier", "optimised", {"target": "raw", "decoder": "beam5"}),
        ("tier", "reference", {"target": "raw", "decoder": "fast"}),
        ("threads", "3", {"target": "big", "decoder": "beam5", "threads": "2"}),
        ("precision", "fp16", {"target": "big", "decoder": "greedy", "precision": "fp32"}),
        ("precision", "int8", {"target": "raw", "decoder": "fast", "precision": "fp32"}),
    ],
)
def test_no_ratio_across_settings(
    tidy: pd.DataFrame, column: str, cell: str, where: dict[str, str]
) -> None:
    for scenario in ("S1", "Smax"):
        odd = changed(tidy, column, cell, scenario=scenario, **where)
        with pytest.raises(UserError, match=r"was not timed as .*: a ratio never mixes these"):
            rows_of(odd, scenario)


def test_one_device_a_table(tidy: pd.DataFrame) -> None:
    two = changed(tidy, "device", "cuda: Y", target="big", scenario="S1")
    with pytest.raises(UserError, match=r"different values of device \(cpu: X.* and cuda: Y\)"):
        rows_of(two)
    rows_of(two, "Smax")


def test_memory_may_be_measured_with_fewer_cores(tidy: pd.DataFrame) -> None:
    """As on a cluster: its job asks for one core, that of the times for several."""
    fewer = changed(tidy, "device", "cpu: X, 1 cores", metric="memory_peak")
    for scenario in ("S1", "Smax"):
        pd.testing.assert_frame_equal(rows_of(fewer, scenario), rows_of(tidy, scenario))
    other = changed(tidy, "device", "cpu: Z, 1 cores", metric="memory_peak")
    with pytest.raises(UserError, match=r"different values of device \(cpu: X and cpu: Z\)"):
        rows_of(other)
    odd = changed(tidy, "device", "cpu: X, 1 cores", target="big", scenario="S1")
    with pytest.raises(UserError, match=r"device \(cpu: X, 1 cores and cpu: X, 2 cores\)"):
        rows_of(odd)


def test_scores_of_different_signatures_are_not_compared(tidy: pd.DataFrame) -> None:
    odd = changed(tidy, "signature", "bleu|v2", metric="bleu", target="big")
    with pytest.raises(UserError, match="different values of signature"):
        rows_of(odd)


def test_a_value_that_stands_twice_is_refused(tidy: pd.DataFrame) -> None:
    again = picked(tidy, metric="latency_p90", target="raw", decoder="fast").iloc[:1]
    with pytest.raises(UserError, match="latency_p90 of raw/base/fast stands twice"):
        rows_of(pd.concat([tidy, again]))


def test_no_speed_is_an_error(tidy: pd.DataFrame) -> None:
    memory_alone = tidy[(tidy["scenario"] != "Smax") | (tidy["metric"] == "memory_peak")]
    with pytest.raises(UserError, match="no speed in Smax was measured on 'test' of 'toy'"):
        rows_of(memory_alone, "Smax")


def test_the_csv_keeps_everything(tidy: pd.DataFrame, tmp_path: Path) -> None:
    rows = speed_rows(tidy, "toy", "test", "S1", {"reference": "raw/base/beam5"})
    write_csv(tmp_path / "speed.csv", rows)
    pd.testing.assert_frame_equal(SPEEDS.read(tmp_path / "speed.csv"), rows)
    for lacking in (list(LATER), list(LATER[1:])):
        write_csv(tmp_path / "older.csv", rows.drop(columns=lacking))
        older = SPEEDS.read(tmp_path / "older.csv")
        assert older.columns.equals(rows.columns) and (
            older[lacking].replace("", None).isna().all(axis=None)
        )
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    for name, message in (("other.csv", "its columns are not"), ("none.csv", "no such file")):
        with pytest.raises(UserError, match=message):
            SPEEDS.read(tmp_path / name)


def test_sixteen_bits_of_one_decoder_are_compared_too(tidy: pd.DataFrame) -> None:
    tidy.loc[tidy["decoder"] == "eight", "precision"] = "bf16"
    rows = speed_rows(tidy, "toy", "test", "S1", OVER)
    (over,) = rows.loc[rows["decoder"] == "eight", "over_precision"].unique()
    assert over == "fp32"
