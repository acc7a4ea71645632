"""A family made of docs/template, in a copy of the repository: checked, trained, in every table."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from tests.workflow.conftest import ROOT, SIZES, Workplace

FAMILY = "mine"  # shorter than the word template: lines break elsewhere
SEARCH, FAST = f"{FAMILY}-argmax", f"{FAMILY}-argmax-optimised"
FOLDERS = (f"fastdecode/families/{FAMILY}", f"tests/families/{FAMILY}")
MYPY = ROOT / ".mypy_cache"  # of make lint
ROWS = (f"config/systems/{FAMILY}.yaml", f"config/runs/{FAMILY}.yaml")


def call(root: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the repository `root`; its output and errors are in stdout."""
    return subprocess.run(
        command,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def assert_good(root: Path, *command: str) -> None:
    done = call(root, *command)
    assert done.returncode == 0, done.stdout


def assert_python_good(root: Path, *module: str) -> None:
    assert_good(root, sys.executable, "-m", *module)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository in which a family was begun as docs/add-a-decoder.md says."""
    root = tmp_path_factory.mktemp("repository")
    for name in call(ROOT, "git", "ls-files").stdout.splitlines():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, root / name)
    done = make_family(root, FAMILY)
    assert done.returncode == 0, done.stdout
    return root


def make_family(root: Path, name: str) -> subprocess.CompletedProcess[str]:
    """Call make with the Python of the tests, which has all that it would install."""
    given = (f"NAME={name}", f"BIN={Path(sys.executable).parent}")
    return call(root, "make", "--old-file=.venv/.ready", "family", *given)


def test_nothing_is_overwritten_and_no_placeholder_left(repository: Path) -> None:
    before = (repository / ROWS[0]).read_text()
    for name, fault in (
        (FAMILY, f"error: fastdecode/families/{FAMILY} is there already"),
        ("", "error: NAME=: small letters"),
    ):
        refused = make_family(repository, name)
        assert refused.returncode != 0 and fault in refused.stdout
    assert (repository / ROWS[0]).read_text() == before
    texts = [path.read_text() for folder in FOLDERS for path in (repository / folder).iterdir()]
    texts += [(repository / path).read_text() for path in ROWS]
    assert len(texts) > 12 and not [text for text in texts if "template" in text.lower()]


def test_style_and_keys(repository: Path) -> None:
    assert_python_good(repository, "ruff", "check", "--no-cache", *FOLDERS)
    assert_python_good(repository, "ruff", "format", "--no-cache", "--check", *FOLDERS)
    assert_python_good(repository, "fastdecode.generated")
    keys = (repository / "config/keys.md").read_text(encoding="utf-8")
    assert f"a row of `decoders:` of the family `{FAMILY}`" in keys


@pytest.mark.skipif(not MYPY.exists(), reason="mypy knows no library yet: make lint first")
def test_types(repository: Path) -> None:
    """A second; a minute if mypy had to read PyTorch first."""
    room = FOLDERS[0].replace("/", ".")
    assert_python_good(repository, "mypy", "--cache-dir", str(MYPY), "-p", room)


def test_its_own_tests_pass_and_its_run_is_valid(repository: Path) -> None:
    files = (FOLDERS[1], "tests/config/test_runs.py")
    assert_python_good(repository, "pytest", "-p", "no:cacheprovider", "-k", FAMILY, *files)


def test_its_run_goes_through_the_whole_workflow(repository: Path, workplace: Workplace) -> None:
    """Its own run on another corpus: teacher, distilled targets, it and the student, the page."""
    place = workplace
    place.root = repository
    own = yaml.safe_load((repository / ROWS[1]).read_text(encoding="utf-8"))
    place.run = (
        place.run
        | own
        | {
            "training": {"max_epochs": 1, "average": 1},
            "latency": place.run["latency"] | {"scenarios": ["S1"]},
        }
    )
    place.save()
    done = place.snakemake()
    assert done.returncode == 0, done.stdout

    system, over = f"transformer/{FAMILY}", own["speedup_over"]["reference"]
    record = json.loads(place.path(f"micro/{system}/seed1/train.json").read_text())
    assert (record["family"], record["epochs"]) == (FAMILY, 1) and record["updates"] > 5
    folder = place.path(f"report/{FAMILY}")
    systems = (folder / "systems.micro.test.md").read_text(encoding="utf-8")
    assert f"| {FAMILY} | transformer | {SEARCH} | 1-1 |" in systems and "×1.00" in systems
    agreement = (folder / "agreement.micro.test.md").read_text(encoding="utf-8")
    assert f"| {FAST} | {SEARCH} | {SIZES['test']} | 100.00% | 0 |" in agreement

    speed = pd.read_csv(folder / "speed.micro.test.S1.csv")
    speed = speed[speed["system"] == FAMILY].set_index("decoder")
    assert speed["tier"].to_dict() == {SEARCH: "reference", FAST: "optimised"}
    assert speed["over"].to_dict() == {SEARCH: over, FAST: f"{over}-optimised"}
    measured = ["bleu", "latency_median", "latency_bytes_per_pass", "memory_peak"]
    assert np.isfinite(speed[measured]).all(axis=None) and (speed[measured[1:]] > 0).all(axis=None)
    assert (speed["latency_passes"] == 1).all()
    assert FAMILY in set(pd.read_csv(folder / "measurements.csv")["family"])
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert f'data-family="{FAMILY}"' in page and f"{system}/{FAST}" in page
