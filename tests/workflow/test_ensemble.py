"""An ensemble as a system of its own: translated and scored beside its models, and not timed."""

import json

import pandas as pd

from tests.workflow.conftest import Workplace
from tests.workflow.test_end_to_end import TEACHER, lines

ENSEMBLE = "micro/raw/transformer-big-x3/seed1"


def test_an_ensemble_in_a_run(finished: Workplace, workplace: Workplace) -> None:
    """Three times the same model: what they write together is what it writes alone."""
    seeds = [TEACHER.replace("seed1", f"seed{seed}") for seed in (1, 2, 3)]
    workplace.run["systems"] = ["raw/transformer-big", "raw/transformer-big-x3"]
    workplace.run["given"] = {"models": {seed: str(finished.path(TEACHER)) for seed in seeds}}
    workplace.run["speedup_over"] = {"reference": "raw/transformer-big/beam5"}
    workplace.run["latency"] = {**workplace.run["latency"], "scenarios": ["S1"]}
    workplace.save()
    done = workplace.snakemake()
    assert done.returncode == 0, done.stdout
    together, alone = (
        [json.loads(line).get("tokens") for line in lines(place)]
        for place in (
            workplace.path(f"{ENSEMBLE}/test.beam5.jsonl.gz"),
            finished.path(f"{TEACHER}/test.beam5.jsonl.gz"),
        )
    )
    assert together == alone

    record = json.loads(workplace.path(f"{ENSEMBLE}/train.json").read_text())
    one = json.loads(finished.path(f"{TEACHER}/train.json").read_text())
    assert record["parameters"] == 3 * one["parameters"]
    measured = pd.read_csv(workplace.path("report/micro/measurements.csv"))
    timed = measured[measured["metric"] == "latency_median"]
    assert set(timed["system"]) == {"transformer-big"}
    table = workplace.path("report/micro/systems.micro.test.md").read_text()
    assert "| transformer-big-x3 |" in table
