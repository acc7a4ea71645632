from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fastdecode.config.models import Architecture
from tests.config.conftest import DEFINITIONS, RUN, fault, read, write

TALKS: dict[str, Any] = {"corpus": "talks", "bpe": {"merges": 8000}}
CORPUS: dict[str, Any] = DEFINITIONS["corpora/talks.yaml"]
PAIR = {"system": "techer", "seeds": [1, 2]}


def test_downloads_are_read(folder: Path) -> None:
    assert str(read(folder).downloads["d/a.gz"].url) == "http://a/b"


@pytest.mark.parametrize("file", ["presets.yaml", "datasets/talks.8k.yaml", "systems/left.yaml"])
def test_a_file_that_is_no_mapping_is_named(folder: Path, file: str) -> None:
    write(folder, {file: ["tiny"]})
    message = fault(folder)
    assert f"{file}: expected keys and values, found ['tiny']" in message


def test_rows_of_ones_own_are_added_and_override(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    write(
        own,
        {
            "presets.yaml": {"tiny": {"ffn": 48}, "mine": DEFINITIONS["presets.yaml"]["tiny"]},
            "datasets/mine.yaml": DEFINITIONS["datasets/talks.8k.yaml"]
            | {"roles": {"base": "mine"}},
            "systems/left.yaml": {
                "training": {"adam_eps": 0.5},
                "systems": {"student": {"layers": "9-9"}, "new": {}},
            },
        },
    )
    config = read(
        folder, definitions=str(own), datasets=["talks.8k"], systems=["raw/new"] + RUN["systems"]
    )
    assert config.architecture("talks.8k", "new") == Architecture(16, 48, 2, 2, 1)
    assert config.architecture("talks.8k", "student").layers == "9-9"
    assert config.systems["teacher"].role == "big"  # the others stay
    assert config.training("talks.8k", "student").adam_eps == 0.5
    assert config.training("talks.8k", "student").label_smoothing == 0.0


def test_a_dataset_of_ones_own_replaces_the_whole_row(folder: Path, tmp_path: Path) -> None:
    row = {"corpus": "talks", "bpe": {"merges": 5}, "roles": {"base": "tiny", "big": "tiny"}}
    write(tmp_path / "own", {"datasets/talks.8k.yaml": row | {"training": {"max_updates": 1}}})
    config = read(folder, definitions=str(tmp_path / "own"))
    assert config.datasets["talks.8k"].bpe.merges == 5
    assert config.datasets["talks.8k"].tests == ("test",)
    assert config.training("talks.8k", "teacher").max_epochs is None


def test_a_family_of_ones_own_needs_new_names(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "own", {"systems/mine.yaml": DEFINITIONS["systems/other.yaml"]})
    message = fault(folder, definitions=str(tmp_path / "own"))
    assert 'systems/other.yaml: the name "curious" is taken' in message


@pytest.mark.parametrize(
    ("file", "rows", "said"),
    [
        ("systems/left.yaml", {"systems": {"new": {"odd": 1}}}, ": systems.new: unknown key"),
        ("systems/left.yaml", {"odd": 1}, ": unknown key"),
        ("presets.yaml", {"mine": {"odd": 1}}, ", mine: unknown key"),
        ("datasets/talks.8k.yaml", {"odd": 1}, ": unknown key"),
        ("datasets/talks.8k.yaml", TALKS | {"training": {"od": 1}}, ": training: unknown key"),
        (
            "datasets/talks.8k.yaml",
            TALKS | {"roles": {"base": "smal"}},
            ': roles.base: there is no "s',
        ),
        ("datasets/talks.8k.yaml", TALKS | {"corpus": "talk"}, ': corpus: there is no "talk"'),
        ("corpora/talks.yaml", CORPUS | {"references": {"test": "d/b.gz"}}, ": download: there is"),
        (
            "systems/left.yaml",
            {"systems": {"new": {"training": {"odd": 1}}}},
            ": systems.new: train",
        ),
        ("systems/left.yaml", {"ensembles": {"new": PAIR}}, ": ensembles.new.system: there is no"),
        ("systems/left.yaml", {"decoders": {"student": {}}}, ': the name "student" is taken'),
        ("presets.yaml", {"large": None}, ", large: expected keys and values, found None"),
        ("presets.yaml", {"large": {"training": {"odd": 1}}}, ", large: training: unknown key"),
    ],
)
def test_a_fault_in_rows_of_ones_own_names_their_file(
    folder: Path, tmp_path: Path, file: str, rows: dict[str, Any], said: str
) -> None:
    write(tmp_path / "own", {file: rows})
    message = fault(folder, definitions=str(tmp_path / "own"))
    assert message.startswith(f"{tmp_path / 'own' / file}{said}")


def test_a_misspelt_family_of_ones_own_is_refused(folder: Path, tmp_path: Path) -> None:
    """Its name first: what its rows lack depends on the family."""
    write(tmp_path / "own", {"systems/lefft.yaml": {"decoders": {"mine": {}}}})
    message = fault(folder, definitions=str(tmp_path / "own"))
    file = tmp_path / "own/systems/lefft.yaml"
    assert message == f'{file}: there is no family "lefft"; did you mean "left"?'


def test_a_fault_in_the_projects_rows_is_not_put_down_to_ones_own(
    folder: Path, tmp_path: Path
) -> None:
    broken = DEFINITIONS["systems/left.yaml"]["systems"] | {"bad": {"odd": 1}}
    write(folder, {"systems/left.yaml": DEFINITIONS["systems/left.yaml"] | {"systems": broken}})
    write(tmp_path / "own", {"systems/left.yaml": {"systems": {"new": {}}}})
    message = fault(folder, definitions=str(tmp_path / "own"))
    assert message.startswith("systems/left.yaml: systems.bad: unknown key")


def test_a_misspelt_folder_of_ones_own_is_refused(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "own", {"system/left.yaml": {"systems": {"new": {}}}, "notes/x.yaml": {}})
    message = fault(folder, definitions=str(tmp_path / "own"))
    assert message.endswith('own/system: nothing is read from there; did you mean "systems"?')


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("preset.yaml", 'own/preset.yaml: nothing is read from there; did you mean "presets"?'),
        ("systems/left.yml", "left.yml: nothing is read from there: call it left.yaml"),
        ("presets.yml", "own/presets.yml: nothing is read from there: call it presets.yaml"),
    ],
)
def test_a_misspelt_file_of_ones_own_is_refused(
    folder: Path, tmp_path: Path, file: str, said: str
) -> None:
    # the run itself may lie there, and what has nothing to do with it
    write(tmp_path / "own", {file: {}, "run.yaml": {}, "mkdocs.yml": {}, "notes/x.yml": {}})
    assert fault(folder, definitions=str(tmp_path / "own")).endswith(said)


