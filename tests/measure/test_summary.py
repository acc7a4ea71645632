import csv
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.errors import UserError
from fastdecode.files import read_json
from fastdecode.measure.disturbance import WARMUP, Usage
from fastdecode.measure.latency import Sample, Series
from fastdecode.measure.summary import (
    Timings,
    stage_times,
    summarise,
    summarise_series,
    throughput,
    write_latency,
)

LABELS = {"target": "raw", "system": "base", "seed": 1, "tier": "reference", "precision": "fp32"}
COSTS = {"bytes_per_pass": 3_000_000, "layers_once": 3, "layers_per_pass": 2}


def test_summary_of_known_numbers() -> None:
    summary = summarise([float(number) for number in range(101)])
    assert summary == {
        "mean": 50,
        "median": 50,
        "p90": 90,
        "p99": 99,
        "sd": pytest.approx(850**0.5),
        "n": 101,
    }
    assert summarise([3.0])["sd"] == 0
    with pytest.raises(UserError):
        summarise([])


@given(st.lists(st.floats(0, 1e6), min_size=1))
def test_percentiles_are_in_order(samples: list[float]) -> None:
    summary = summarise(samples)
    ordered = [min(samples), *(summary[name] for name in ("median", "p90", "p99")), max(samples)]
    assert ordered == pytest.approx(sorted(ordered))


def series(*medians: float, batch: int = 1, name: str = "x") -> Series:
    """Three batches a repeat: 1 ms below, at and above the median; 4 tokens a sentence."""
    samples = [
        Sample(name, batch, repeat, line * batch, median + line - 1, batch, 4 * batch, 5 + line)
        for repeat, median in enumerate(medians)
        for line in range(3)
    ]
    return Series(name, batch, samples, [Counter() for _ in samples])


def test_a_series() -> None:
    row = summarise_series(series(100, 105, 110, 104, 106, batch=8), WARMUP)
    assert (row["mean"], row["median"], row["n"]) == (105, 105, 15)
    assert (row["tokens"], row["passes"]) == (4, 6)  # a sentence; a batch
    assert row["repeat_medians"] == [100, 105, 110, 104, 106]
    assert (row["disturbed"], row["disturbances"], row["others"]) == (False, [], None)


def test_a_disturbed_series_says_why() -> None:
    one = series(100, 111, 100, 100, 100)
    one.turns.append((Usage(0, 0, 0), Usage(10, 9, 15)))
    row = summarise_series(one, WARMUP - 1)
    assert row["others"] == 0.6
    assert row["disturbed"] is True
    assert row["disturbances"] == [
        "drift 11%",
        "others used 0.6 cores",
        "19 sentences of warm-up",
    ]


def test_throughput_is_the_median_over_whole_repeats() -> None:
    rates = throughput(series(100, 200, 400, batch=8).samples)
    assert rates == {
        "sentences_per_second": pytest.approx(3 * 8 / 0.6),
        "tokens_per_second": pytest.approx(3 * 8 * 4 / 0.6),
    }


@given(st.lists(st.floats(0, 10), min_size=1, max_size=5))
def test_stages_sum_to_the_whole(seconds: list[float]) -> None:
    one = series(100, 300, batch=2)
    assert stage_times(one) == {}
    one.laps[0].update({str(stage): time for stage, time in enumerate(seconds)})
    times = stage_times(one)
    sentences = 2 * 3 * 2
    assert times["0"] == pytest.approx(1e3 * seconds[0] / sentences)
    assert sum(times.values()) == pytest.approx(
        sum(s.milliseconds for s in one.samples) / sentences
    )


def timings(*measured: Series, staged: list[Series] | None = None) -> Timings:
    labels = {one.decoder: {**LABELS, **COSTS} for one in measured}
    return Timings([4, 2], 20, [64], labels, list(measured), staged or list(measured))


def written(
    folder: Path, result: Timings, scenario: str = "Smax"
) -> dict[str, list[dict[str, object]]]:
    origin = {"device": "cpu", "scenario": scenario}
    files = (folder / f"l.{name}" for name in ("json", "samples.csv", "stages.csv"))
    write_latency(*files, origin, result, 30.0)
    document: dict[str, list[dict[str, object]]] = read_json(folder / "l.json")
    assert document["provenance"] == origin
    return document


