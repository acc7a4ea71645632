from pathlib import Path

import pandas as pd
import pytest

from fastdecode.errors import UserError
from fastdecode.files import write_csv
from fastdecode.report.latex import to_latex
from fastdecode.report.speed import (
    COLUMNS,
    LATER,
    SPEEDS,
    did_not_fit,
    precision_of,
    speed_rows,
    speed_table,
)
from fastdecode.report.tables import to_markdown

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


def test_the_printed_table(tidy: pd.DataFrame) -> None:
    table = speed_table(rows_of(tidy))
    assert table.frame.iloc[1].to_dict() == {
        "tier": "reference",
        "threads": "1",
        "precision": "fp32",
        "system": "base",
        "target": "raw",
        "decoder": "greedy",
        "layers": "3-3",
        "parameters": "1.23 M",
        "BLEU": "30.80",
        "median ms": "12.00",
        "mean ms": "13.20",
        "p90 ms": "24.00",
        "p99 ms": "36.00",
        "speed-up": "×1.25",
        "tokens": "12.8",
        "passes": "13.8",
        "layers in turn": "31",
        "MB a pass": "1.25",
        "floor": "12.5%",
        "peak MB": "300",
    }
    assert picked(table.frame, threads="2")["peak MB"].unique().tolist() == ["–"]
    eight = picked(table.frame, decoder="eight")
    assert eight["precision"].unique().tolist() == ["int8 over fp32"]
    for part in (
        "toy, test, seed 1, S1: one sentence at a time, times in ms a sentence, ",
        "on cpu: X, 2 cores.",
        "Speed-ups in the reference tier are over base (raw) with beam5.",
        "Speed-ups in the optimised tier are over base (raw) with fast.",
        "Ratios are of medians,",
        "Layers in turn: ",
        "Floor: ",
        "BLEU: bleu|v1.",
        "–: not measured.",
    ):
        assert part in table.caption
    assert "†" not in table.caption
    assert "| reference | 1 | fp32 | base | raw |" in to_markdown(table.frame, table.caption)
    assert r"12.5\%" in to_latex(table, "tab:x")


def test_the_caption_says_how_many_samples_times_are_of(tidy: pd.DataFrame) -> None:
    medians = tidy[tidy["metric"] == "latency_median"]
    counts = medians.assign(metric="latency_n", value=100.0, unit="samples")
    batched = counts["scenario"] == "Smax"
    counts.loc[batched, "value"] = 4.0
    counts.loc[batched & (counts["decoder"] == "greedy"), "value"] = 8.0
    more = pd.concat([tidy, counts])
    for scenario, said in (("S1", "100 samples, lines"), ("Smax", "4 to 8 samples, batches")):
        caption = speed_table(rows_of(more, scenario)).caption
        assert f"Every time is of {said} by repeats." in caption


def test_the_printed_table_in_batches(tidy: pd.DataFrame) -> None:
    table = speed_table(rows_of(tidy, "Smax"))
    printed = table.frame.iloc[1].to_dict()
    assert list(printed)[-6:] == [
        "batch",
        "sentences/s",
        "tokens/s",
        "speed-up",
        "ms a batch",
        "peak MB",
    ]
    assert list(printed.values())[-6:] == ["8", "250.0", "3200", "×1.25", "32.00", "420"]
    assert "Ratios are of sentences a second" in table.caption
    assert "Floor" not in table.caption


def test_a_disturbed_timing_is_marked(tidy: pd.DataFrame) -> None:
    where = {"metric": "latency_disturbed", "decoder": "greedy", "threads": "2", "target": "raw"}
    tidy.loc[picked(tidy, **where).index, "value"] = 1.0
    for scenario, heading in (("S1", "median ms"), ("Smax", "sentences/s")):
        table = speed_table(rows_of(tidy, scenario))
        marked = [cell.endswith("†") for cell in table.frame[heading]]
        assert [number for number, mark in enumerate(marked) if mark] == [5]
        assert "†: the machine was disturbed" in table.caption
        marked = [cell.endswith("†") for cell in table.frame["speed-up"]]
        assert [number for number, mark in enumerate(marked) if mark] == [5]


def test_a_ratio_is_marked_if_its_denominator_is_disturbed(tidy: pd.DataFrame) -> None:
    where = {"metric": "latency_disturbed", "decoder": "beam5", "threads": "2", "target": "raw"}
    tidy.loc[picked(tidy, **where).index, "value"] = 1.0
    for scenario, heading in (("S1", "median ms"), ("Smax", "sentences/s")):
        frame = speed_table(rows_of(tidy, scenario)).frame
        times, ratios = ([c.endswith("†") for c in frame[h]] for h in (heading, "speed-up"))
        assert [number for number, mark in enumerate(times) if mark] == [4]
        reference = (frame["tier"] == "reference") & (frame["threads"] == "2")
        assert ratios == reference.tolist()


