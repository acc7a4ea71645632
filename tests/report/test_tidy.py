from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fastdecode.errors import UserError
from fastdecode.files import read_json, read_lines, write_csv, write_json
from fastdecode.measure.latency import Sample, Series
from fastdecode.measure.summary import Timings, write_latency
from fastdecode.report.tidy import COLUMNS, MODEL, TIDY, gather

ORIGIN = {"dataset": "toy", "target": "raw", "system": "base", "seed": 1, "device": "cpu: X"}
SPEED = {"tier": "reference", "scenario": "S1", "threads": 1}
SUMMARY = {
    "batch": 1,
    "precision": "fp32",
    "mean": 5.5,
    "median": 5.25,
    "p90": 7.0,
    "p99": 9.0,
    "sd": 0.1 + 0.2,
    "n": 150,
    "tokens": 12.5,
    "passes": 13.0,
    "disturbed": False,
    "bytes_per_pass": 1_000_000,
    "floor_fraction": 0.25,
    "stages": {"decode": 5.0, "unaccounted": 0.5},
}


def training(path: Path, **origin: Any) -> Path:
    more = {"decoder": None, "commit": "c0ffee"}
    write_json(
        path,
        {
            "provenance": {**ORIGIN, **more, **origin},
            "family": "autoregressive",
            "layers": "3-3",
            "parameters": 1_234_567,
            "updates": 2000,
            "epochs": 10,
            "seconds": 61.5,
        },
    )
    return path


def quality(path: Path, **origin: Any) -> Path:
    more = {"decoder": "beam5", "split": "test", "commit": "c0ffee"}
    metrics = {
        "bleu": {"value": 33.3333333333333357, "unit": "BLEU", "signature": "nrefs:1|case:mixed"},
        "hypotheses": {"value": 500, "unit": "lines", "signature": None},
    }
    write_json(path, {"provenance": {**ORIGIN, **more, **origin}, "metrics": metrics})
    return path


def measured(path: Path, rows: list[dict[str, Any]], **origin: Any) -> Path:
    """Write rows for each of two decoders, whose origin is the file's."""
    more = {"system": None, "seed": None, "split": "test", "commit": "c0ffee"}
    rows = [
        {"target": "raw", "system": "base", "seed": 1, "decoder": decoder, **row}
        for decoder in ("beam5", "greedy")
        for row in rows
    ]
    write_json(path, {"provenance": {**ORIGIN, **more, **origin}, "rows": rows})
    return path


def latency(path: Path, **origin: Any) -> Path:
    return measured(path, [SUMMARY], **{**SPEED, **origin})


def sweep(path: Path) -> Path:
    rates = {"sentences_per_second": 80.0, "tokens_per_second": 960.0}
    rows = [{**SUMMARY, **rates, "batch": batch} for batch in (8, 32)]
    return measured(path, rows, **{**SPEED, "scenario": "Smax"})


def memory(path: Path, **more: Any) -> Path:
    row = {"tier": "reference", "precision": "int8", "start": 1, "loaded": 250_000_000}
    rows = [{**row, "batch": batch, "peak": batch * 10**6, **more} for batch in (1, 8)]
    rows.append({**row, "batch": 32, "left_out": "memory is full"})
    return measured(path, rows, threads=1)


def test_one_value_a_row(tmp_path: Path) -> None:
    tidy = gather(
        "demo",
        [training(tmp_path / "train.json")],
        [quality(tmp_path / "quality.json")],
        [latency(tmp_path / "latency.json")],
        [memory(tmp_path / "memory.json")],
    )
    assert list(tidy.columns) == COLUMNS
    assert tidy["metric"].value_counts().to_dict()["latency_median"] == 2
    assert len(tidy) == 3 + 2 + 2 * (11 + 2) + 2 * 3
    assert not tidy["unit"].eq("").any()
    assert set(tidy["family"]) == {"autoregressive"}
    assert set(tidy["parameters"]) == {"1234567"}

    bleu = tidy[tidy["metric"] == "bleu"].iloc[0].to_dict()
    assert bleu == {
        "run": "demo",
        "dataset": "toy",
        "target": "raw",
        "system": "base",
        "seed": "1",
        "family": "autoregressive",
        "layers": "3-3",
        "parameters": "1234567",
        "decoder": "beam5",
        "split": "test",
        "metric": "bleu",
        "value": 33.3333333333333357,
        "unit": "BLEU",
        "signature": "nrefs:1|case:mixed",
        "device": "cpu: X",
        "tier": "",
        "scenario": "",
        "threads": "",
        "precision": "",
        "commit": "c0ffee",
        "batch": "",
    }
    greedy = tidy[(tidy["metric"] == "latency_p99") & (tidy["decoder"] == "greedy")].iloc[0]
    assert (greedy["value"], greedy["unit"], greedy["tier"]) == (9.0, "ms/batch", "reference")
    assert (greedy["threads"], greedy["precision"], greedy["scenario"]) == ("1", "fp32", "S1")
    assert greedy["batch"] == "1"
    seconds = tidy[tidy["metric"] == "train_seconds"].iloc[0]
    assert (seconds["value"], seconds["unit"], seconds["split"]) == (61.5, "s", "")


