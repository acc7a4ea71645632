"""An ensemble as a system of its own: translated and scored beside its models, and not timed."""

import json

import pandas as pd
import pytest

from fastdecode.decode import load_system
from fastdecode.text import Text
from tests.workflow.conftest import Workplace
from tests.workflow.test_end_to_end import STUDENT, TEACHER, lines

ENSEMBLE = "micro/raw/transformer-big-x3/seed1"


def prepare(place: Workplace) -> None:
    place.run["systems"] = ["raw/transformer-big", "raw/transformer-big-x3"]
    place.run["speedup_over"] = {"reference": "raw/transformer-big/beam5"}
    place.run["latency"] = {**place.run["latency"], "scenarios": ["S1"]}


def test_an_ensemble_in_a_run(finished: Workplace, workplace: Workplace) -> None:
    """Twice the teacher and, so that none of them is the ensemble, its student."""
    members = [finished.path(TEACHER), finished.path(TEACHER), finished.path(STUDENT)]
    seeds = [TEACHER.replace("seed1", f"seed{seed}") for seed in (1, 2, 3)]
    prepare(workplace)
    workplace.run["given"] = {"models": dict(zip(seeds, map(str, members), strict=True))}
    workplace.save()
    done = workplace.snakemake()
    assert done.returncode == 0, done.stdout

    _, *found = map(json.loads, lines(workplace.path(f"{ENSEMBLE}/test.beam5.jsonl.gz")))
    system = load_system(
        [member / "checkpoint.pt" for member in members], finished.path("micro/raw/bin"), "cpu"
    )
    text = Text("en", "de", lowercase=False, pretokenised=False, codes=finished.path("micro/bpe"))
    decoder = system.decoder("autoregressive", {"beam": 5}, text.target_text)
    expected = [decoder([text.source_tokens(one["source"])])[0] for one in found]
    assert [one["tokens"] for one in found] == [one.tokens for one in expected]
    scores = [one["score"] for one in found]
    assert scores == pytest.approx([one.score for one in expected], abs=1e-5)
    _, *alone = map(json.loads, lines(finished.path(f"{TEACHER}/test.beam5.jsonl.gz")))
    assert scores != pytest.approx([one["score"] for one in alone], abs=1e-3)

    record = json.loads(workplace.path(f"{ENSEMBLE}/train.json").read_text())
    parts = [json.loads((member / "train.json").read_text()) for member in members]
    assert record["parameters"] == sum(part["parameters"] for part in parts)
    measured = pd.read_csv(workplace.path("report/micro/measurements.csv"))
    timed = measured[measured["metric"] == "latency_median"]
    assert set(timed["system"]) == {"transformer-big"}
    table = workplace.path("report/micro/systems.micro.test.md").read_text()
    assert "| transformer-big-x3 |" in table


def test_translations_of_an_ensemble_may_be_given(
    finished: Workplace, workplace: Workplace
) -> None:
    prepare(workplace)
    workplace.run["given"] = {"translations": {ENSEMBLE: str(finished.path(TEACHER))}}
    workplace.save()
    taken = workplace.snakemake(f"results/{ENSEMBLE}/train.json")
    assert taken.returncode == 0, taken.stdout
    assert "record_ensemble" not in taken.stdout
