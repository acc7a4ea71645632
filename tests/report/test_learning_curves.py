import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from pathlib import Path

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib.figure import Figure

from fastdecode.errors import UserError
from fastdecode.files import write_csv, write_json
from fastdecode.report.learning_curves import draw_learning_curves, gather_curves
from tests.report.conftest import assert_legible

Draw = Callable[[Mapping[str, pd.DataFrame]], Figure]


def curve(epochs: int = 4, seconds: float = 100.0) -> pd.DataFrame:
    steps = range(1, epochs + 1)
    return pd.DataFrame(
        {
            "epoch": steps,
            "update": [100 * step for step in steps],
            "seconds": [seconds * step for step in steps],
            "valid_nll_loss": [8 / step for step in steps],
            "valid_bleu": [30 - 20 / step for step in steps],
        }
    )


def gathered(folder: Path, curves: Mapping[str, pd.DataFrame], **more: object) -> pd.DataFrame:
    """Return the gathered curves of systems of these names, trained as `more` says."""
    trained = []
    for place, (system, rows) in enumerate(curves.items()):
        files = folder / str(place) / "curve.csv", folder / str(place) / "train.json"
        write_csv(files[0], rows)
        origin = {"dataset": "toy", "target": "raw", "system": system, "seed": 1, "device": "X"}
        write_json(files[1], {"provenance": {**origin, "commit": "c0ffee", **more}})
        trained.append(files)
    return gather_curves(trained)


@pytest.fixture
def draw(tmp_path: Path, saved: list[Figure]) -> Draw:
    """Draw curves by system; return the figure as it was when it was saved."""

    def drawn(curves: Mapping[str, pd.DataFrame]) -> Figure:
        draw_learning_curves(gathered(tmp_path, curves), tmp_path / "x.svg", tmp_path / "x.png")
        return saved[-1]

    return drawn


def test_what_is_drawn(draw: Draw) -> None:
    holes = curve()
    holes.loc[0, "valid_bleu"] = float("nan")
    figure = draw({"base": curve(), "big": holes})
    bleu_updates, bleu_time, loss_updates, loss_time = figure.axes
    assert bleu_updates.get_ylabel() == "validation BLEU"
    assert loss_updates.get_ylabel() == "validation NLL (bits per token)"
    assert loss_updates.get_xlabel() == "updates"
    assert loss_time.get_xlabel() == "training time (minutes)"
    base, big = bleu_time.get_lines()
    assert list(base.get_xdata()) == pytest.approx([100 / 60, 200 / 60, 300 / 60, 400 / 60])
    assert list(base.get_ydata()) == [10, 20, pytest.approx(70 / 3), 25]
    assert list(big.get_ydata()) == [20, pytest.approx(70 / 3), 25]  # the hole is left out
    assert list(loss_updates.get_lines()[0].get_xdata()) == [100, 200, 300, 400]
    for panel in figure.axes:
        assert panel.get_xlim()[0] == 0
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["raw/base", "raw/big"]
    assert figure.get_suptitle() == "toy, seed 1: the validation set while training\nX"


def test_cpus_tell_their_own_time(tmp_path: Path, saved: list[Figure]) -> None:
    quiet = curve().assign(cpu_seconds=[90.0, 180.0, 270.0, 360.0])
    draw_learning_curves(
        gathered(tmp_path / "1", {"a": quiet}, device="cpu: X"), tmp_path / "x.svg"
    )
    _, by_time, _, below = saved[-1].axes
    assert below.get_xlabel() == "training time (minutes, CPU time)"
    assert list(by_time.get_lines()[0].get_xdata()) == [1.5, 3, 4.5, 6]


def test_curves_are_told_apart_by_what_differs(tmp_path: Path, saved: list[Figure]) -> None:
    more = {"seed": 2, "dataset": "news", "device": "Y"}
    both = [
        gathered(tmp_path / "1", {"a": curve()}),
        gathered(tmp_path / "2", {"a": curve()}, **more),
    ]
    draw_learning_curves(pd.concat(both), tmp_path / "x.svg")
    names = [text.get_text() for text in saved[-1].legends[0].get_texts()]
    assert names == ["toy raw/a seed 1", "news raw/a seed 2"]
    assert saved[-1].get_suptitle().splitlines()[1] == "X and Y"


