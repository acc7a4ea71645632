"""Every table and figure of the papers can be made of a run that has nothing of it, or no times."""

from pathlib import Path

import pandas as pd
import pytest

from fastdecode.config.artifacts import parts
from fastdecode.config.base import merge, read_yaml
from fastdecode.config.read import Configuration
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.make import make
from fastdecode.report.tidy import COLUMNS

CONFIG = Path(__file__).parents[3] / "config"
NOTHING = pd.DataFrame(columns=COLUMNS)
RUNS = {
    "one Transformer": {
        "systems": ["raw/transformer"],
        "decoders": ["beam5"],
        "speedup_over": {"reference": "raw/transformer/beam5"},
    },
    "everything": {},
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("paper", ["lattice", "bidirectional", "aggressive", "dag"])
def test_what_was_not_run_is_a_gap(paper: str, run: str, tmp_path: Path) -> None:
    layers = [read_yaml(CONFIG / name) for name in ("config.yaml", f"runs/toy-{paper}.yaml")]
    config = Configuration(merge(*layers, RUNS[run]), CONFIG)
    artifacts = config.papers[paper].artifacts
    assert artifacts
    for name, artifact in artifacts.items():
        found = {
            dataset: Part(**{**part, "alternatives": {}})  # nothing to choose among
            for dataset, part in parts(config, artifact).items()
        }
        make(Evidence(artifact, NOTHING, found), tmp_path / f"{name}.csv")
        rows = pd.read_csv(tmp_path / f"{name}.csv")
        assert rows.loc[rows["source"] == "ours", "device"].isna().all(), name  # settings, at most