def test_what_cannot_be_read_is_not_passed_over(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "own", {"presets.yaml/x.yaml": {}})
    message = fault(folder, definitions=str(tmp_path / "own"))
    assert message.endswith("own/presets.yaml: expected a file, found a folder")

    def refuse(path: Path) -> Iterator[Path]:
        if path.name == "systems":
            raise PermissionError(13, "Permission denied", str(path))
        return iter(())

    write(tmp_path / "closed", {"systems/left.yaml": {}})
    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(PermissionError, match="closed/systems"):
        read(folder, definitions=str(tmp_path / "closed"))


def test_devices_of_ones_own_are_added(folder: Path, tmp_path: Path) -> None:
    core = {"kind": "cpu", "throughput": 1, "overhead": 0.1, "step": 0.2}
    write(folder, {"devices.yaml": {"cpu": core}})
    write(tmp_path / "own", {"devices.yaml": {"mine": core | {"throughput": 2}}})
    devices = read(folder, definitions=str(tmp_path / "own")).devices
    assert {name: device.throughput for name, device in devices.items()} == {"cpu": 1, "mine": 2}


def test_one_artifact_of_a_paper(folder: Path) -> None:
    table = {"title": "a table", "kind": "table", "function": "artifacts.rows"}
    paper = {"title": "P", "authors": ["A"], "year": 2000}
    numbers = ("table1", "table2", "table3")
    write(folder, {"papers/p.yaml": paper | {"artifacts": dict.fromkeys(numbers, table)}})
    assert list(read(folder, papers=["p"]).papers["p"].artifacts) == list(numbers)
    chosen = read(folder, papers=["p.table3", "p.table1"]).papers["p"]
    assert list(chosen.artifacts) == ["table1", "table3"]  # as in the paper
    assert 'papers: p.table: there is no "table"' in fault(folder, papers=["p.table"])
    assert 'papers: p.: there is no ""' in fault(folder, papers=["p."])


def test_downloads_are_checked_whether_or_not_one_is_named(folder: Path) -> None:
    (folder / "downloads.yaml").write_text("x: {url: 'ftp://a'}\n")
    assert "downloads.yaml, x" in fault(folder)