def test_what_did_not_fit_is_of_its_decoder(tmp_path: Path) -> None:
    path = sweep(tmp_path / "sweep.json")
    document = read_json(path)
    labels = {key: document["rows"][0][key] for key in (*MODEL[1:], "decoder", "precision")}
    reason = {"batch": 64, "reason": "memory is full"}
    document["left_out"] = [{"name": None, **reason}, {"name": "x", **reason, **labels}]
    write_json(path, document)
    tidy = gather("demo", [training(tmp_path / "train.json")], [], [path], [])
    (row,) = tidy[tidy["metric"] == "latency_left_out"].to_dict("records")
    assert (row["decoder"], row["batch"], row["scenario"]) == (labels["decoder"], "64", "Smax")


def speeds(tidy: pd.DataFrame, metric: str) -> dict[tuple[str, str], float]:
    """Return the values of greedy's metric by scenario and batch."""
    rows = tidy[(tidy["metric"] == metric) & (tidy["decoder"] == "greedy")]
    return dict(zip(zip(rows["scenario"], rows["batch"], strict=True), rows["value"], strict=True))


def test_speeds_of_every_batch_size_with_stages_and_throughput(tmp_path: Path) -> None:
    tidy = gather(
        "demo",
        [training(tmp_path / "train.json")],
        [],
        [latency(tmp_path / "latency.json"), sweep(tmp_path / "sweep.json")],
        [],
    )
    everywhere = [("S1", "1"), ("Smax", "8"), ("Smax", "32")]
    assert speeds(tidy, "latency_median") == dict.fromkeys(everywhere, 5.25)
    assert speeds(tidy, "latency_floor_fraction") == dict.fromkeys(everywhere, 0.25)
    assert speeds(tidy, "latency_stage_unaccounted") == dict.fromkeys(everywhere, 0.5)
    assert speeds(tidy, "throughput_sentences") == dict.fromkeys(everywhere[1:], 80)
    assert speeds(tidy, "throughput_tokens") == dict.fromkeys(everywhere[1:], 960)
    units = dict(zip(tidy["metric"], tidy["unit"], strict=True))
    assert units["latency_stage_decode"] == "ms/line"
    assert units["throughput_tokens"] == "tokens/s"


def test_memory_in_megabytes(tmp_path: Path) -> None:
    trained = [training(tmp_path / "train.json")]
    tidy = gather("demo", trained, [], [], [memory(tmp_path / "memory.json")])
    assert speeds(tidy, "memory_loaded") == {("S1", "1"): 250}
    assert speeds(tidy, "memory_peak") == {("S1", "1"): 1, ("Smax", "8"): 8}  # 32 did not fit
    assert speeds(tidy, "memory_allocator_peak") == {}
    rows = tidy[tidy["metric"] == "memory_peak"]
    assert set(zip(rows["unit"], rows["threads"], rows["precision"], strict=True)) == {
        ("MB", "1", "int8")
    }
    on_gpu = [memory(tmp_path / "gpu.json", allocator_peak=2_500_000, allocator_reserved=3)]
    tidy = gather("demo", trained, [], [], on_gpu)
    assert speeds(tidy, "memory_allocator_peak") == {("S1", "1"): 2.5, ("Smax", "8"): 2.5}


def test_what_the_latency_measurement_writes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "latency.json"
    labels = {"target": "raw", "system": "base", "decoder": "beam5", "seed": 1, "tier": "reference"}
    labels |= {"precision": "fp32", "bytes_per_pass": 500_000, "layers_once": 2}
    labels |= {"layers_per_pass": 3}
    samples = [Sample("a", 8, repeat, 0, 8.0, 8, 40, 6) for repeat in range(3)]
    series = [Series("a", 8, samples, [Counter({"decode": 0.032}) for _ in samples])]
    timings = Timings([0], 20, [], {"a": labels}, series, series)
    origin = read_json(latency(tmp_path / "other.json", scenario="Smax"))["provenance"]
    tables = tmp_path / "samples.csv", tmp_path / "stages.csv"
    write_latency(path, *tables, origin, timings, bandwidth=10.0)
    tidy = gather("demo", [training(tmp_path / "train.json")], [], [path], [])
    values = dict(zip(tidy["metric"], tidy["value"], strict=True))
    assert (values["latency_median"], values["latency_passes"], values["latency_n"]) == (8, 6, 3)
    assert values["latency_floor_fraction"] == pytest.approx(0.3 / 8)
    assert values["latency_serial_layers"] == 2 + 3 * 6
    assert values["latency_stage_decode"] == pytest.approx(4)
    assert values["throughput_sentences"] == pytest.approx(1000)


