"""A small project with papers, tables, figures and verdicts that are kept."""

from pathlib import Path

from fastdecode.report.artifacts.cells import CELLS
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.by_paper import PAPERS
from fastdecode.report.claims.printed import COLUMNS

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
    ("eleventh", "toy", "", "holds"),
    ("eleventh", "news", "", "cannot be told"),
]
UNCHECKED = "twelfth"
CHECK = "[{rising: [a.bleu, b.bleu]}]"
READ = "  {}: {{artifacts: [table1], statement: {}, reading: {}, check: {}}}\n"
BY = {"fifth": "", "eighth": "b.bleu < a.bleu"}  # verdicts by another condition, or none
SURE = {"cells": "a.bleu 1; b.bleu 2", "value": "1", "low": "0.5", "high": "1.5"}
NUMBERS = {  # others have none: of a BLEU without an interval, and with one; too wide a one
    ("fourth", "toy"): {"cells": "a.bleu 1; b.bleu 2", "value": "1"},
    ("ninth", "toy"): {"cells": "a.bleu 1; b.bleu 2"},
    ("tenth", "toy"): SURE,
    ("eleventh", "toy"): SURE,  # on other data it was not measured
}
MARKS = {"reference": "†", "optimised": "‡"}  # of times in a tier


def write_project(folder: Path) -> None:
    """Write it into a folder."""
    (folder / "config/papers").mkdir(parents=True)
    for paper in PAPERS:
        readings = {name: "otherwise" if name == "seventh" else "so" for name, *_ in VERDICTS}
        claims = "".join(
            READ.format(name, f"the {name}", how, CHECK) for name, how in readings.items()
        )
        claims += f"  {UNCHECKED}: {{statement: the {UNCHECKED}, unchecked: no number tells}}\n"
        (folder / f"config/papers/{paper}.yaml").write_text(PAPER + claims)
    kept = folder / "docs/measurements/dag/toy"
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
        | {"finding": verdict[3] if BY.get(verdict[0], "b") else ""}
        | NUMBERS.get(verdict[:2], {})
        | {"marks": MARKS.get(verdict[2], "")}
        for verdict in VERDICTS
    ]
    verdicts = "\n".join([",".join(COLUMNS), *(",".join(line.values()) for line in lines)]) + "\n"
    (kept / "claims.dag.csv").write_text(verdicts)
    for paper in ("dag", "lattice", "aggressive"):
        file = folder / f"docs/measurements/families/toy/claims.{paper}.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(verdicts)
    for paper in ("lattice", "aggressive"):
        other = folder / f"docs/measurements/{paper}/toy"
        other.mkdir(parents=True)
        (other / f"{paper}.table1.csv").write_text((kept / "dag.table1.csv").read_text())
    shared = folder / "docs/measurements/families"
    for level, row in (("toy", "a"), ("multi30k", "a")):  # as much as its own, and of a run alone
        (shared / level).mkdir(exist_ok=True)
        cells = [{"row": row, "source": "ours", "value": 1}]
        CELLS.write(shared / level / "aggressive.table1.csv", CELLS.frame(cells))
    more = [{"row": row, "source": "ours", "value": 1} for row in ("a", "b")]
    CELLS.write(shared / "toy/lattice.table1.csv", CELLS.frame(more))
    fewer = "".join(verdicts.splitlines(keepends=True)[:2])
    (other / "claims.aggressive.csv").write_text(fewer)
