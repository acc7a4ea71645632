import json
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from fastdecode.config import papers, rows, run
from fastdecode.config.base import Row
from fastdecode.config.reference import WHERE, runs, table, wanted

SCHEMAS = ["corpus", "dataset", "family", "paper", "preset", "run"]


@pytest.fixture
def written(tmp_path: Path) -> dict[str, str]:
    """What should be in a project folder of one run."""
    (tmp_path / "config/runs").mkdir(parents=True)
    text = "# Little: snakemake --configfile a.yaml\nname: a\n"
    (tmp_path / "config/runs/a.yaml").write_text(text)
    return {str(path.relative_to(tmp_path)): text for path, text in wanted(tmp_path).items()}


def rows_below(kind: object) -> set[type[BaseModel]]:
    """Every kind of row that a value of the type `kind` may hold."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        inner = [field.annotation for field in kind.model_fields.values()]
        return {kind}.union(*map(rows_below, inner))
    return set().union(*map(rows_below, get_args(kind)))


def test_keys_and_runs_have_pages_of_their_own(written: dict[str, str]) -> None:
    assert "| `beam` | `5` | beam width; 1 = greedy |" in written.pop("config/keys.md")
    assert "| [a](a.yaml) |  | cpu | Little |" in written.pop("config/runs/README.md")
    assert sorted(written) == [f"workflow/schemas/{name}.schema.json" for name in SCHEMAS]


def test_schemas_refuse_what_the_models_refuse(written: dict[str, str]) -> None:
    schema = json.loads(written["workflow/schemas/run.schema.json"])
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == set(run.Run.model_fields)
    assert "name" in schema["required"] and "mirror" not in schema["required"]


def test_runs_are_listed_with_what_they_say_of_themselves(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(
        "# All of it, or | a part.\n# Needs a GPU.\n#   snakemake --configfile b.yaml\n"
        "name: b\ndatasets: [toy, news]  # both\ndevice: cuda\n"
    )
    (tmp_path / "a.yaml").write_text("# Little: snakemake --configfile a.yaml\ndatasets: [toy]\n")
    assert runs(tmp_path).splitlines()[2:] == [
        "| [a](a.yaml) | `toy` | cpu | Little |",
        "| [b](b.yaml) | `toy`, `news` | cuda | All of it, or \\| a part. Needs a GPU. |",
    ]


def test_a_table_shows_defaults_as_yaml_would() -> None:
    lines = table(rows.Training).splitlines()
    assert "| `adam_betas` | `[0.9, 0.98]` | Adam's two decay rates |" in lines
    assert "| `max_updates` | `null` | stop after so many updates |" in lines
    assert "| `merges` | required | merge operations |" in table(rows.Bpe)
    assert "| `latency` | see below | the latency measurement |" in table(run.Run)


def test_a_table_lists_what_can_be_chosen() -> None:
    assert "or best on valid; `last`, `bleu` or `loss` |" in table(rows.Training)
    assert "train: on a sample; `train`, `valid` or `test` |" in table(papers.Artifact)


def test_what_can_be_chosen_is_said_once() -> None:
    (line,) = (x for x in table(papers.Artifact).splitlines() if x.startswith("| `tiers`"))
    assert line.count("optimised") == 2  # and none of them a list


def test_every_kind_of_row_has_its_table() -> None:
    reached = set().union(*map(rows_below, WHERE))
    assert reached == set(WHERE)
    assert all(issubclass(row, Row) for row in WHERE)


@pytest.mark.parametrize("row", WHERE, ids=lambda row: row.__name__)
def test_every_key_has_a_meaning(row: type[BaseModel]) -> None:
    unexplained = {name for name, field in row.model_fields.items() if not field.description}
    assert unexplained <= {"kind"}  # which the title of its table says