def test_the_csv_keeps_every_digit(tmp_path: Path) -> None:
    tidy = gather(
        "demo", [training(tmp_path / "t.json")], [], [latency(tmp_path / "latency.json")], []
    )
    write_csv(tmp_path / "tidy.csv", tidy)
    again = TIDY.read(tmp_path / "tidy.csv")
    assert again.equals(tidy)
    assert 0.1 + 0.2 in again["value"].tolist()
    assert next(read_lines(tmp_path / "tidy.csv")) == ",".join(COLUMNS)


def test_who_does_not_write_what_it_has_to_is_told(tmp_path: Path) -> None:
    model = {"target": "raw", "system": "base", "seed": 1, "lines": 100}
    found = [{"gap": 0.5}] * 2
    rows = [
        {**model, "decoder": "beam5", "twin": "a", "differences": []},
        {**model, "decoder": "beam5", "twin": "b", "differences": found},
        {**model, "decoder": "greedy", "twin": "a", "differences": found[:1]},
    ]
    path = tmp_path / "agreement.json"
    write_json(path, {"provenance": {**ORIGIN, "split": "test", "commit": "c"}, "rows": rows})
    tidy = gather("demo", [training(tmp_path / "t.json")], [], [], [], [path])
    told = tidy[tidy["metric"] == "differs"]
    assert dict(zip(told["decoder"], told["value"], strict=True)) == {"beam5": 1, "greedy": 0}
    assert set(told["split"]) == {"test"}


def test_a_measurement_needs_its_training(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"quality.json: no train.json for toy raw base 2"):
        gather(
            "demo",
            [training(tmp_path / "train.json")],
            [quality(tmp_path / "quality.json", seed=2)],
            [],
            [],
        )


def test_no_value_counts_twice(tmp_path: Path) -> None:
    trained = [training(tmp_path / "train.json")]
    timed = [latency(tmp_path / "a.json"), latency(tmp_path / "b.json", tier="optimised")]
    gather("demo", trained, [], timed, [])
    with pytest.raises(UserError, match=r"a.json and .*c.json both give toy raw base 1 beam5"):
        gather("demo", trained, [], [*timed, latency(tmp_path / "c.json")], [])


def test_all_threads_that_are_a_number_count_once(tmp_path: Path) -> None:
    """Where a cluster's node has as many cores as the number that was timed beside all."""
    trained = [training(tmp_path / "train.json")]
    every = latency(tmp_path / "toy.test.reference.S1.threadsall.json", threads=8)
    eight = latency(tmp_path / "toy.test.reference.S1.threads8.json", threads=8)
    once = gather("demo", trained, [], [eight], [])
    assert gather("demo", trained, [], [every, eight], []).equals(once)
    assert gather("demo", trained, [], [every], []).equals(once)


def test_a_batch_that_did_not_fit_is_not_filled_in_from_the_times_of_all_threads(
    tmp_path: Path,
) -> None:
    trained = [training(tmp_path / "train.json")]
    every = sweep(tmp_path / "toy.test.reference.Smax.threadsall.json")
    eight = sweep(tmp_path / "toy.test.reference.Smax.threads1.json")
    document = read_json(eight)
    document["rows"] = [row for row in document["rows"] if row["batch"] == 8]
    write_json(eight, document)
    assert set(gather("demo", trained, [], [every, eight], [])["batch"]) == {"", "8"}
    assert set(gather("demo", trained, [], [every], [])["batch"]) == {"", "8", "32"}


@pytest.mark.parametrize("key", ["tier", "split", "threads", "commit"])
def test_a_file_that_lacks_a_key_is_named(tmp_path: Path, key: str) -> None:
    path = latency(tmp_path / "latency.json")
    document = read_json(path)
    del document["provenance"][key]
    write_json(path, document)
    with pytest.raises(UserError, match=rf"latency.json: it has no '{key}'"):
        gather("demo", [training(tmp_path / "train.json")], [], [path], [])


def test_another_csv_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UserError, match="columns"):
        TIDY.read(tmp_path / "x.csv")
    with pytest.raises(UserError, match="no such file"):
        TIDY.read(tmp_path / "y.csv")
