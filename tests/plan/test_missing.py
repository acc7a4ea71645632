"""What a run needs that is not here."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from fastdecode.config.base import merge
from fastdecode.config.read import Configuration
from fastdecode.families.dag import ngrams
from fastdecode.plan.missing import missing

CONFIG = Path(__file__).parents[2] / "config"
DEFAULT = yaml.safe_load((CONFIG / "config.yaml").read_text(encoding="utf-8"))
BY_HAND = {"datasets": ["wmt16.en-ro.lattice"], "papers": []}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing was fetched in the current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(**changes: Any) -> list[str]:
    return missing(Configuration(merge(DEFAULT, {"name": "mine", **changes}), CONFIG))


def test_the_default_run_needs_nothing_else() -> None:
    assert lines() == []


def test_files_that_the_user_brings(here: Path) -> None:
    found = lines(device="cuda", **BY_HAND)
    assert found and all("name a folder as mirror:" in line for line in found)
    key = found[0].partition(":")[0]
    place = here / "mirror" / key
    place.parent.mkdir(parents=True)
    place.touch()
    others = lines(device="cuda", mirror="mirror", **BY_HAND)
    assert len(others) == len(found) - 1 and not any(line.startswith(key) for line in others)
    fetched = here / "results/downloads" / key
    fetched.parent.mkdir(parents=True)
    fetched.touch()
    assert len(lines(device="cuda", **BY_HAND)) == len(found) - 1


def test_a_mirror_that_cannot_be_read(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(mirror: Path, *_: object) -> bool:
        raise PermissionError(13, "Permission denied", str(mirror))

    (here / "mirror").mkdir()
    monkeypatch.setattr("fastdecode.plan.missing.held", refuse)
    found = lines(device="cuda", mirror="mirror", **BY_HAND)
    assert set(found) == {"mirror: mirror: Permission denied"}


def test_a_mirror_that_is_no_folder() -> None:
    assert lines(mirror="nowhere") == ["mirror: nowhere is not a folder"]


def test_cores_that_are_to_be_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastdecode.plan.missing.cores", lambda: 2)
    assert lines(latency={"threads": [1, 2, "all"]}) == []
    (line,) = lines(latency={"threads": [1, 3, "all"]})
    assert line == "latency.threads: 3 is more than the 2 cores here"
    assert lines(latency={"threads": [1, 3]}, device="cuda") == []  # a GPU is timed with the first


def test_packages_are_missed_where_a_decoder_asks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ngrams, "import_module", lambda name: (_ for _ in ()).throw(ImportError()))
    searches = ["beam5", "dag-lookahead"]
    run = {"systems": ["raw/transformer", "raw/dag"], "papers": []}
    assert lines(decoders=[*searches, "dag-beam"], **run) == []
    (line,) = lines(decoders=[*searches, "dag-beam-lm", "dag-beam-lm-a12"], **run)
    assert "kenlm" in line and "pip install" in line
