"""The page of what is reproduced says how much of each artifact is kept."""

from pathlib import Path

import pytest

from fastdecode.report.artifacts.cells import CELLS
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.claims.printed import COLUMNS
from fastdecode.report.reproduced import PAPERS, wanted

PAPER = """
authors: [Ada Lovelace, Charles Babbage]
year: 1843
title: of an engine
artifacts:
  figure1: {title: an engine, kind: figure, function: x.y}
  table1:
    title: notes
    kind: table
    function: artifacts.rows
    measured: {bleu: bleu}
    rows: {a: {ours: raw/a/b}, b: {ours: raw/b/b}, c: {}}
  figure2: {title: a loom, kind: figure, function: x.y}
  table2: {title: numbers, kind: table, function: artifacts.rows, rows: {a: {ours: raw/a/b}}}
claims:
"""
VERDICTS = [  # claim, dataset, tier, verdict
    ("first", "toy", "reference", "holds"),
    ("first", "toy", "optimised", "does not hold"),
    ("second", "toy", "optimised", "holds"),
    ("third", "toy", "", "holds"),
    ("fourth", "toy", "", "cannot be told"),
    ("fifth", "", "", "cannot be told"),
    ("sixth", "toy", "", "holds"),
    ("sixth", "news", "", "does not hold"),
    ("seventh", "toy", "", "holds"),
    ("eighth", "toy", "", "holds"),
    ("ninth", "toy", "", "holds"),
    ("tenth", "toy", "", "holds"),
]
CHECK = "[{rising: [a.bleu, b.bleu]}]"
READ = "  {}: {{artifacts: [table1], statement: {}, reading: {}, check: {}}}\n"
BY = {"fifth": "", "eighth": "b.bleu < a.bleu"}  # verdicts by another condition, or none
NUMBERS = {  # others have none: of a BLEU without an interval, and with one
    "ninth": {"finding": "holds", "cells": "a.bleu 1; b.bleu 2"},
    "tenth": {"finding": "holds", "cells": "a.bleu 1; b.bleu 2", "low": "0.5", "high": "1.5"},
}


@pytest.fixture
def text(tmp_path: Path) -> str:
    (tmp_path / "config/papers").mkdir(parents=True)
    for paper in PAPERS:
        readings = {name: "otherwise" if name == "seventh" else "so" for name, *_ in VERDICTS}
        claims = "".join(
            READ.format(name, f"the {name}", how, CHECK) for name, how in readings.items()
        )
        (tmp_path / f"config/papers/{paper}.yaml").write_text(PAPER + claims)
    kept = tmp_path / "docs/measurements/dag/toy"
    kept.mkdir(parents=True)
    for name, rows in (("table1", "a"), ("table2", "a")):
        cells = [{"row": row, "source": "ours", "value": 1} for row in rows]
        CELLS.write(
            kept / f"dag.{name}.csv", CELLS.frame([*cells, {"row": "b", "source": "label"}])
        )
    for name, source in (("figure1", "ours"), ("figure2", "published")):
        POINTS.write(kept / f"dag.{name}.csv", POINTS.frame([{"source": source, "x": 1, "y": 2}]))
    keys = ("claim", "dataset", "tier", "verdict")
    lines = [
        dict.fromkeys(COLUMNS, "")
        | {"statement": f"the {verdict[0]}", "reading": "so"}
        | {"condition": BY.get(verdict[0], "a.bleu < b.bleu"), "why": "not measured in this run"}
        | dict(zip(keys, verdict, strict=True))
        | NUMBERS.get(verdict[0], {})
        for verdict in VERDICTS
    ]
    verdicts = "\n".join([",".join(COLUMNS), *(",".join(line.values()) for line in lines)]) + "\n"
    (kept / "claims.dag.csv").write_text(verdicts)
    for paper in ("dag", "lattice", "aggressive"):
        file = tmp_path / f"docs/measurements/families/toy/claims.{paper}.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(verdicts)
    for paper in ("lattice", "aggressive"):
        other = tmp_path / f"docs/measurements/{paper}/toy"
        other.mkdir(parents=True)
        (other / f"{paper}.table1.csv").write_text((kept / "dag.table1.csv").read_text())
    shared = tmp_path / "docs/measurements/families"
    for level, row in (("toy", "a"), ("multi30k", "a")):  # as much as its own, and of a run alone
        (shared / level).mkdir(exist_ok=True)
        cells = [{"row": row, "source": "ours", "value": 1}]
        CELLS.write(shared / level / "aggressive.table1.csv", CELLS.frame(cells))
    more = [{"row": row, "source": "ours", "value": 1} for row in ("a", "b")]
    CELLS.write(shared / "toy/lattice.table1.csv", CELLS.frame(more))
    fewer = "".join(verdicts.splitlines(keepends=True)[:2])
    (other / "claims.aggressive.csv").write_text(fewer)
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
    said = "| claims | hold, do not hold, cannot be told (times: reference tier) |"
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


def test_artifacts_stand_in_the_order_of_the_paper_and_claims_last(page: str) -> None:
    lines = [line.split(" | ")[0].removeprefix("| ") for line in page.splitlines() if "[" in line]
    assert lines == ["figure1", "table1", "table2", "claims"]


def test_links_lead_somewhere() -> None:
    root = Path(__file__).parents[2]
    ((path, text),) = wanted(root).items()
    links = [part.partition(")")[0] for part in text.split("](")[1:]]
    assert len(links) > 40
    assert all((path.parent / link.partition("#")[0]).exists() for link in links)
