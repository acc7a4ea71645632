from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.errors import UserError
from fastdecode.report.captions import LATENCY_FIGURES
from fastdecode.report.latency_numbers import (
    BUCKETS,
    by_length,
    by_stage,
    measured_so,
    numbers_of,
    read_samples,
    speedups,
    with_settings,
)
from tests.report.conftest import LENGTHS

NAMES = ["raw/base/beam5", "raw/base/greedy", "big/small/beam5", "big/small/greedy"]


def test_times_by_output_length(samples: pd.DataFrame) -> None:
    table = by_length(samples)
    assert list(table["decoder"].unique()) == NAMES  # in the order in which they were timed
    base = table[table["decoder"] == "raw/base/beam5"].drop(columns="decoder")
    assert base.to_numpy().tolist() == [  # 30 tokens in ten buckets at most: five make one
        [1, 5, 2, 4.5],  # the slow repeat has no part in a median
        [6, 10, 1, 9],
        [11, 15, 1, 12],
        [16, 20, 1, 17],
        [26, 30, 1, 30],
    ]


def test_outputs_of_another_length_are_in_another_bucket(samples: pd.DataFrame) -> None:
    samples.loc[samples["decoder"] == "big/small/greedy", "tokens"] += 6
    table = by_length(samples)
    greedy = table[table["decoder"] == "big/small/greedy"]
    assert greedy["shortest"].tolist() == [6, 11, 16, 21, 36]
    assert greedy["lines"].sum() == len(LENGTHS)


@given(st.integers(1, 999))
def test_there_are_a_few_buckets(longest: int) -> None:
    rows = {"decoder": "a", "repeat": 0, "line": range(longest), "milliseconds": 1.0}
    table = by_length(pd.DataFrame({**rows, "tokens": range(1, longest + 1)}))
    assert min(longest, 5) <= len(table) <= BUCKETS


@given(st.lists(st.integers(0, 300), min_size=1))
def test_every_line_is_in_one_bucket(tokens: list[int]) -> None:
    rows = {"decoder": "a", "repeat": 0, "line": range(len(tokens)), "milliseconds": 1.0}
    table = by_length(pd.DataFrame({**rows, "tokens": tokens}))
    assert table["lines"].sum() == len(tokens)
    width = int(table["longest"].iloc[0] - table["shortest"].iloc[0] + 1)
    assert str(width).rstrip("0") in ("1", "2", "5")
    for shortest, longest, lines in table[["shortest", "longest", "lines"]].itertuples(index=False):
        assert lines == sum(shortest <= max(count, 1) <= longest for count in tokens)


def test_speed_ups_are_paired_by_line(samples: pd.DataFrame) -> None:
    shorter = (samples["decoder"] == "big/small/beam5") & (samples["line"] == 5)
    samples.loc[shorter, "milliseconds"] = 10.0
    samples = samples.sort_values("line", ascending=False)
    table = speedups(samples, "raw/base/beam5").sort_values(["decoder", "line"])
    ratios = {name: group["speedup"].tolist() for name, group in table.groupby("decoder")}
    assert ratios == {
        "raw/base/beam5": [1] * 6,
        "raw/base/greedy": pytest.approx([1.25] * 6),
        "big/small/beam5": [2, 2, 2, 2, 2, 3],
        "big/small/greedy": pytest.approx([2.5] * 6),
    }


def test_a_denominator_that_was_not_timed_is_an_error(samples: pd.DataFrame) -> None:
    with pytest.raises(UserError, match=r"raw/base/fast is not among .* raw/base/beam5, "):
        speedups(samples, "raw/base/fast")


def test_stages(tidy: pd.DataFrame) -> None:
    table = by_stage(measured_so(tidy, "toy", "test", "reference", "1"))
    assert list(table.columns) == ["decoder", "preprocess", "encode", "search", "whole"]
    assert table["decoder"].tolist() == NAMES
    greedy = table.iloc[1, 1:].tolist()
    assert greedy == pytest.approx([1.32, 2.64, 9.24, 13.2])


def test_stages_of_other_families_stand_where_they_belong(tidy: pd.DataFrame) -> None:
    rows = measured_so(tidy, "toy", "test", "reference", "1")
    for stage, other in (("encode", "draft"), ("preprocess", "encode")):
        renamed = (rows["target"] == "big") & (rows["metric"] == f"latency_stage_{stage}")
        rows.loc[renamed, "metric"] = f"latency_stage_{other}"
    table = by_stage(rows)
    assert list(table.columns)[1:-1] == ["preprocess", "encode", "draft", "search"]
    assert table["draft"].isna().tolist() == [True, True, False, False]
    assert table["preprocess"].isna().tolist() == [False, False, True, True]


def test_without_stages_there_is_nothing_to_draw(tidy: pd.DataFrame) -> None:
    rows = measured_so(tidy, "toy", "test", "reference", "1")
    with pytest.raises(UserError, match="no stages were timed"):
        by_stage(rows[~rows["metric"].str.contains("stage")])


