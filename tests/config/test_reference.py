import json
import re
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from fastdecode.config import reference, rows
from fastdecode.config.base import Row
from fastdecode.config.reference import MARK, WHERE, main, table

PROSE = "# Configuration\n\nWritten by hand.\n\n"
SCHEMAS = ["corpus", "dataset", "family", "paper", "preset", "run"]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder with prose in its README and nothing written yet."""
    monkeypatch.setattr(reference, "ROOT", tmp_path)
    (tmp_path / "config").mkdir()
    (tmp_path / "config/README.md").write_text(f"{PROSE}{MARK}old tables")
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr("sys.argv", ["reference", *arguments])
    main()


def rows_below(kind: object) -> set[type[BaseModel]]:
    """Every kind of row that a value of the type `kind` may hold."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        inner = [field.annotation for field in kind.model_fields.values()]
        return {kind}.union(*map(rows_below, inner))
    return set().union(*map(rows_below, get_args(kind)))


def test_files_are_written_once_and_the_prose_is_kept(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch)
    assert capsys.readouterr().out.count("wrote ") == len(SCHEMAS) + 1
    readme = (root / "config/README.md").read_text(encoding="utf-8")
    assert readme.startswith(f"{PROSE}{MARK}")
    assert "old tables" not in readme
    assert "| `beam` | `5` | beam width; 1 = greedy |" in readme
    assert sorted(f.name for f in (root / "workflow/schemas").iterdir()) == [
        f"{name}.schema.json" for name in SCHEMAS
    ]
    run(monkeypatch)
    run(monkeypatch, "--check")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("file", ["config/README.md", "workflow/schemas/run.schema.json"])
def test_check_names_what_is_not_up_to_date_and_changes_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    run(monkeypatch)
    (root / file).write_text("{}")
    with pytest.raises(SystemExit, match=f"error: {re.escape(file)} not up to date.*make schemas"):
        run(monkeypatch, "--check")
    assert (root / file).read_text() == "{}"


def test_schemas_refuse_what_the_models_refuse(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(monkeypatch)
    schema = json.loads((root / "workflow/schemas/run.schema.json").read_text(encoding="utf-8"))
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == set(rows.Run.model_fields)
    assert "name" in schema["required"] and "mirror" not in schema["required"]


def test_a_table_shows_defaults_as_yaml_would() -> None:
    lines = table(rows.Training).splitlines()
    assert "| `adam_betas` | `[0.9, 0.98]` | Adam's two decay rates |" in lines
    assert "| `max_updates` | `null` | stop after so many updates |" in lines
    assert "| `merges` | required | merge operations |" in table(rows.Bpe)
    assert "| `latency` | see below | the latency measurement |" in table(rows.Run)


def test_every_kind_of_row_has_its_table() -> None:
    reached = set().union(*map(rows_below, WHERE))
    assert reached == set(WHERE)
    assert all(issubclass(row, Row) for row in WHERE)


@pytest.mark.parametrize("row", WHERE, ids=lambda row: row.__name__)
def test_every_key_has_a_meaning(row: type[BaseModel]) -> None:
    unexplained = {name for name, field in row.model_fields.items() if not field.description}
    assert unexplained <= {"kind"}  # which the title of its table says
