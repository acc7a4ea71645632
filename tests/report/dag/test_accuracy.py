from typing import Any

import pandas as pd
import pytest

from fastdecode.config.papers import Paper
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.dag.accuracy import cells, printed
from fastdecode.report.tables import NOT_RUN
from fastdecode.report.tidy import COLUMNS


def test_accuracy_by_split_is_a_mean_over_seeds(paper: Paper, origin: dict[str, Any]) -> None:
    graph = origin | {"target": "raw", "system": "dag"}
    documents = [
        {
            "provenance": graph | {"split": split, "seed": seed, "commit": f"c{seed}"},
            "accuracy": accuracy,
        }
        for split, values in (("train", (0.5, 0.7)), ("held-out", (0.25, 0.35)))
        for seed, accuracy in enumerate(values, 1)
    ]
    documents.append({"provenance": graph | {"system": "dag-lambda4"}, "accuracy": 0.9})
    entries = {"da_transformer": {"reference": "raw/dag/dag-lookahead"}}
    part = Part("test", "test", entries, valid="held-out")
    artifact = paper.artifacts["table2"]
    empty = pd.DataFrame(columns=COLUMNS)
    found = cells(Evidence(artifact, empty, {"toy": part}, documents))
    ours = found[found["source"] == "ours"].set_index("column")
    assert ours["value"].to_dict() == pytest.approx({"train": 60, "valid": 30})
    assert ours[["what", "split", "seeds", "device", "commit"]].to_numpy().tolist() == [
        ["raw/dag", split, "1 2", "cpu: X", "c1 c2"] for split in ("train", "held-out")
    ]
    table = printed("dag.table2", artifact, found)
    last = table.frame.iloc[-1]
    assert (last["toy train"], last["toy held-out"]) == ("60.0 ± 14.1", "30.0 ± 7.1")
    assert last["published En-De train"] == "69.3"
    assert list(table.frame["run here"]) == [NOT_RUN, NOT_RUN, "raw/dag"]
    assert "means over up to 2 seeds" in table.caption
    unsaid = printed("dag.table2", artifact.model_copy(update={"setting": ""}), found)
    assert "Published" in table.caption and "Published" not in unsaid.caption


def test_nothing_of_it_was_run(paper: Paper) -> None:
    artifact = paper.artifacts["table2"]
    empty = pd.DataFrame(columns=COLUMNS)
    part = Part("test", "test", {}, valid="valid")
    table = printed("x", artifact, cells(Evidence(artifact, empty, {"toy": part})))
    assert "Nothing of it was run here." in table.caption


def test_a_system_whose_name_begins_alike_is_another(paper: Paper, origin: dict[str, Any]) -> None:
    same = origin | {"target": "raw", "split": "valid"}
    documents = [
        {"provenance": same | {"system": system, "dataset": dataset}, "accuracy": accuracy}
        for system, dataset, accuracy in (
            ("dag", "toy", 0.5),
            ("dag-lambda4", "toy", 0.9),
            ("dag-lambda4", "other", 0.1),
        )
    ]
    entries = {"da_transformer": {"reference": "raw/dag-lambda4/dag-lookahead"}}
    part = Part("test", "test", entries, valid="valid")
    empty = pd.DataFrame(columns=COLUMNS)
    found = cells(Evidence(paper.artifacts["table2"], empty, {"toy": part}, documents))
    assert found.loc[found["source"] == "ours", "value"].tolist() == [pytest.approx(90)]
