import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from shutil import copy
from typing import Any

import pandas as pd
import pytest

from fastdecode.config.base import check
from fastdecode.config.claims import Claim
from fastdecode.config.papers import Artifact
from fastdecode.errors import UserError
from fastdecode.files import write_csv
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.make import make
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.claims.evidence import Resamples, read_cells
from fastdecode.report.claims.judge import judge
from fastdecode.report.claims.printed import verdicts
from fastdecode.report.page.chart import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    _logarithmic,
    charts,
)
from fastdecode.report.page.page import PaperOf, Report, _facts, page
from fastdecode.report.page.place import Place
from fastdecode.report.page.sections import grid
from fastdecode.report.speed_numbers import SPEEDS, speed_rows
from tests.report.conftest import one_sentence, value

SLOW, QUICK = "raw/base/beam5", "big/small/beam5"
ARTIFACT = check(
    Artifact,
    {
        "title": "speed <and> quality",
        "kind": "table",
        "function": "artifacts.rows",
        "setting": "one GPU",
        "published": {"bleu": "BLEU"},
        "notes": ["a doubt"],
        "measured": {"bleu": "bleu", "ms": "latency"},
        "labels": {"model": "model"},
        "rows": {
            "slow": {"model": "A & B", "bleu": 27.5, "ours": SLOW},
            "quick": {"model": "C", "bleu": 26, "ours": QUICK},
        },
    },
    "mine",
)
DRAWING = Artifact(title="a sentence", kind="figure", function="x.y", shows="one", statistics={})
CLAIMS = {
    "order": {
        "statement": "A & B is better",
        "artifacts": ["table1"],
        "check": [{"rising": ["quick.bleu", "slow.bleu"]}],
    },
    "more": {
        "statement": "it is better, and smaller",
        "artifacts": ["table1"],
        "check": [{"rising": ["quick.bleu", "slow.bleu"]}, {"value": "slow.memory", "above": 0}],
    },
    "looks": {"statement": "it looks so", "unchecked": "see the figure", "artifacts": ["table1"]},
}


def speeds(name: str, ms: float, **more: str) -> list[dict[str, Any]]:
    setting = {"tier": "reference", "scenario": "S1", "batch": "1", "threads": "1"}
    return [
        value(name, metric, number, precision="fp32", **setting, **more)
        for metric, number in one_sentence(ms).items()
    ]


def report(folder: Path) -> Report:
    rows = [
        value(SLOW, "bleu", 40.0, family="autoregressive", signature="s"),
        value(QUICK, "bleu", 35.0, family="dag", signature="s"),
        *speeds(SLOW, 20.0, family="autoregressive"),
        *speeds(QUICK, 5.0, family="dag"),
    ]
    tidy = pd.DataFrame(rows)
    write_csv(folder / "measurements.csv", tidy)
    timed = speed_rows(tidy, "toy", "test", "S1", {"reference": SLOW, "optimised": None})
    write_csv(folder / "speed.toy.test.S1.csv", timed)
    entries = {"slow": {"reference": SLOW}, "quick": {"reference": QUICK}}
    evidence = Evidence(ARTIFACT, tidy, {"toy": Part("test", "test", entries)})
    make(evidence, folder / "mine.table1.csv")
    claims = {name: check(Claim, row, name) for name, row in CLAIMS.items()}
    found = {"table1": read_cells(ARTIFACT, folder / "mine.table1.csv")}
    drawn = pd.DataFrame({SLOW: [40.0] * 9, QUICK: [35.0] * 9})
    resamples = Resamples({("toy", "test", "bleu"): drawn})
    frame = verdicts(claims, judge(claims, {"table1": ARTIFACT}, found, resamples))
    write_csv(folder / "claims.mine.csv", frame)
    (folder / "claims.mine.md").touch()
    (folder / "curve.svg").write_text("<svg/>")
    drawing = {"dataset": "toy", "split": "test", "line": "2", "source": "ours", "commit": "c"}
    POINTS.write(folder / "mine.figure1.csv", POINTS.frame([drawing]))
    POINTS.write(folder / "mine.figure2.csv", POINTS.frame([drawing | {"line": "3"}]))
    for name in ("figure1", "figure2"):
        (folder / f"mine.{name}.svg").write_text(f"<svg><!--{name}--></svg>")
    lines = [("1", "kurz", "short"), ("2", "ein Hund", "a dog")]
    columns = ["dataset", "split", "line", "what", "source", "reference", "text"]
    written = [("toy", "test", *line, f"{line[2]}!") for line in lines]
    sentences = [(*row[:3], SLOW, *row[3:]) for row in written]
    pd.DataFrame(sentences, columns=columns).to_csv(folder / "sentences.csv", index=False)
    artifacts = {"table1": ARTIFACT, "figure1": DRAWING, "figure2": DRAWING}
    paper = PaperOf("mine", "Of <Two> Systems", ["A. Nobody"], 2000, artifacts)
    return Report(
        name="made",
        place=Place(folder),
        splits=[("toy", "test")],
        speedup_over={"reference": SLOW},
        papers=[paper],
        speeds=["speed.toy.test.S1.csv"],
        figures={"curve.svg": "a curve"},
        files=["measurements.csv"],
        sentences=["sentences.csv"],
        languages={"toy": ("de", "en")},
    )


