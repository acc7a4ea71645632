"""A statistic through the workflow: with a training of its own, and what the teacher writes."""

import json
from pathlib import Path

from fastdecode.translation import read_translations
from tests.workflow.conftest import SIZES, Workplace

MODEL = "micro/transformer-big/nat/seed1"


def test_a_statistic_of_a_trained_system(finished: Workplace, tmp_path: Path) -> None:
    place = finished.copy(tmp_path / "copy")
    place.run = place.run | {
        "systems": [*place.run["systems"], "transformer-big/nat"],
        "decoders": [*place.run["decoders"], "nat-argmax"],
    }
    place.save()
    name, of_train = (
        f"{MODEL}/{what}.statistic.json" for what in ("valid.recall", "train.accuracy")
    )
    done = place.snakemake(f"results/{name}", f"results/{of_train}")
    assert done.returncode == 0, done.stdout

    found = json.loads(place.path(name).read_text())
    origin = found["provenance"]
    keys = ("dataset", "target", "system", "decoder", "seed", "split", "statistic", "precision")
    values = ("micro", "transformer-big", "nat", None, 1, "valid", "recall", "fp32")
    assert tuple(origin[key] for key in keys) == values
    assert origin["commit"] and origin["packages"]["torch"]
    assert found["references"]["real"]["lines"] == SIZES["valid"]
    assert set(found["references"]) == {"real", "teacher"}
    assert {point["references"] for point in found["points"]} == {"real", "teacher"}
    teacher = place.path("micro/raw/transformer-big/seed1")
    assert (teacher / "valid.beam5.jsonl.gz").exists()

    found = json.loads(place.path(of_train).read_text())
    assert found["lines"] + found["left_out"] == SIZES["train"]
    assert 0 <= found["accuracy"] <= 1
    assert not (teacher / "train.beam5.jsonl.gz").exists()  # it is not translated once more


def test_a_statistic_of_a_system_with_its_companion(finished: Workplace, tmp_path: Path) -> None:
    place = finished.copy(tmp_path / "copy")
    place.run = place.run | {
        "systems": [*place.run["systems"], "transformer-big/gad"],
        "decoders": [*place.run["decoders"], "gad-strict"],
    }
    place.save()
    name = "micro/transformer-big/gad/seed1/test.traces.statistic.json"
    done = place.snakemake(f"results/{name}")
    assert done.returncode == 0, done.stdout

    found = json.loads(place.path(name).read_text())
    assert found["provenance"]["statistic"] == "traces"
    verifier = place.path("micro/transformer-big/transformer/seed1/test.greedy.jsonl.gz")
    _, _, translations = read_translations(verifier)
    assert found["lines"]
    for line in found["lines"]:  # as the verifier writes it alone
        strict = line["traces"]["gad"]["translation"]
        # fairseq lets a line go on to the limit of the longest one in its batch.
        limit = int(1.2 * (len(line["source"]) + 1) + 10)
        assert strict == translations[line["line"]].tokens[:limit]
