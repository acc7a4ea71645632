from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from fastdecode.config.papers import Artifact
from fastdecode.report.aggressive import cases
from fastdecode.report.artifacts.cells import CELLS
from fastdecode.report.artifacts.make import make, page, tabulate
from fastdecode.report.tables import to_markdown

ARTIFACT = Artifact(
    title="two sentences",
    kind="table",
    function="aggressive.cases",
    setting="k = 10",
    labels={"example": "example", "method": "method"},
    published={"iterations": "iterations"},
    rows={
        "ex1_gad": {"example": "1", "method": "GAD", "iterations": 4, "ours": "gad"},
        "ex1_gadpp": {"example": "1", "method": "GAD++", "iterations": 3, "ours": "gadpp"},
        "ex2_gad": {"example": "2", "method": "GAD", "iterations": 4, "ours": "gad"},
    },
)


@pytest.fixture
def csv(evidence: Any, tmp_path: Path) -> Path:
    make(evidence(ARTIFACT), tmp_path / "x.csv")
    return tmp_path / "x.csv"


def test_a_cell_has_a_mark_for_each_token(csv: Path) -> None:
    cells = CELLS.read(csv)
    ours = cells[cells["source"] == "ours"].set_index(["row", "column"])
    draft = ours.loc[("ex1_gad", "draft 2")]
    assert draft["text"] == "der alte Hund ruht im Gar@@ ten"
    assert draft["marks"] == "given given accepted refused dropped dropped dropped"
    assert ours.loc[("ex1_gad", "iterations"), "value"] == 3
    assert "ex2_gad" not in ours.index.get_level_values(0)  # there is one line
    assert (cells["source"] == "published").sum() == 3


def test_the_table(csv: Path) -> None:
    table = tabulate("aggressive.table11", ARTIFACT, csv)
    frame = table.frame
    steps = frame.set_index([frame.index, "step"])["tokens"].droplevel(0)
    assert steps["draft 2"].tolist() == [
        "(der alte) Hund [ruht] ×im ×Gar@@ ×ten",
        "(der alte) Hund +ruht im [Garten] ×Gar@@",
    ]
    assert steps["verify 2"].iloc[1] == "(der alte) Hund +ruht im [Gar@@] ×ten ×."
    assert steps["result"].iloc[0] == "der alte Hund schläft im Gar@@ ten ."
    heads = frame[frame["method"] != ""]
    assert heads["published iterations"].tolist() == ["4", "3", "4"]
    assert heads["iterations"].tolist() == ["3", "3", ""]
    assert "Ours: big/lattice on toy, valid, fp32." in table.caption
    assert "Published: k = 10." in table.caption
    unsaid = tabulate("aggressive.table11", ARTIFACT.model_copy(update={"setting": ""}), csv)
    assert "Published" not in unsaid.caption
    text = to_markdown(frame, table.caption)
    assert r"\</s>" in text  # a bare one would not be seen


def test_the_page(csv: Path) -> None:
    titled = ARTIFACT.model_copy(update={"title": "sentences of GAD"})
    text = page("aggressive.table11", titled, csv)
    assert "Sentences of GAD" in text
    marked: list[tuple[str | None, str]] = []

    class Reader(HTMLParser):
        state: str | None = None

        def handle_starttag(self, tag: str, attrs: Any) -> None:
            self.state = dict(attrs).get("class") if tag == "span" else None

        def handle_data(self, data: str) -> None:
            if self.state:
                marked.append((self.state, data))
                self.state = None

    Reader().feed(text)
    assert {state for state, _ in marked} == {
        "given",
        "accepted",
        "tolerated",
        "refused",
        "own",
        "dropped",
    }
    assert ("tolerated", "ruht") in marked and ("accepted", "</s>") in marked
    assert "toy: 1, GAD++, 3 iterations (published: 3)" in text


def test_nothing_run(evidence: Any, tmp_path: Path) -> None:
    from dataclasses import replace

    csv = tmp_path / "x.csv"
    make(replace(evidence(ARTIFACT), statistics=()), csv)
    table = tabulate("aggressive.table11", ARTIFACT, csv)
    assert "Nothing of it was run here." in table.caption
    assert table.frame["published iterations"].tolist() == ["4", "3", "4"]
    assert page("aggressive.table11", ARTIFACT, csv).startswith("<!DOCTYPE html>")


def test_the_page_escapes_all_that_it_is_given() -> None:
    place = {"row": "ex1_gad", "source": "ours", "dataset": "a<b"}
    counted = {**place, "column": "iterations", "value": 1}
    frame = CELLS.frame([counted, {**place, "column": "draft <1>", "text": "x & y"}])
    text = cases.page("<name>", ARTIFACT, frame)
    assert '<tr><th scope="row">draft &lt;1&gt;</th><td>x &amp; y</td></tr>' in text
    assert "<title>&lt;name&gt;</title>" in text and "<h2>a&lt;b: , , 1 iterations" in text