def test_times_of_random_weights_are_marked(tidy: pd.DataFrame) -> None:
    tidy["target"] = tidy["target"].replace("raw", "untrained")
    over = {"reference": "big/small/beam5", "optimised": "untrained/base/fast"}
    table = speed_table(speed_rows(tidy, "toy", "test", "S1", over))
    random = table.frame["target"] == "untrained"
    optimised = table.frame["tier"] == "optimised"
    for heading, marked in (("median ms", random), ("speed-up", random | optimised)):
        assert [cell.endswith("‡") for cell in table.frame[heading]] == marked.tolist()
    assert "‡: random weights" in table.caption


def test_memory_stands_beside_the_fewest_threads(tidy: pd.DataFrame) -> None:
    memory = tidy["metric"].str.startswith("memory")
    frame = speed_table(rows_of(tidy[memory | (tidy["threads"] == "2")])).frame
    assert frame["threads"].unique().tolist() == ["2"]
    assert frame["peak MB"].tolist()[:2] == ["300", "300"]


def test_what_did_not_fit_stands_in_the_caption(tidy: pd.DataFrame) -> None:
    where = {"metric": "latency_median", "decoder": "greedy", "target": "raw", "scenario": "Smax"}
    missing = picked(tidy, **where).assign(metric="latency_left_out", value=1.0)
    tidy = pd.concat([tidy, missing.assign(batch="64"), missing.assign(batch="32")])
    said = did_not_fit(tidy, "toy", "test", "Smax")
    assert said == ["base (raw) with greedy from 32 on"]
    assert did_not_fit(tidy, "toy", "test", "S1") == []
    caption = speed_table(rows_of(tidy, "Smax"), said).caption
    assert "Memory did not suffice: base (raw) with greedy from 32 on." in caption


def test_what_writes_something_else_is_marked(tidy: pd.DataFrame) -> None:
    table = speed_table(rows_of(tidy), apart={("raw", "base", "fast")})
    marked = table.frame[table.frame["decoder"].str.endswith("≠")]
    assert set(zip(marked["target"], marked["decoder"], strict=True)) == {("raw", "fast≠")}
    assert len(marked) == 2 and "≠: on more than 1% of the lines" in table.caption
    assert "≠" not in speed_table(rows_of(tidy)).caption


@pytest.mark.parametrize("coarse", ["int8", "none"])
def test_a_run_in_half_precision(tidy: pd.DataFrame, coarse: str) -> None:
    tidy["precision"] = tidy["precision"].replace({"fp32": "bf16", "int8": coarse})
    tidy = tidy[tidy["precision"] != "none"]
    rows = rows_of(tidy)
    assert precision_of(rows) == "bf16"
    assert set(rows["over_precision"]) == {"bf16"}


def test_a_gpus_own_memory_goes_before_that_of_the_process(tidy: pd.DataFrame) -> None:
    more = picked(tidy, metric="memory_peak", decoder="greedy", target="raw")
    more = more.assign(metric="memory_allocator_peak", value=77.0)
    both = pd.concat([tidy, more])
    assert speed_table(rows_of(both)).frame["peak MB"].tolist()[:2] == ["300", "300"]
    table = speed_table(rows_of(both.assign(device="NVIDIA H200")))
    assert table.frame["peak MB"].tolist()[:2] == ["–", "77"]  # –: of another allocator


def test_what_was_not_measured_is_no_number(tidy: pd.DataFrame) -> None:
    bare = tidy[tidy["metric"].isin(["latency_median", "latency_disturbed"])]
    printed = speed_table(rows_of(bare)).frame.iloc[1]
    assert printed["median ms"] == "12.00"
    assert (printed["BLEU"], printed["p99 ms"], printed["floor"]) == ("–", "–", "–")


@pytest.mark.parametrize("over", [{"reference": "raw/base/beam5"}, OVER | {"optimised": None}])
def test_a_tier_without_denominator_has_no_ratios(
    tidy: pd.DataFrame, over: dict[str, str | None]
) -> None:
    rows = speed_rows(tidy, "toy", "test", "S1", over)
    assert picked(rows, tier="optimised")["speedup"].isna().all()
    assert picked(rows, tier="reference")["speedup"].notna().all()
    caption = speed_table(rows).caption
    assert "In the optimised tier nothing was timed that speed-ups could be over." in caption


def test_bleu_is_of_the_seed_that_was_timed(tidy: pd.DataFrame) -> None:
    other = picked(tidy, metric="bleu").assign(seed="2", value=99.0)
    assert rows_of(pd.concat([other, tidy])).equals(rows_of(tidy))


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
        assert older.columns.equals(rows.columns) and older[lacking].isna().all(axis=None)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    for name, message in (("other.csv", "its columns are not"), ("none.csv", "no such file")):
        with pytest.raises(UserError, match=message):
            SPEEDS.read(tmp_path / name)


def test_sixteen_bits_of_one_decoder_are_compared_too(tidy: pd.DataFrame) -> None:
    tidy.loc[tidy["decoder"] == "eight", "precision"] = "bf16"
    rows = speed_rows(tidy, "toy", "test", "S1", OVER)
    (over,) = rows.loc[rows["decoder"] == "eight", "over_precision"].unique()
    assert over == "fp32"
