"""The figures with curves and bars: their points, and that they can be read."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from fastdecode.config.papers import Paper
from fastdecode.errors import UserError
from fastdecode.measure.lengths import NAMES
from fastdecode.report.artifacts.evidence import Curve, Evidence, Part
from fastdecode.report.artifacts.make import draw, make
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.tidy import COLUMNS
from fastdecode.train.curve import COLUMNS as VALIDATION
from tests.report.conftest import assert_legible, value

EMPTY = pd.DataFrame(columns=COLUMNS)


@pytest.fixture
def drawn(paper: Paper, tmp_path: Path) -> Any:
    """Makes and draws an artifact of the paper; returns its points."""

    def drawing(name: str, tidy: pd.DataFrame = EMPTY, **evidence: Any) -> pd.DataFrame:
        artifact = paper.artifacts[name]
        csv, svg, png = (tmp_path / f"x.{kind}" for kind in ("csv", "svg", "png"))
        make(Evidence(artifact, tidy, **evidence), csv)
        draw(f"dag.{name}", artifact, csv, (svg, png))
        assert svg.stat().st_size and png.stat().st_size
        return POINTS.read(csv)

    return drawing


def part(**rows: str) -> Part:
    return Part("test", "test", {row: {"reference": entry} for row, entry in rows.items()})


def labels(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_quality_against_speed_by_tier(tidy: pd.DataFrame, drawn: Any, saved: list[Figure]) -> None:
    base = {"reference": "raw/base/beam5", "optimised": "raw/base/fast"}
    graph = {"reference": "big/small/beam5", "optimised": "big/small/fast"}
    greedy = {"reference": "big/small/greedy"}
    entries = {"at_beam": base, "lookahead2": graph, "lookahead4": greedy, "nat": greedy}
    points = drawn("figure5", tidy, parts={"toy": Part("test", "test", entries)})
    published = points[points["source"] == "published"]
    assert len(published) == 9 and set(published["panel"]) == {""}
    first = points[points["panel"] == "reference tier"]
    found = {(row["series"], row["label"]): row["x"] for row in first.to_dict("records")}
    assert found == pytest.approx(
        {
            ("lookahead, λ", "2"): 2.0,
            ("lookahead, λ", "4"): 2.5,
            ("autoregressive", "beam 5"): 1.0,
            ("NAT", ""): 2.5,
        }
    )
    assert set(first["device"]) == {"cpu: X, 2 cores"}
    assert len(points[points["panel"] == "optimised tier"]) == 2
    (figure,) = saved
    assert_legible(figure)
    assert "lookahead, λ: 2, 4" in labels(figure) and "NAT" in labels(figure)
    assert "hollow: published" in labels(figure) and "CTC, published" in labels(figure)
    for panel in figure.axes:  # table 1's speed-up of CTC + GLAT stands in both tiers
        hollow = [line for line in panel.lines if line.get_markerfacecolor() == "white"]
        assert [14.6, 25.02] in [[line.get_xdata()[0], line.get_ydata()[0]] for line in hollow]


def test_quality_of_seeds_has_whiskers(tidy: pd.DataFrame, drawn: Any, saved: list[Figure]) -> None:
    second = tidy[tidy["metric"] == "bleu"].assign(seed="2", value=lambda rows: rows["value"] + 4)
    entries = {"at_beam": {"reference": "raw/base/beam5"}, "nat": {"reference": "raw/base/greedy"}}
    parts = {"toy": Part("test", "test", entries)}
    points = drawn("figure5", pd.concat([tidy, second]), parts=parts)
    spread = points.loc[points["n"] == 2, ["y", "sd"]]
    assert len(spread) == 2 and (spread["sd"] > 1).all()
    bars = [bar for bar in saved[0].axes[0].containers if isinstance(bar, ErrorbarContainer)]
    ends = [bar.lines[2][0].get_segments()[0][:, 1] for bar in bars]
    wanted = [[y - sd, y + sd] for y, sd in spread.to_numpy()]
    assert np.array(ends) == pytest.approx(np.array(wanted))


def test_objectives_stand_beside_the_published(
    tidy: pd.DataFrame, drawn: Any, saved: list[Figure]
) -> None:
    here = part(max_masked="raw/base/beam5", sum_adaptive="big/small/beam5")
    points = drawn("figure7", tidy, parts={"toy": here})
    assert len(points[points["source"] == "published"]) == 6
    ours = points[points["source"] == "ours"]
    assert list(zip(ours["series"], ours["label"], ours["y"], strict=True)) == [
        ("all masked", "max", 31.0),
        ("adaptive", "sum", 29.0),
    ]
    (figure,) = saved
    assert_legible(figure)
    assert [panel.get_title() for panel in figure.axes] == ["published", "toy"]
    assert labels(figure) == ["all masked", "uniform", "adaptive"]
    assert figure.get_suptitle().endswith("bars do not begin at zero")


def test_an_objective_alone_is_as_high_as_it_is_and_stands_in_its_place(
    tidy: pd.DataFrame, drawn: Any, saved: list[Figure]
) -> None:
    drawn("figure7", tidy, parts={"toy": part(sum_adaptive="big/small/beam5")})
    published, ours = saved[0].axes
    assert ours.get_ylim()[0] == 0
    assert ours.get_xlim() == published.get_xlim()
    assert [tick.get_text() for tick in ours.get_xticklabels()] == ["max", "sum"]


def test_objectives_of_distilled_targets_stand_behind_those_of_raw_ones(
    tidy: pd.DataFrame, drawn: Any, saved: list[Figure]
) -> None:
    here = part(sum_adaptive="raw/base/beam5", max_masked_kd="big/small/beam5")
    drawn("figure7", tidy, parts={"toy": here})
    places = [[tick.get_text() for tick in panel.get_xticklabels()] for panel in saved[0].axes]
    assert places == [["max", "sum"], ["max", "sum", "max,\ndistilled"]]
    assert_legible(saved[0])
    low, high = saved[0].axes[1].get_xlim()
    assert low < 1 and high > 3
    assert saved[0].axes[0].get_xlim()[1] < 3


def test_whiskers_of_seeds_are_in_the_panel(drawn: Any, saved: list[Figure]) -> None:
    rows = [
        value("raw/base/beam5", "bleu", bleu, seed=seed) | {"signature": "tok:13a"}
        for seed, bleu in (("1", 20.0), ("2", 40.0))
    ]
    rows += [value("raw/base/greedy", "bleu", 30.0) | {"signature": "tok:13a"}]
    here = part(sum_adaptive="raw/base/beam5", max_adaptive="raw/base/greedy")
    points = drawn("figure7", pd.DataFrame(rows), parts={"toy": here})
    spread = points.loc[points["n"] == 2, "sd"].item()
    low, high = saved[0].axes[1].get_ylim()
    assert low < 30 - spread and high > 30 + spread


def test_samples_are_means_over_seeds(
    drawn: Any, origin: dict[str, Any], saved: list[Figure]
) -> None:
    def document(system: str, seed: int, shift: float) -> dict[str, Any]:
        points = [
            {
                "temperature": temperature,
                "pairwise": {"value": 70 - 30 * temperature + shift},
                "multi_reference": {"value": 60 - 10 * temperature + shift},
            }
            for temperature in (0.4, 1.0)
        ]
        same = origin | {"system": system, "seed": seed, "commit": f"c{seed}"}
        return {"provenance": same, "points": points}

    documents = [document("dag", 1, 0), document("dag", 2, 2), document("ctc-glat", 1, -5)]
    points = drawn("figure8", parts={"toy": part()}, statistics=documents)
    graph = points[points["series"] == "big/dag"]
    assert graph["x"].tolist() == pytest.approx([59, 41])
    assert graph["y"].tolist() == pytest.approx([57, 51])
    assert graph["label"].tolist() == ["0.4", "1"] and set(graph["n"]) == {2}
    assert (set(graph["seeds"]), set(graph["commit"])) == ({"1 2"}, {"c1 c2"})
    (figure,) = saved
    assert_legible(figure)
    assert labels(figure) == ["graph, λ = 8, taught by big", "CTC + GLAT, taught by big"]
    (panel,) = figure.axes
    assert panel.xaxis_inverted()  # less alike is to the right
    full = [line for line in panel.lines if line.get_markerfacecolor() != "white"]
    coldest = points[points["label"] == "0.4"]
    places = [np.array(line.get_data())[:, 0] for line in full]
    assert np.array(places) == pytest.approx(coldest[["x", "y"]].to_numpy())
    assert [np.size(line.get_xdata()) for line in full] == [1, 1]


def test_bleu_by_length_says_how_many_lines(drawn: Any, saved: list[Figure]) -> None:
    rows = [
        value("raw/base/beam5", f"{metric}_by_length/{bucket}", number, seed=seed)
        for seed, shift in (("1", 0), ("2", 4))
        for bucket, bleu, lines in (("1-10", 30, 7), ("21-30", 20, 3))
        for metric, number in (("bleu", bleu + shift), ("lines", lines))
    ]
    rows += [{**row, "dataset": "other", "value": 0.0} for row in rows]
    points = drawn("figure12", pd.DataFrame(rows), parts={"toy": part(nat="raw/base/beam5")})
    assert points[["x", "y", "n"]].to_numpy().tolist() == [[1, 32, 2], [3, 22, 2]]
    assert points["label"].tolist() == ["1-10\n7", "21-30\n3"]
    (figure,) = saved
    assert_legible(figure)
    ticks = [text.get_text() for text in figure.axes[0].get_xticklabels()]
    assert ticks == ["1-10\n7", "21-30\n3"]
    assert figure.axes[0].get_xlabel().endswith("; below, lines")


def test_bleu_by_length_of_two_corpora_can_be_read(drawn: Any, saved: list[Figure]) -> None:
    rows = [
        value("raw/base/beam5", f"{metric}_by_length/{bucket}", number) | {"dataset": dataset}
        for dataset in ("wmt14.en-de.dag", "wmt17.zh-en.dag")
        for place, bucket in enumerate(NAMES)
        for metric, number in (("bleu", 30.0 - place), ("lines", 1010.0 - 30 * place))
    ]
    parts = dict.fromkeys(("wmt14.en-de.dag", "wmt17.zh-en.dag"), part(nat="raw/base/beam5"))
    drawn("figure12", pd.DataFrame(rows), parts=parts)
    (figure,) = saved
    assert_legible(figure)


def test_learning_curves_against_minutes(
    paper: Paper, tmp_path: Path, drawn: Any, saved: list[Figure]
) -> None:
    path = tmp_path / "curve.csv"
    rows = [(100, 10.5, 60.0), (200, None, 90.0), (300, 20.5, 150.0)]
    lines = [{"update": update, "valid_bleu": bleu, "seconds": s} for update, bleu, s in rows]
    pd.DataFrame(lines, columns=VALIDATION).to_csv(path, index=False)
    trained = {"decoder": "", "split": "", "commit": "abc"}
    tidy = pd.DataFrame([value("raw/base/x", "train_seconds", 150.0, **trained)])
    curve = Curve("toy", "raw", "base", 1, path)
    parts = {"toy": Part("test", "test", {}, valid="held-out")}
    points = drawn("figure13", tidy, parts=parts, curves=[curve])
    assert points[["x", "y"]].to_numpy().tolist() == [[1.0, 10.5], [2.5, 20.5]]
    assert points["label"].tolist() == ["100", "300"]
    assert set(points["device"]) == {"cpu: X, 2 cores"}
    assert set(points["split"]) == {"held-out"}
    assert_legible(saved[0])
    assert labels(saved[0]) == ["raw/base"]  # no row of the paper's
    points["series"] = "raw/ctc-glat"
    POINTS.write(again := tmp_path / "again.csv", points)
    draw("dag.figure13", paper.artifacts["figure13"], again, (tmp_path / "again.svg",))
    assert labels(saved[1]) == ["CTC + GLAT"]
    assert saved[1].axes[0].get_xlabel() == "minutes of training"
    spent = [{**line, "cpu_seconds": line["seconds"] / 2} for line in lines]
    pd.DataFrame(spent).to_csv(path, index=False)
    points = drawn("figure13", tidy, parts=parts, curves=[curve])
    assert points["x"].tolist() == [0.5, 1.25]
    assert saved[2].axes[0].get_xlabel() == "minutes of training, CPU time"
    pd.DataFrame({"epoch": [1]}).to_csv(path, index=False)
    with pytest.raises(UserError, match="it has no column update, seconds, valid_bleu"):
        drawn("figure13", tidy, parts=parts, curves=[curve])