def test_memory_is_not_among_the_times(tidy: pd.DataFrame) -> None:
    memory = tidy["metric"] == "memory_peak"
    tidy.loc[memory, "device"] = "cpu: X, 1 cores"  # a job of its own, with fewer cores
    rows = measured_so(tidy, "toy", "test", "reference", "1")
    assert set(rows["device"]) == {"cpu: X, 2 cores"}


def test_all_threads_are_the_most(tidy: pd.DataFrame) -> None:
    rows = measured_so(tidy, "toy", "test", "optimised", "all")
    assert set(rows["threads"]) == {"2"}
    assert set(rows["scenario"]) == {"S1"}
    assert set(rows["decoder"]) == {"fast", "eight"}
    with pytest.raises(UserError, match="in the optimised tier, threads 3"):
        measured_so(tidy, "toy", "test", "optimised", "3")
    with pytest.raises(UserError, match="on 'train' of 'toy'"):
        measured_so(tidy, "toy", "train", "optimised", "all")


def test_one_seed_that_differs_is_enough(tidy: pd.DataFrame) -> None:
    (first,) = tidy.index[:1]
    differs = tidy.loc[[first]].assign(metric="differs", tier="", scenario="")
    seeds = [differs.assign(seed=str(seed), value=float(seed == 1)) for seed in (1, 2)]
    rows = measured_so(pd.concat([tidy, *seeds]), "toy", "test", "reference", "1")
    of_first = (rows["system"] == "base") & (rows["decoder"] == tidy.loc[first, "decoder"])
    assert set(rows.loc[of_first, "differs"]) == {1.0}


def test_a_speed_up_is_disturbed_and_differs_where_what_it_is_over_does(
    tidy: pd.DataFrame, samples: pd.DataFrame
) -> None:
    of_base = (tidy["system"] == "base") & (tidy["decoder"] == "beam5")
    tidy.loc[of_base & (tidy["metric"] == "latency_disturbed"), "value"] = 1.0
    differs = tidy[of_base].iloc[:1].assign(metric="differs", value=1.0, tier="", scenario="")
    rows = measured_so(pd.concat([tidy, differs]), "toy", "test", "reference", "1")
    table = with_settings(speedups(samples, NAMES[0]), rows, NAMES[0])
    assert set(table["latency_disturbed"]) == {1.0} and set(table["differs"]) == {1.0}
    alone = with_settings(by_length(samples), rows)  # times are over nothing
    assert set(alone.loc[alone["latency_disturbed"] > 0, "decoder"]) == {NAMES[0]}


def test_stages_are_disturbed_in_repeats_of_their_own(tidy: pd.DataFrame) -> None:
    rows = measured_so(tidy, "toy", "test", "reference", "1")
    own = rows[rows["metric"] == "latency_disturbed"].assign(metric="latency_stages_disturbed")
    of_greedy = (own["system"] == "base") & (own["decoder"] == "greedy")
    own["value"] = of_greedy.astype(float)
    rows = pd.concat([rows, own])
    table = with_settings(by_stage(rows), rows, stages=True)
    assert set(table.loc[table["latency_disturbed"] > 0, "decoder"]) == {NAMES[1]}
    assert not with_settings(by_stage(rows), rows)["latency_disturbed"].any()


def test_every_figure_has_numbers_of_its_own(
    tidy: pd.DataFrame, samples: pd.DataFrame, tmp_path: Path
) -> None:
    samples.to_csv(tmp_path / "x.csv", index=False)
    rows = measured_so(tidy, "toy", "test", "reference", "1")
    tables = {
        "latency_by_length": with_settings(by_length(samples), rows),
        "speedup_distribution": with_settings(speedups(samples, NAMES[0]), rows, NAMES[0]),
        "stages": with_settings(by_stage(rows), rows, stages=True),
    }
    assert set(tables) == set(LATENCY_FIGURES)
    for figure, table in tables.items():
        found = numbers_of(figure, rows, tmp_path / "x.csv", NAMES[0])
        pd.testing.assert_frame_equal(found, table)


def test_samples_are_read(samples: pd.DataFrame, tmp_path: Path) -> None:
    samples.to_csv(tmp_path / "x.csv", index=False)
    pd.testing.assert_frame_equal(read_samples(tmp_path / "x.csv"), samples)
    samples.drop(columns="tokens").to_csv(tmp_path / "lacking.csv", index=False)
    samples.iloc[:0].to_csv(tmp_path / "empty.csv", index=False)
    for name, message in (
        ("none.csv", "no such file"),
        ("lacking.csv", "it has no column tokens"),
        ("empty.csv", "it has no rows"),
    ):
        with pytest.raises(UserError, match=rf"{name}: {message}"):
            read_samples(tmp_path / name)


def test_a_bucket_has_the_median_of_its_lines() -> None:
    rows = {"decoder": "a", "repeat": 0, "line": range(3), "tokens": 5}
    table = by_length(pd.DataFrame({**rows, "milliseconds": [1.0, 2.0, 9.0]}))
    assert table[["lines", "milliseconds"]].to_numpy().tolist() == [[3, 2.0]]
