"""Files that the project writes about itself."""

import re
import shutil
from pathlib import Path

import pytest

from fastdecode import generated

ROOT = Path(__file__).parents[1]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder where nothing is written yet."""
    monkeypatch.setattr(generated, "ROOT", tmp_path)
    shutil.copytree(ROOT / "config", tmp_path / "config")
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr("sys.argv", ["generated", *arguments])
    generated.main()


def test_files_are_written_once(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch)
    said = capsys.readouterr().out
    assert "wrote workflow/schemas/run.schema.json" in said
    assert "wrote docs/reproduced.md" in said
    run(monkeypatch)
    run(monkeypatch, "--check")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("file", ["docs/reproduced.md", "workflow/schemas/run.schema.json"])
def test_check_names_what_is_not_up_to_date_and_changes_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    run(monkeypatch)
    (root / file).write_text("{}")
    wanted = f"error: {re.escape(file)} not up to date.*make generated"
    with pytest.raises(SystemExit, match=wanted):
        run(monkeypatch, "--check")
    assert (root / file).read_text() == "{}"
