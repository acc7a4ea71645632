"""The page of what is reproduced counts numbers that are kept."""

from pathlib import Path

import pytest

from fastdecode.report.reproduced import PAPERS, wanted

PAPER = """
authors: [Ada Lovelace, Charles Babbage]
year: 1843
artifacts:
  table1: {title: notes}
  figure1: {title: an engine}
  figure2: {title: a loom}
"""


@pytest.fixture
def page(tmp_path: Path) -> str:
    (tmp_path / "config/papers").mkdir(parents=True)
    for paper in PAPERS:
        (tmp_path / f"config/papers/{paper}.yaml").write_text(PAPER)
    kept = tmp_path / "docs/measurements/dag/toy"
    kept.mkdir(parents=True)
    for name, ours in (("table1", 2), ("figure1", 3), ("figure2", 0)):
        rows = ["a,published,1", *["a,ours,2"] * ours]
        (kept / f"dag.{name}.csv").write_text("\n".join(["row,source,value", *rows]) + "\n")
    (kept / "dag.table1.md").touch()
    (kept / "dag.figure1.svg").touch()
    ((path, text),) = wanted(tmp_path).items()
    assert path == tmp_path / "docs/reproduced.md"
    return text.partition(": dag\n")[2]


def test_numbers_of_ours_are_counted_and_linked(page: str) -> None:
    assert "| artifact | shows | toy |" in page
    assert "| table1 | notes | [2](measurements/dag/toy/dag.table1.md) |" in page
    assert "| figure1 | an engine | [3](measurements/dag/toy/dag.figure1.svg) |" in page


def test_published_numbers_alone_are_nothing(page: str) -> None:
    assert "| figure2 | a loom | – |" in page


def test_links_lead_somewhere() -> None:
    root = Path(__file__).parents[2]
    ((path, text),) = wanted(root).items()
    links = [part.partition(")")[0] for part in text.split("](")[1:]]
    assert len(links) > 40
    assert all((path.parent / link).exists() for link in links)
