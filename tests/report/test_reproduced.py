"""The page of what is reproduced says how much of each artifact is kept."""

from pathlib import Path

import pytest

from fastdecode.report.artifacts.cells import CELLS
from fastdecode.report.reproduced import wanted
from tests.report.project import write_project


@pytest.fixture
def text(tmp_path: Path) -> str:
    write_project(tmp_path)
    ((path, written),) = wanted(tmp_path).items()
    assert path == tmp_path / "docs/reproduced.md"
    return written


@pytest.fixture
def page(text: str) -> str:
    """What is said of the one paper that has it all."""
    return text.partition(": dag\n")[2]


def test_a_table_in_part_and_what_is_whole(page: str) -> None:
    assert "| artifact | shows | toy |" in page
    assert "| table1 | notes | [1 of 2](measurements/dag/toy/dag.table1.md) |" in page
    assert "| table2 | numbers | [all](measurements/dag/toy/dag.table2.md) |" in page
    assert "| figure1 | an engine | [all](measurements/dag/toy/dag.figure1.svg) |" in page


def test_published_numbers_alone_are_nothing(page: str) -> None:
    assert "| figure2 | a loom | – |" in page


def test_claims_are_tallied_as_they_are_checked_and_in_the_tier_that_was_timed(page: str) -> None:
    said = "| claims | hold, do not hold, cannot be told |"
    assert f"{said} [4, 1, 2](measurements/dag/toy/claims.dag.md) |" in page


def test_verdicts_of_a_run_of_all_papers_stand_where_they_tell_more(text: str) -> None:
    lattice = text.partition(": lattice\n")[2].partition("\n## ")[0]
    assert "[4, 1, 2](measurements/families/toy/claims.lattice.md) |" in lattice  # for none
    aggressive = text.partition(": aggressive\n")[2].partition("\n## ")[0]
    assert "[4, 1, 2](measurements/families/toy/claims.aggressive.md) |" in aggressive  # for fewer
    assert "families" not in text.partition(": dag\n")[2]  # for as many


def test_artifacts_of_a_run_of_all_papers_stand_where_they_have_more(text: str) -> None:
    lattice = text.partition(": lattice\n")[2].partition("\n## ")[0]
    assert "| table1 | notes | [all](measurements/families/toy/lattice.table1.md) |" in lattice
    aggressive = text.partition(": aggressive\n")[2].partition("\n## ")[0]
    own = "[1 of 2](measurements/aggressive/toy/aggressive.table1.md)"  # of as many
    alone = "[1 of 2](measurements/families/multi30k/aggressive.table1.md)"
    assert "| artifact | shows | toy | Multi30k |" in aggressive
    assert f"| table1 | notes | {own} | {alone} |" in aggressive


def test_of_several_folders_that_with_most_numbers_stands(tmp_path: Path) -> None:
    write_project(tmp_path)
    toy = tmp_path / "docs/measurements/dag/toy"
    for name, rows in (("raw-sizes", "a"), ("raw-sizes/slots12", "ab")):
        folder = toy.parent / name
        folder.mkdir()
        cells = [{"row": row, "source": "ours", "value": 1} for row in rows]
        CELLS.write(folder / "dag.table1.csv", CELLS.frame(cells))
    (toy.parent / "raw-sizes/dag.table2.csv").write_bytes((toy / "dag.table2.csv").read_bytes())
    (page,) = wanted(tmp_path).values()
    assert "| artifact | shows | toy | toy, sizes on raw targets, three seeds |" in page
    assert "| [all](measurements/dag/raw-sizes/slots12/dag.table1.md) |" in page
    assert "| [all](measurements/dag/raw-sizes/dag.table2.md) |" in page


def test_artifacts_stand_in_the_order_of_the_paper_and_claims_last(page: str) -> None:
    lines = [line.split(" | ")[0].removeprefix("| ") for line in page.splitlines() if "[" in line]
    assert lines == ["figure1", "table1", "table2", "claims"]


def test_links_lead_somewhere() -> None:
    root = Path(__file__).parents[2]
    ((path, text),) = wanted(root).items()
    links = [part.partition(")")[0] for part in text.split("](")[1:]]
    assert len(links) > 40
    assert all((path.parent / link.partition("#")[0]).exists() for link in links)