class Reader(HTMLParser):
    """Notes ids, links and whether tags are closed as they were opened."""

    VOID = ("meta", "img", "link", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[tuple[str, dict[str, Any]]] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        self.ids += [str(found["id"])] if "id" in found else []
        self.links += [str(found["href"])] if "href" in found else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture
def written(tmp_path: Path) -> str:
    return page(report(tmp_path))


def test_a_page_stands_alone_and_its_links_lead_somewhere(written: str, tmp_path: Path) -> None:
    read = Reader()
    read.feed(written)
    assert read.open == [] and len(read.ids) == len(set(read.ids))
    for link in read.links:
        assert link[1:] in read.ids if link.startswith("#") else (tmp_path / link).is_file(), link
    assert "http" not in written.replace("http://www.w3.org", "")  # nothing is fetched
    assert {"table", "figure", "nav", "main", "h1"} <= {tag for tag, _ in read.tags}
    assert all(found.get("alt") for tag, found in read.tags if tag == "img")
    labelled = [found["aria-labelledby"] for _, found in read.tags if "aria-labelledby" in found]
    assert set(labelled) <= set(read.ids)


def test_artifacts_stand_in_the_order_of_the_paper(tmp_path: Path) -> None:
    made = report(tmp_path)
    copy(tmp_path / "mine.table1.csv", tmp_path / "mine.figure9.csv")
    artifacts = {"figure9": ARTIFACT, "table1": ARTIFACT}
    read = Reader()
    read.feed(page(replace(made, papers=[replace(made.papers[0], artifacts=artifacts)])))
    mine = ["mine.figure9", "mine.table1"]
    assert [one for one in read.ids if one in mine] == mine
    links = [link[1:] for link in read.links if link.startswith("#")]
    assert [one for one in links if one in mine][:2] == mine


def test_published_numbers_stand_beside_ours(written: str) -> None:
    assert '<td class="published">27.5</td>' in written
    assert "40.00" in written and SLOW in written and "A &amp; B" in written
    assert "speed &lt;and&gt; quality" in written and "Of &lt;Two&gt; Systems" in written
    assert "c0ffee" in written and "a doubt" in written


def test_what_is_said_of_a_table_stands_once_and_marks_are_explained_below_it(
    written: str, tmp_path: Path
) -> None:
    assert written.count("a doubt") == 1 and "Published: one GPU" not in written
    article = written.split('id="mine.table1"')[1].split("</article>")[0]
    assert "†: the machine" not in article
    told = report(tmp_path)
    cells = pd.read_csv(tmp_path / "mine.table1.csv", dtype=str, keep_default_na=False)
    cells.loc[cells["column"] == "ms", "marks"] = "†"
    write_csv(tmp_path / "mine.table1.csv", cells)
    article = page(told).split('id="mine.table1"')[1].split("</article>")[0]
    below = article.index("†: the machine")
    assert article.index("</table>") < below < article.index("What was run")


def test_systems_are_named_by_target_system_and_decoder(written: str) -> None:
    table = written[written.index("Systems on ") :]
    body = table[table.index("<tbody>") : table.index("</tbody>")]
    rows = [re.findall(r'<th scope="row"[^>]*>(.*?)</th>', row) for row in body.split("</tr>")[:-1]]
    assert rows == [[SLOW], [QUICK]]
    assert body.count('class="name"') == 2


def test_of_columns_that_name_rows_the_one_that_tells_them_apart_stays() -> None:
    def stays(*rows: str) -> int:
        return grid(pd.DataFrame([row.split() for row in rows]), "", names=3).stays

    assert stays("raw dag i=10 1", "raw ctc i=10 2", "kd nat i=1 3") == 1
    assert stays("one dag i=10 1", "two dag i=10 2") == 0
    assert stays("raw dag i=10 1", "raw dag i=20 1") == 2
    assert stays("one dag a 1", "two ctc b 1") == 0  # the first of those that do


def test_rows_that_a_claim_names_by_their_keys_are_explained(written: str) -> None:
    assert "<code>slow</code>: A &amp; B; <code>quick</code>: C." in written


def test_verdicts_are_shown_with_their_numbers(written: str) -> None:
    assert "quick.bleu &lt; slow.bleu: +5" in written
    assert written.count('<span class="verdict holds">') == 1
    assert "see the figure" in written
    assert "</span> toy: what was measured of it holds</summary>" in written
    assert "<td>1</td><td>0</td><td>2</td>" in written  # the tally


def test_verdicts_of_what_the_run_does_not_judge_are_left_where_they_lie(tmp_path: Path) -> None:
    made = report(tmp_path)
    text = page(replace(made, papers=[replace(made.papers[0], judged=False)]))
    assert "mine.table1" in text and "verdict" not in text.split("</style>")[1]
    assert "claims.mine" not in text


def test_every_point_can_be_reached_and_read(written: str) -> None:
    read = Reader()
    read.feed(written)
    points = [found for _, found in read.tags if "point" in str(found.get("class", "")).split()]
    assert [found["tabindex"] for found in points] == ["0", "-1"]
    assert [(found["role"], found["aria-selected"]) for found in points] == [
        ("option", "true"),
        ("option", "false"),
    ]
    assert [found["role"] for tag, found in read.tags if tag == "svg"] == ["listbox"]
    assert points[1]["aria-label"].startswith(f"{SLOW}: BLEU 40.00, 20 ms a sentence")
    assert {found["data-family"] for found in points} == {"autoregressive", "dag"}


def test_a_point_says_its_precision_and_another_one_of_what_it_is_over(tmp_path: Path) -> None:
    report(tmp_path)
    speeds = SPEEDS.read(tmp_path / "speed.toy.test.S1.csv")
    speeds.loc[speeds["system"] == "small", "precision"] = "int8"
    (chart,) = charts(speeds, {})
    quick, slow = (point.text for point in chart.points)
    assert quick == f"BLEU 35.00, 5 ms a sentence in int8, ×4.00 over {SLOW} in fp32"
    assert slow == f"BLEU 40.00, 20 ms a sentence in fp32, ×1.00 over {SLOW}"
    (chart,) = charts(speeds.assign(differs=1.0), {})
    assert all(p.text.endswith(", writes something else than it has to (≠)") for p in chart.points)
    (chart,) = charts(speeds.assign(latency_disturbed=1.0), {})
    assert all(point.text.endswith(", disturbed (†)") for point in chart.points)
    (chart,) = charts(speeds.assign(over_disturbed=1.0, over_differs=1.0), {})
    assert chart.points[0].text.endswith(f", ×4.00†≠ over {SLOW} in fp32")


def test_what_is_touched_for_a_point_is_wide_enough_on_a_phone(written: str) -> None:
    read = Reader()
    read.feed(written)
    kinds = [str(found.get("class", "")).split() for _, found in read.tags]
    hits = [found for _, found in read.tags if found.get("class") == "hit"]
    marks = [found for _, found in read.tags if "point" in str(found.get("class", "")).split()]
    places = [f"translate({found['cx']} {found['cy']})" for found in hits]
    assert places == [found["transform"] for found in marks]
    assert [found["data-family"] for found in hits] == [found["data-family"] for found in marks]
    for phone in (320, 360):  # of which the body's padding is left free, at most .9rem a side
        scale = (phone - 2 * 0.9 * 16) / WIDTH
        assert all(2 * float(found["r"]) * scale >= 24 for found in hits)
    # Marks lie above, and the keyboard reaches them alone.
    assert max(n for n, kind in enumerate(kinds) if kind == ["hit"]) < kinds.index(
        ["point", "f-dag", "best"]
    )
    assert not any("tabindex" in found or "role" in found for found in hits)


def test_a_drawing_stands_with_its_paper_and_is_shown_below_the_translations_of_its_line(
    written: str,
) -> None:
    before, _, after = written.partition('<details id="sentences.toy.test.2" open>')
    assert '<details id="sentences.toy.test.1">' in before
    for number in (1, 2):
        assert b64encode(f"<svg><!--figure{number}--></svg>".encode()).decode() in before
    assert before.count('<a href="#sentences.toy.test.2">') == 1  # figure 2's is no example
    assert "data:image" not in after  # which would be there twice
    assert '<img class="sheet" data-of="mine.figure1"' in after and "mine.figure2" not in after
    assert after.count("Figure 1: a sentence, of line 2 of toy, test. Published: one.") == 1
    assert '<a href="#mine.figure1">Mine, Figure 1: a sentence</a>' in after


def test_without_drawings_the_first_example_is_open(tmp_path: Path) -> None:
    made = replace(report(tmp_path), papers=[])
    assert '<details id="sentences.toy.test.1" open>' in page(made)
    assert '<details id="sentences.toy.test.2">' in page(made)


def test_examples_say_their_languages(written: str) -> None:
    assert '<html lang="en">' in written
    assert '<summary lang="de">ein Hund</summary>' in written
    assert written.count('<dd lang="en">a dog') == 2  # the reference, and what was written
    assert '<dd lang="en">a dog!</dd>' in written


def test_a_file_that_is_missing_is_said(tmp_path: Path) -> None:
    made = report(tmp_path)
    (tmp_path / "mine.table1.csv").unlink()
    with pytest.raises(UserError, match="no such file"):
        page(made)


def test_places_of_points(tmp_path: Path) -> None:
    report(tmp_path)
    kinds = {"threads": str, "batch": str}
    frame = pd.read_csv(tmp_path / "speed.toy.test.S1.csv", dtype=kinds)
    (chart,) = charts(frame, {("raw", "base"): "autoregressive"})
    quick, slow = chart.points
    assert (quick.family, slow.family) == ("other", "autoregressive")
    assert LEFT < quick.x < slow.x < WIDTH - RIGHT
    assert TOP < slow.y < quick.y < HEIGHT - BOTTOM  # higher BLEU is higher up
    assert quick.best and slow.best
    assert chart.front == f"M{quick.x} {quick.y}H{slow.x}V{slow.y}"
    assert [text for _, text in chart.x_ticks] == [*"56789", "10", "20"]
    worse = frame.assign(bleu=[30.0, 35.0])
    (chart,) = charts(worse, {})
    assert [point.best for point in chart.points] == [True, False]
    assert charts(frame.assign(bleu=float("nan")), {}) == []


@pytest.mark.parametrize(
    "values",
    [[12, 17], [11.5, 13, 18], [15.1, 13.7], [25.0], [120, 190], [0.9], [0.05], [0.28, 0.31]],
)
def test_an_axis_has_two_ticks_at_least(values: list[float]) -> None:
    low, high, ticks = _logarithmic(values)
    assert len(ticks) >= 2 and all(low <= tick <= high for tick in ticks)


def test_a_row_names_all_that_wrote_its_text(tmp_path: Path) -> None:
    made = report(tmp_path)
    frame = pd.read_csv(tmp_path / "sentences.csv", dtype=str)
    other = frame.assign(what=QUICK, text=["short!", "dog!"])
    pd.concat([frame, other]).to_csv(tmp_path / "sentences.csv", index=False)
    text = page(made)
    both = f'<dt><span>{SLOW},</span> <span>{QUICK}</span> </dt><dd lang="en">short!</dd>'
    assert both in text and text.count(">short!<") == 1  # alike
    assert f'<span>{SLOW}</span> </dt><dd lang="en">a dog!</dd>' in text
    assert f'<span>{QUICK}</span> </dt><dd lang="en">dog!</dd>' in text


def test_the_column_of_what_was_run_is_told_from_numbers(written: str) -> None:
    assert f'<td class="here">{SLOW}</td>' in written
    assert '<th scope="col" class="here">run here</th>' in written
    assert '<th scope="col" class="name">model</th>' in written  # it stays above its sticky cells


def test_one_device_is_told_once_and_several_by_what_ran_on_them() -> None:
    same = [value(SLOW, metric, 1) for metric in ("train_epochs", "bleu", "latency_mean")]
    facts = dict(_facts(pd.DataFrame(same)))
    assert facts["device"] == "cpu: X, 2 cores" and "trained on" not in facts
    assert facts["systems of random weights"] == ""  # a line that is left out
    more = [
        value(QUICK, "train_epochs", 1, device="GPU"),
        value(QUICK, "train_seconds", 1, device="GPU"),
        value(QUICK, "bleu", 1, device="Other"),
        value("raw/base/other", "train_epochs", 1, seed="2", device=""),
    ]
    facts = dict(_facts(pd.DataFrame([*same, *more])))
    assert "device" not in facts
    assert facts["trained on"] == "cpu: X, 2 cores (1 of 2), GPU (1 of 2)"
    assert facts["translated and counted on"] == "cpu: X, 2 cores, Other"
    assert facts["timed on"] == "cpu: X, 2 cores"
