"""The tables and figures of a paper through the workflow."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from fastdecode.report.artifacts.cells import CELLS
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.claims.findings import FAILS, HOLDS, TOO_FEW, UNKNOWN
from fastdecode.report.claims.printed import VERDICTS
from tests.workflow.conftest import Workplace, write

TEACHER, STUDENT = "raw/transformer-big", "distilled/transformer"
TABLE: dict[str, Any] = {
    "title": "quality and speed",
    "kind": "table",
    "function": "artifacts.rows",
    "labels": {"model": "model"},
    "published": {"bleu": "BLEU"},
    "measured": {"bleu": "bleu", "ms": "latency", "speedup": "speedup"},
    "split": "valid",
    "over": "slow",
    "against": ["slow"],
    "rows": {
        "slow": {"model": "teacher", "bleu": 27.5, "ours": f"{TEACHER}/beam5"},
        "quick": {"model": "student", "bleu": 26.0, "ours": f"{STUDENT}/greedy"},
        "theirs": {"model": "another's", "bleu": 25.0},
    },
}
PAPER: dict[str, Any] = {
    "title": "Of Two Systems",
    "authors": ["A. Nobody"],
    "year": 2000,
    "artifacts": {
        "table1": TABLE,
        "table2": TABLE | {"title": "the same of big models"},  # the run has none of it
        "figure1": {
            "title": "quality by beam",
            "kind": "figure",
            "function": "artifacts.curves",
            "axes": {"x": "beam", "y": "BLEU"},
            "labels": {"series": "curve", "x": "beam"},
            "measured": {"y": "bleu"},
            "rows": {
                "one": {"series": "teacher", "x": 1, "ours": f"{TEACHER}/greedy"},
                "five": {"series": "teacher", "x": 5, "ours": f"{TEACHER}/beam5"},
            },
        },
        "figure2": {
            "title": "quality by length",
            "kind": "figure",
            "function": "dag.lengths",
            "axes": {"x": "words", "y": "BLEU"},
            "labels": {"series": "curve"},
            "measured": {"y": "bleu_by_length"},
            "rows": {
                "slow": {"series": "teacher", "ours": f"{TEACHER}/beam5"},
                "quick": {"series": "student", "ours": f"{STUDENT}/greedy"},
            },
        },
    },
    "claims": {
        "short": {
            "statement": "of few words the teacher is better",
            "artifacts": ["figure2"],
            "check": [{"value": {"minus": ["teacher@1", "teacher@1"]}, "above": 1}],
        },
        "quick": {
            "statement": "the student is quick",
            "artifacts": ["table1"],
            "check": [{"value": "quick.speedup", "above": 0.01}],
        },
        "good": {
            "statement": "the teacher is better",
            "artifacts": ["table1", "figure1"],
            "check": [{"value": {"minus": ["slow.bleu", "slow.bleu"]}, "above": 1}],
        },
        "both": {
            "statement": "the teacher writes something, whatever its size",
            "artifacts": ["table1", "table2"],
            "check": [{"value": "slow.bleu", "above": -1}],
        },
    },
}
HAS = ["table1", "figure1", "figure2"]  # what the run asks for


def test_artifacts_stand_in_the_report(finished: Workplace, tmp_path: Path) -> None:
    place = finished.copy(tmp_path / "copy")
    place.run = place.run | {"papers": [f"mine.{name}" for name in HAS]}
    place.save()
    write(place.folder / "own/papers/mine.yaml", yaml.safe_dump(PAPER))
    done = place.snakemake("figures", "results/report/micro/index.html")
    assert done.returncode == 0, done.stdout
    report = place.path("report/micro")
    assert {file.name for file in report.glob("mine.*")} == {
        *(f"mine.table1.{kind}" for kind in ("csv", "md", "tex")),
        *(f"mine.figure{n}.{kind}" for n in (1, 2) for kind in ("csv", "svg", "png", "pdf")),
    }
    cells = CELLS.read(report / "mine.table1.csv")
    ours = cells[cells["source"] == "ours"].set_index(["row", "column"])
    assert ours.loc[("quick", "bleu"), "split"] == "valid"  # translated for this table alone
    assert place.path("micro/transformer-big/transformer/seed1/valid.greedy.jsonl.gz").exists()
    ratio = ours.loc[("slow", "ms"), "value"] / ours.loc[("quick", "ms"), "value"]
    assert abs(ours.loc[("quick", "speedup"), "value"] - ratio) < 1e-9
    assert (report / "significance/mine.table1.micro.valid.json").exists()
    text = (report / "mine.table1.md").read_text()
    assert text.startswith("mine.table1: quality and speed.") and "another's" in text
    assert sorted(POINTS.read(report / "mine.figure1.csv")["x"]) == [1, 5]
    claims = VERDICTS.read(report / "claims.mine.csv").set_index("claim")
    quick, good = claims.loc["quick"], claims.loc["good"]
    assert (quick["verdict"], quick["finding_why"]) == (UNKNOWN, TOO_FEW)  # it has two repeats
    assert good["verdict"] == FAILS and good["low"] == good["high"] == 0  # known, paired
    both = claims.loc["both"].set_index("artifact")  # of one table alone it is not told
    assert set(both["verdict"]) == {UNKNOWN} and both.loc["table1", "finding"] == HOLDS
    assert both.loc["table2", "finding_why"] == "not measured: slow.bleu"
    drawn = pd.read_csv(report / "claims/mine.micro.valid.bleu.csv")
    assert set(drawn) >= {f"{TEACHER}/beam5", "transformer-big/transformer/greedy"}
    short = claims.loc["short"]
    assert short["verdict"] == FAILS and short["low"] == short["high"] == 0  # of its lines alone
    by_length = pd.read_csv(report / "claims/mine.micro.test.bleu_by_length.csv")
    points = POINTS.read(report / "mine.figure2.csv")
    names = points["what"] + "/" + points["label"].str.partition("\n")[0]
    assert set(by_length) == set(names)
    assert by_length[f"{TEACHER}/beam5/1-10"].notna().all()
    shown = place.own_report(tmp_path / "own.html")["Paper: mine"]
    assert {"mine.table1.md", "mine.figure1.svg", "claims.mine.md"} <= shown
    page = (report / "index.html").read_text(encoding="utf-8")
    assert "Of Two Systems" in page and "the student is quick" in page.lower()
    assert "data:image/svg+xml" in page and "sentences" in page
    _one_alone(place, report)


def _one_alone(place: Workplace, report: Path) -> None:
    """Make one table again, as `figures --config papers=[mine.table1]` does, and touch no other."""
    table = report / "mine.table1.md"
    before, text = _times(report.glob("mine.figure*")), table.read_text(encoding="utf-8")
    table.unlink()
    place.run = place.run | {"papers": ["mine.table1"]}
    place.save()
    done = place.snakemake("figures")
    assert done.returncode == 0, done.stdout
    assert table.read_text(encoding="utf-8") == text
    assert _times(report.glob("mine.figure*")) == before != {}
    assert not re.findall(r"(?:Training|Translating|Timing|Distilling) .*", done.stdout)


def _times(files: Iterable[Path]) -> dict[str, int]:
    """Return when each file was written, by its name."""
    return {file.name: file.stat().st_mtime_ns for file in files}
