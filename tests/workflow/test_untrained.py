"""Systems with random weights through the workflow: timed as trained ones are, and nothing else."""

import csv
import json
from typing import Any

import yaml

from fastdecode.report.artifacts.cells import CELLS
from tests.workflow.conftest import Workplace, write

PAPER: dict[str, Any] = {
    "title": "Of Sizes",
    "authors": ["A. Nobody"],
    "year": 2000,
    "artifacts": {
        "table1": {
            "title": "speed by size",
            "kind": "table",
            "function": "bidirectional.vocabulary",
            "labels": {"vocabulary": "vocabulary"},
            "published": {"ratio": "ratio"},
            "tiers": ["reference"],
            "batch": 4,
            "systems": {
                "single_l2r": ["raw/transformer/greedy", "untrained/transformer/greedy"],
                "double_bidir": "untrained/bidirectional/pairs-greedy",
            },
            "rows": {"v40": {"vocabulary": 40, "ratio": 162}, "v80": {"vocabulary": 80}},
        },
        "figure1": {"title": "not asked for", "kind": "figure", "function": "artifacts.curves"},
    },
}


def test_a_run_may_train_nothing(workplace: Workplace) -> None:
    place = workplace
    place.run = place.run | {
        "systems": ["untrained/transformer", "untrained/bidirectional"],
        "decoders": ["greedy", "pairs-greedy"],
        "speedup_over": {"reference": "untrained/transformer/greedy"},
        "papers": ["mine.table1"],
        "roles": {"base": "wide"},
        "latency": place.run["latency"] | {"batches": [4], "batch_lines": 4},
    }
    place.save()
    sizes = {"micro": place.preset, "wide": place.preset | {"width": 24}}
    write(place.folder / "own/presets.yaml", yaml.safe_dump(sizes))
    write(place.folder / "own/papers/mine.yaml", yaml.safe_dump(PAPER))
    done = place.snakemake()
    assert done.returncode == 0, done.stdout

    record = json.loads(place.path("micro/untrained/transformer/seed1/train.json").read_text())
    assert (record["trained"], record["updates"]) == (False, 0)
    assert record["architecture"]["width"] == 24
    timing = place.path("report/micro/latency/micro.test.reference.Smax.threads1.json")
    document = json.loads(timing.read_text())
    assert [row["trained"] for row in document["rows"]] == [False, False]
    counted = json.loads(place.path("micro/bpe/test.subwords.json").read_text())
    with timing.with_suffix(".samples.csv").open() as file:
        tokens = {(row["decoder"], row["line"]): row["tokens"] for row in csv.DictReader(file)}
    assert len(tokens) == 2 and len(set(tokens.values())) == 1  # both as long as the references
    assert abs(float(tokens.popitem()[1]) / 4 - counted["mean_length"]["target"]) < 3

    report = place.path("report/micro")
    assert {path.name for path in report.glob("mine.*")} == {
        f"mine.table1.{kind}" for kind in ("csv", "md", "tex")
    }
    cells = CELLS.read(report / "mine.table1.csv")
    ours = cells[cells["source"] == "ours"].set_index("column")
    assert set(ours["row"]) == {"v40"}
    assert ours.loc["vocabulary", "value"] == counted["vocabulary"]["target"] > 20
    single, pairs = (ours.loc[f"tokens_per_s_{x}", "value"] for x in ("single_l2r", "double_bidir"))
    assert abs(ours.loc["tokens_per_s_ratio", "value"] - pairs / single) < 1e-9
    assert "‡: random weights" in (report / "mine.table1.md").read_text()
    assert not list(report.glob("learning_curves*")) and not (report / "memory").exists()
