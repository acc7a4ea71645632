"""The conda environment pins what pyproject.toml pins."""

import tomllib
from pathlib import Path

import yaml

from fastdecode.families.dag.ngrams import KENLM

ROOT = Path(__file__).parents[1]


def test_conda_has_the_same_pins() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    rows = yaml.safe_load((ROOT / "envs/fastdecode.yaml").read_text())["dependencies"]
    (pip,) = [row["pip"] for row in rows if isinstance(row, dict)]
    assert pip == project["dependencies"]
    fairseq = project["optional-dependencies"]["fairseq"]
    script = (ROOT / "envs/fastdecode.post-deploy.sh").read_text()
    assert all(pin in script for pin in fairseq)
    assert project["optional-dependencies"]["lm"] == [KENLM]
    assert all("==" in pin for pin in [*pip, *fairseq, *project["optional-dependencies"]["dev"]])
