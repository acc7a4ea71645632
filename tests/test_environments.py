"""The conda environment and the image pin what pyproject.toml pins."""

import re
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
    assert all("==" in pin for pins in project["optional-dependencies"].values() for pin in pins)
    assert all("==" in pin for pin in pip)


def test_the_image_installs_what_pyproject_says() -> None:
    files, post = (
        (ROOT / "envs/fastdecode.def").read_text().partition(f"\n%{part}\n")[2].partition("\n%")[0]
        for part in ("files", "post")
    )
    # Apptainer takes one source and one destination a line, and drops the rest.
    copied = dict(line.split() for line in files.splitlines() if line)
    assert all((ROOT / source).exists() for source in copied)
    assert copied == {source: f"/opt/fastdecode/{source}" for source in copied}
    assert {"pyproject.toml", "README.md", "LICENSE", "fastdecode"} == copied.keys()
    installed = re.findall(r"pip install (.*)", post)
    assert [line.split()[-2:] for line in installed] == [["-e", "."], ["-e", "'.[fairseq]'"]]
    assert "--no-build-isolation" in installed[1]