def test_gathered_curves_say_where_they_are_from(tmp_path: Path) -> None:
    table = gathered(tmp_path, {"a": curve(2), "b": curve(3)})
    assert table["system"].tolist() == ["a", "a", "b", "b", "b"]
    assert set(table["commit"]) == {"c0ffee"}
    assert table.loc[2:, "valid_bleu"].tolist() == [10, 20, pytest.approx(70 / 3)]


def test_a_record_that_does_not_say_where_it_is_from(tmp_path: Path) -> None:
    files = tmp_path / "curve.csv", tmp_path / "train.json"
    write_csv(files[0], curve())
    for record, lacks in (({}, "provenance"), ({"provenance": {"dataset": "toy"}}, "target")):
        write_json(files[1], record)
        with pytest.raises(UserError, match=f"train.json: it has no '{lacks}': delete it"):
            gather_curves([files])


def test_every_point_is_within_its_panel(draw: Draw) -> None:
    curves = {"short": curve(2, 1.0), "long": curve(50, 99.0)}
    for panel in draw(curves).axes:
        for line in panel.get_lines():
            assert panel.viewLim.count_contains(line.get_xydata()) == len(line.get_xydata())


def test_many_long_names_leave_the_panels_their_height(draw: Draw) -> None:
    many = {f"a-system-with-rather-a-long-name-{number}": curve() for number in range(12)}
    for curves in ({"base": curve()}, many):
        figure = draw(curves)
        assert_legible(figure)
        assert figure.axes[0].get_position().height * figure.get_figheight() > 1.8  # inches
        legend = figure.legends[0].get_window_extent()
        assert legend.x0 >= 0 and legend.x1 <= figure.bbox.width


def test_no_two_curves_look_the_same_in_black_and_white(draw: Draw) -> None:
    figure = draw({f"system {number}": curve() for number in range(28)})
    styles = {(line.get_linestyle(), line.get_marker()) for line in figure.axes[0].get_lines()}
    assert len(styles) == 28


@pytest.mark.parametrize(
    ("seconds", "label"), [(20.0, "seconds"), (30.0, "minutes"), (1800.0, "hours")]
)
def test_the_unit_of_time_fits(draw: Draw, seconds: float, label: str) -> None:
    figure = draw({"base": curve(seconds=seconds)})
    assert figure.axes[-1].get_xlabel() == f"training time ({label})"


def test_equal_curves_give_equal_files(tmp_path: Path) -> None:
    first, second, names = tmp_path / "1", tmp_path / "2", ("x.svg", "x.png", "x.pdf")
    curves = gathered(tmp_path, {"base": curve()})
    draw_learning_curves(curves, *(first / name for name in names))
    with mpl.rc_context({"lines.linewidth": 9, "svg.fonttype": "none"}):  # a user's own settings
        draw_learning_curves(curves, *(second / name for name in names))
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes()
    ET.parse(first / "x.svg")
    assert "dc:date" not in (first / "x.svg").read_text()
    assert (first / "x.png").read_bytes().startswith(b"\x89PNG")
    drawing = (first / "x.pdf").read_bytes()
    assert drawing.startswith(b"%PDF") and b"CreationDate" not in drawing
    assert b"/Type3" not in drawing  # letters as drawings, which publishers refuse


@pytest.mark.parametrize(
    ("curves", "message"),
    [
        ({}, "no learning curves"),
        ({"base": curve(0)}, "0/curve.csv: it has no rows: train it again"),
        ({"base": curve().drop(columns="valid_bleu")}, "curve.csv: it has no column valid_bleu"),
    ],
)
def test_nothing_to_draw_is_an_error(
    tmp_path: Path, curves: Mapping[str, pd.DataFrame], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        gathered(tmp_path, curves)
