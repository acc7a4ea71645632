from pathlib import Path
from typing import Any

import pytest

from fastdecode.errors import UserError
from fastdecode.files import read_json, read_lines, write_json
from fastdecode.measure.latency import Sample, write_latency
from fastdecode.report.tidy import COLUMNS, gather, read_tidy, write_tidy

ORIGIN = {"dataset": "toy", "target": "raw", "system": "base", "seed": 1, "device": "cpu: X"}
SPEED = {"tier": "reference", "scenario": "S1", "threads": 1, "precision": "fp32"}
SUMMARY = {
    **{"mean": 5.5, "median": 5.25, "p90": 7.0, "p99": 9.0, "sd": 0.1 + 0.2, "n": 150},
    **{"tokens": 12.5, "passes": 13.0, "disturbed": False},
}


def training(path: Path, **origin: Any) -> Path:
    more = {"family": "autoregressive", "decoder": None, "commit": "c0ffee"}
    write_json(
        path,
        {
            "provenance": {**ORIGIN, **more, **origin},
            **{"layers": "3-3", "parameters": 1_234_567},
            **{"updates": 2000, "epochs": 10, "seconds": 61.5},
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


def latency(path: Path, **origin: Any) -> Path:
    more = {"system": None, "seed": None, "split": "test", "commit": "c0ffee"}
    rows = [
        {"target": "raw", "system": "base", "seed": 1, "decoder": decoder, **SUMMARY}
        for decoder in ("beam5", "greedy")
    ]
    write_json(path, {"provenance": {**ORIGIN, **more, **SPEED, **origin}, "rows": rows})
    return path


def test_one_value_a_row(tmp_path: Path) -> None:
    tidy = gather(
        "demo",
        [training(tmp_path / "train.json")],
        [quality(tmp_path / "quality.json")],
        [latency(tmp_path / "latency.json")],
    )
    assert list(tidy.columns) == COLUMNS
    assert tidy["metric"].value_counts().to_dict()["latency_median"] == 2
    assert len(tidy) == 3 + 2 + 2 * 9
    assert set(tidy["family"]) == {"autoregressive"}
    assert set(tidy["parameters"]) == {"1234567"}

    bleu = tidy[tidy["metric"] == "bleu"].iloc[0].to_dict()
    assert bleu == {
        **{"run": "demo", "dataset": "toy", "target": "raw", "system": "base", "seed": "1"},
        **{"family": "autoregressive", "layers": "3-3", "parameters": "1234567"},
        **{"decoder": "beam5", "split": "test", "metric": "bleu", "value": 33.3333333333333357},
        **{"unit": "BLEU", "signature": "nrefs:1|case:mixed", "device": "cpu: X"},
        **{"tier": "", "scenario": "", "threads": "", "precision": "", "commit": "c0ffee"},
    }
    greedy = tidy[(tidy["metric"] == "latency_p99") & (tidy["decoder"] == "greedy")].iloc[0]
    assert (greedy["value"], greedy["unit"], greedy["tier"]) == (9.0, "ms", "reference")
    assert (greedy["threads"], greedy["precision"], greedy["scenario"]) == ("1", "fp32", "S1")
    seconds = tidy[tidy["metric"] == "train_seconds"].iloc[0]
    assert (seconds["value"], seconds["unit"], seconds["split"]) == (61.5, "s", "")


def test_what_the_latency_measurement_writes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "latency.json"
    timed = {"a": {"target": "raw", "system": "base", "decoder": "beam5", "seed": 1}}
    samples = [Sample("a", repeat, 0, 8.0, 5, 6) for repeat in range(3)]
    origin = read_json(latency(tmp_path / "other.json"))["provenance"]
    write_latency(path, tmp_path / "latency.csv", origin, timed, samples)
    tidy = gather("demo", [training(tmp_path / "train.json")], [], [path])
    values = dict(zip(tidy["metric"], tidy["value"], strict=True))
    assert (values["latency_median"], values["latency_passes"], values["latency_n"]) == (8, 6, 3)


def test_the_csv_keeps_every_digit(tmp_path: Path) -> None:
    tidy = gather("demo", [training(tmp_path / "t.json")], [], [latency(tmp_path / "latency.json")])
    write_tidy(tmp_path / "tidy.csv", tidy)
    again = read_tidy(tmp_path / "tidy.csv")
    assert again.equals(tidy)
    assert 0.1 + 0.2 in again["value"].tolist()
    assert next(read_lines(tmp_path / "tidy.csv")) == ",".join(COLUMNS)


def test_a_measurement_needs_its_training(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"quality.json: no train.json for toy raw base 2"):
        gather(
            "demo",
            [training(tmp_path / "train.json")],
            [quality(tmp_path / "quality.json", seed=2)],
            [],
        )


def test_no_value_counts_twice(tmp_path: Path) -> None:
    trained = [training(tmp_path / "train.json")]
    timed = [latency(tmp_path / "a.json"), latency(tmp_path / "b.json", tier="optimised")]
    gather("demo", trained, [], timed)
    with pytest.raises(UserError, match=r"a.json and .*c.json both give toy raw base 1 beam5"):
        gather("demo", trained, [], [*timed, latency(tmp_path / "c.json")])


@pytest.mark.parametrize("key", ["tier", "split", "precision", "commit"])
def test_a_file_that_lacks_a_key_is_named(tmp_path: Path, key: str) -> None:
    path = latency(tmp_path / "latency.json")
    document = read_json(path)
    del document["provenance"][key]
    write_json(path, document)
    with pytest.raises(UserError, match=rf"latency.json: it has no '{key}'"):
        gather("demo", [training(tmp_path / "train.json")], [], [path])


def test_another_csv_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UserError, match="columns"):
        read_tidy(tmp_path / "x.csv")
    with pytest.raises(UserError, match="no such file"):
        read_tidy(tmp_path / "y.csv")
