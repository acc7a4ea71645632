import pandas as pd
import pytest

from fastdecode.report.latex import to_latex
from fastdecode.report.speed_numbers import did_not_fit, speed_rows
from fastdecode.report.speed_table import speed_table
from fastdecode.report.tables import to_markdown
from tests.report.test_speed_numbers import OVER, picked, rows_of


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
    assert "≠" not in speed_table(rows_of(tidy)).caption
    one = picked(tidy, decoder="fast", target="raw").iloc[:1].assign(metric="differs", value=1.0)
    empty = dict.fromkeys(("tier", "scenario", "threads", "precision", "batch"), "")
    table = speed_table(rows_of(pd.concat([tidy, one.assign(**empty)])))
    marked = table.frame[table.frame["median ms"].str.endswith("≠")]
    assert set(zip(marked["target"], marked["decoder"], strict=True)) == {("raw", "fast")}
    assert len(marked) == 2 and "≠: on more than 1% of the lines" in table.caption
    over = table.frame[table.frame["tier"] == "optimised"]  # that it is the denominator of
    assert over.loc[over["speed-up"] != "–", "speed-up"].str.endswith("≠").all()


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
