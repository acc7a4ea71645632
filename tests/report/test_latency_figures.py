from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from fastdecode.report.latency_figures import draw_by_length, draw_speedups, draw_stages
from fastdecode.report.latency_numbers import (
    by_length,
    by_stage,
    measured_so,
    speedups,
    with_settings,
)
from tests.report.conftest import assert_legible

HEAD = "toy, test, seed 1: reference tier, S1, fp32\ncpu: X, 2 cores, 1 thread"
BASE = "raw/base/beam5"
Draw = Callable[[Path, pd.DataFrame, pd.DataFrame], None]


def timed(tidy: pd.DataFrame) -> pd.DataFrame:
    return measured_so(tidy, "toy", "test", "reference", "1")


def lengths(folder: Path, samples: pd.DataFrame, tidy: pd.DataFrame) -> None:
    table = with_settings(by_length(samples), timed(tidy))
    draw_by_length(table, folder / "x.svg", folder / "x.png")


def ratios(folder: Path, samples: pd.DataFrame, tidy: pd.DataFrame) -> None:
    table = with_settings(speedups(samples, BASE), timed(tidy), BASE)
    draw_speedups(table, folder / "x.svg", folder / "x.png")


def stages(folder: Path, samples: pd.DataFrame, tidy: pd.DataFrame) -> None:
    rows = timed(tidy)
    draw_stages(with_settings(by_stage(rows), rows), folder / "x.svg", folder / "x.png")


def test_by_length(
    samples: pd.DataFrame, tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path
) -> None:
    samples.loc[samples["decoder"] == BASE, "tokens"] += 5
    lengths(tmp_path, samples, tidy)
    above, below = saved[-1].axes
    ticks = [label.get_text() for label in below.get_xticklabels()]
    assert ticks == ["1–5", "6–10", "11–15", "16–20", "21–25", "26–30", "31–35"]
    base, greedy, *_ = below.get_lines()
    assert base.get_xydata().tolist() == [[1, 4.5], [2, 9], [3, 12], [4, 17], [6, 30]]
    assert [point[0] for point in greedy.get_xydata()] == [0, 1, 2, 3, 5]
    bars = [bar.get_height() for bar in above.patches]  # means over four decoders
    assert bars == [1.5, 1.25, 1, 1, 0.25, 0.75, 0.25]
    assert below.get_yscale() == "log"
    assert saved[-1].get_suptitle() == HEAD


def test_speed_ups(
    samples: pd.DataFrame, tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path
) -> None:
    far = (samples["decoder"] == "big/small/greedy") & (samples["line"] == 0)
    samples.loc[far, "milliseconds"] /= 2  # no part in a median
    ratios(tmp_path, samples, tidy)
    (panel,) = saved[-1].axes
    assert [text.get_text() for text in panel.texts] == ["×1.00", "×1.25", "×2.00", "×2.50"]
    marks = [line.get_xdata()[0] for line in panel.get_lines()]
    assert marks == pytest.approx([1, 1, 1.25, 2, 2.5])  # first the line at 1
    assert BASE in saved[-1].get_supxlabel()
    for row, ratio in enumerate((1.0, 1.25, 2.0, 2.5)):
        bars = [bar for bar in panel.patches if bar.get_height() and _row(bar) == row]
        bar = max(bars, key=lambda bar: abs(bar.get_height()))
        assert abs(bar.get_y() - row) < 0.5 and abs(bar.get_y() + bar.get_height() - row) < 0.5
        assert bar.get_x() - 1e-9 <= ratio <= bar.get_x() + bar.get_width() + 1e-9


def _row(bar: Rectangle) -> int:
    return round(bar.get_y() + bar.get_height() / 2)


def test_stages(
    samples: pd.DataFrame, tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path
) -> None:
    stages(tmp_path, samples, tidy)
    (panel,) = saved[-1].axes
    greedy = [bar for bar in panel.patches if _row(bar) == 1]
    assert [bar.get_width() for bar in greedy] == pytest.approx([1.32, 2.64, 9.24])
    assert [bar.get_x() for bar in greedy] == pytest.approx([0, 1.32, 3.96])
    assert len({bar.get_hatch() for bar in greedy}) == 3  # in black and white
    assert panel.get_lines()[0].get_xdata()[1] == pytest.approx(13.2)
    names = [text.get_text() for text in saved[-1].legends[0].get_texts()]
    assert names == ["preprocess", "encode", "search", "whole"]
    assert panel.get_yticklabels()[0].get_text() == BASE


@pytest.mark.parametrize("draw", [lengths, ratios, stages])
def test_disturbed_times_are_marked(
    draw: Draw, samples: pd.DataFrame, tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path
) -> None:
    greedy = (tidy["system"] == "base") & (tidy["decoder"] == "greedy")
    tidy.loc[greedy & (tidy["metric"] == "latency_disturbed"), "value"] = 1.0
    draw(tmp_path, samples, tidy)
    figure = saved[-1]
    assert figure.get_suptitle() == HEAD.replace(", 1 thread", ", † disturbed, 1 thread")
    names = {text.get_text() for text in figure.findobj(Text)}
    assert {"raw/base/greedy†", BASE} < names and "raw/base/greedy" not in names


@pytest.mark.parametrize("draw", [lengths, ratios, stages])
def test_what_writes_something_else_than_it_has_to_is_marked(
    draw: Draw, samples: pd.DataFrame, tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path
) -> None:
    (greedy,) = tidy[(tidy["system"] == "base") & (tidy["decoder"] == "greedy")].index[:1]
    differs = tidy.loc[[greedy]].assign(metric="differs", value=1.0, tier="", scenario="")
    draw(tmp_path, samples, pd.concat([tidy, differs], ignore_index=True))
    figure = saved[-1]
    said = ", ≠ not what it has to write, 1 thread"
    assert figure.get_suptitle() == HEAD.replace(", 1 thread", said)
    names = {text.get_text() for text in figure.findobj(Text)}
    assert {"raw/base/greedy≠", BASE} < names and "raw/base/greedy" not in names


@pytest.mark.parametrize("draw", [lengths, ratios, stages])
def test_many_long_names_are_legible(
    draw: Draw,
    samples: pd.DataFrame,
    tidy: pd.DataFrame,
    saved: list[Figure],
    tmp_path: Path,
) -> None:
    def renamed(table: pd.DataFrame, column: str, number: int) -> pd.DataFrame:
        return table.assign(**{column: table[column] + f"-with-a-name-of-rank-{number}"})

    more = [renamed(samples, "decoder", number) for number in range(4)]
    other = [renamed(tidy, "decoder", number) for number in range(4)]
    draw(tmp_path, pd.concat([samples, *more]), pd.concat([tidy, *other]))
    assert_legible(saved[-1])


@pytest.mark.parametrize("draw", [lengths, ratios, stages])
def test_equal_tables_give_equal_files(
    draw: Draw, samples: pd.DataFrame, tidy: pd.DataFrame, tmp_path: Path
) -> None:
    for folder in ("1", "2"):
        draw(tmp_path / folder, samples, tidy)
    for name in ("x.svg", "x.png"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