def test_files(tmp_path: Path) -> None:
    one, other = series(5, 6, name="a"), series(7, batch=8, name="b")
    one.laps[0]["decode"] = 0.03
    document = written(tmp_path, timings(one, other))
    assert [(row["name"], row["batch"]) for row in document["rows"]] == [("a", 1), ("b", 8)]
    row = document["rows"][0]
    assert row == {
        "name": "a",
        "batch": 1,
        **LABELS,
        **COSTS,
        **summarise_series(one, 20),
        **throughput(one.samples),
        # 3 MB × 6 passes at 30 GB/s are 0.6 ms
        "floor_fraction": pytest.approx(0.6 / 5.5),
        "serial_layers": 3 + 2 * 6,
        "stages": {"decode": 5.0, "unaccounted": 0.5},
        "stages_disturbed": True,  # of two repeats
    }
    assert (document["rows"][1]["stages"], document["rows"][1]["stages_disturbed"]) == ({}, False)
    assert document["bandwidth"] == 30
    assert document["left_out"] == [
        {"name": None, "batch": 64, "reason": "the lines do not fill it"}
    ]
    assert "sentences_per_second" not in written(tmp_path, timings(one), "S1")["rows"][0]


def test_the_floor_is_a_share_of_the_mean_as_passes_are(tmp_path: Path) -> None:
    (row,) = written(tmp_path, timings(series(5, 5, 50)))["rows"]
    assert (row["mean"], row["median"]) == (20, 6)
    assert row["floor_fraction"] == pytest.approx(0.6 / 20)


def test_the_samples_are_all_there_as_they_were(tmp_path: Path) -> None:
    one, other = series(5.1, 1 / 3, name="a"), series(7, batch=8, name="b")
    other.stopped = "memory is full"
    document = written(tmp_path, timings(one, other))
    assert document["samples"] == "l.samples.csv"
    with (tmp_path / "l.samples.csv").open() as file:
        raw = list(csv.DictReader(file))
    assert ",".join(raw[0]) == "decoder,batch,repeat,line,milliseconds,sentences,tokens,passes"
    expected = [*one.samples, *other.samples]
    assert [float(row["milliseconds"]) for row in raw] == [s.milliseconds for s in expected]
    assert [row["batch"] for row in raw] == ["1"] * 6 + ["8"] * 3


def test_what_did_not_fit_has_its_reason_and_no_row(tmp_path: Path) -> None:
    one, other = series(5, name="a"), series(7, batch=8, name="a")
    other.stopped = "memory is full"
    document = written(tmp_path, timings(one, other))
    assert [row["batch"] for row in document["rows"]] == [1]
    missing = {"name": "a", "batch": 8, **LABELS, **COSTS}
    missing["reason"] = "memory is full"
    assert missing in document["left_out"]


@pytest.mark.parametrize("quiet", ["whole", "stages"])
def test_stages_of_other_repeats_are_disturbed_on_their_own(tmp_path: Path, quiet: str) -> None:
    steady, drifting = series(*[100.0] * 5, name="a"), series(*[100.0] * 4, 150, name="a")
    whole, staged = (steady, drifting) if quiet == "whole" else (drifting, steady)
    staged.laps[0]["decode"] = 0.03
    (row,) = written(tmp_path, timings(whole, staged=[staged]))["rows"]
    assert (row["disturbed"], row["stages_disturbed"]) == (quiet != "whole", quiet != "stages")


def test_stages_may_come_from_other_decoders(tmp_path: Path) -> None:
    one, staged = series(5, name="a"), series(9, name="a")
    staged.laps[1]["decode"] = 0.024
    (row,) = written(tmp_path, timings(one, staged=[staged]))["rows"]
    assert row["stages"] == {"decode": 8.0, "unaccounted": 1.0}
    with (tmp_path / "l.stages.csv").open() as file:
        stage, rest = csv.DictReader(file)
    sample = staged.samples[1]
    assert stage == {
        "decoder": "a",
        "batch": "1",
        "repeat": "0",
        "line": str(sample.line),
        "tokens": str(sample.tokens),
        "stage": "decode",
        "milliseconds": "24.0",
    }
    left = str(sample.milliseconds - 24.0)
    assert rest == stage | {"stage": "unaccounted", "milliseconds": left}


def test_a_decoder_without_samples_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError):
        written(tmp_path, timings(Series("x", 1)))
    assert not list(tmp_path.iterdir())


def test_passes_are_a_mean_and_repeats_have_medians() -> None:
    one = series(5)
    values = zip(one.samples, (1.0, 2.0, 9.0), (1, 1, 7), strict=True)
    one.samples = [s._replace(milliseconds=time, passes=passes) for s, time, passes in values]
    row = summarise_series(one, WARMUP)
    assert (row["passes"], row["repeat_medians"]) == (3, [2.0])
