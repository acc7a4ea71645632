import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.t2CharStringPen import T2CharStringPen
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import font_manager
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fastdecode.report.canvas import (
    FORMATS,
    MARGIN,
    _installed,
    _postscript,
    canvas,
    legend_below,
    logarithmic,
    styles,
)

positive = st.floats(1e-6, 1e6)


@given(st.lists(positive, min_size=1))
def test_a_logarithmic_axis_has_a_tick_below_and_above_its_values(values: list[float]) -> None:
    panel = Figure().subplots()
    logarithmic(panel, "x", values)
    low, high = panel.get_xlim()
    assert low <= min(values) * (1 - MARGIN) and max(values) * (1 + MARGIN) <= high
    ticks = panel.get_xticks()
    assert 2 <= len(ticks) <= 14
    assert all(low <= tick <= high for tick in ticks)
    assert {f"{tick:.0e}"[0] for tick in ticks} <= {"1", "2", "5"}


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ((11, 14), ["10", "20"]),
        ((0.3, 4), ["0.2", "0.5", "1", "2", "5"]),
        ((3, 2000), ["10", "100", "1,000"]),
    ],
)
def test_its_labels_are_plain_numbers(values: tuple[float, float], labels: list[str]) -> None:
    panel = Figure().subplots()
    logarithmic(panel, "y", values)
    assert [label.get_text() for label in panel.get_yticklabels()] == labels
    assert panel.get_yscale() == "log" and panel.get_xscale() == "linear"


def test_a_head_is_no_wider_than_the_page(tmp_path: Path) -> None:
    with canvas(2.0, tmp_path / "x.svg") as figure:
        figure.subplots()
        figure.suptitle(f"short\n{'cpu: a long name of a processor and ' * 6}")
    lines = figure.get_suptitle().splitlines()
    assert lines[0] == "short" and len(lines) > 2
    assert " ".join(lines[1:]) == ("cpu: a long name of a processor and " * 6).strip()
    (head,) = (text for text in figure.texts if text.get_text() == figure.get_suptitle())
    assert head.get_window_extent(RendererAgg(700, 200, dpi=100)).width <= figure.bbox.width


def test_dollars_of_a_sentence_are_no_formula(tmp_path: Path) -> None:
    with canvas(1.0, tmp_path / "x.svg", tmp_path / "x.png") as figure:
        panel = figure.subplots()
        panel.set_xscale("log")
        panel.set_xlim(1, 100)
        shown = panel.text(1, 0.5, "From $ 5 % to $ 6 % .")
        panel.set_yticks([0.5], ["$ 5 or $ 6"])
    assert not shown.get_parse_math()
    assert [tick.label1.get_parse_math() for tick in panel.yaxis.get_major_ticks()] == [False]
    assert all(tick.label1.get_parse_math() for tick in panel.xaxis.get_major_ticks())
    assert (tmp_path / "x.png").exists()


def test_letters_without_a_font_are_said_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastdecode.report.canvas.HAN", ())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with canvas(1.0, tmp_path / "x.svg", tmp_path / "x.png") as figure:
            figure.text(0.5, 0.5, "这是这")
    (said,) = capsys.readouterr().err.splitlines()
    assert "x.svg: no font of this machine has 这是: boxes are drawn" in said


@pytest.fixture
def han(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A font of PostScript outlines that has one Chinese letter, installed."""
    build = FontBuilder(1000, isTTF=False)
    build.setupGlyphOrder([".notdef", "zhe"])
    build.setupCharacterMap({ord("这"): "zhe"})
    pen = T2CharStringPen(1000, None)
    for step, corner in enumerate([(100, 0), (900, 0), (900, 800), (100, 800)]):
        (pen.lineTo if step else pen.moveTo)(corner)
    pen.closePath()
    outlines = {".notdef": pen.getCharString(), "zhe": pen.getCharString()}
    build.setupCFF("TestHan", {}, outlines, {})
    build.setupHorizontalMetrics({".notdef": (1000, 0), "zhe": (1000, 0)})
    build.setupHorizontalHeader(ascent=900, descent=-100)
    build.setupNameTable({"familyName": "Test Han", "styleName": "Regular"})
    build.setupOS2(sTypoAscender=900, usWinAscent=900)
    build.setupPost()
    build.save(tmp_path / "han.otf")
    before = list(font_manager.fontManager.ttflist)
    font_manager.fontManager.addfont(tmp_path / "han.otf")
    monkeypatch.setattr("fastdecode.report.canvas.HAN", ("Test Han",))
    _installed.cache_clear()
    yield tmp_path / "han.otf"
    font_manager.fontManager.ttflist[:] = before
    _installed.cache_clear()


def test_letters_of_postscript_fonts_are_drawings_in_a_pdf(han: Path, tmp_path: Path) -> None:
    """As TrueType, which they are not, many programs show nothing of them."""
    for text, drawn in (("这", True), ("words", False)):
        with canvas(1.0, tmp_path / "x.pdf") as figure:
            figure.text(0.5, 0.5, text)
        assert (b"/Type3" in (tmp_path / "x.pdf").read_bytes()) is drawn


def test_outlines_of_fonts(han: Path, tmp_path: Path) -> None:
    collection = tmp_path / "x.ttc"
    collection.write_bytes(b"ttcf" + bytes(8) + (20).to_bytes(4, "big") + bytes(4) + b"OTTO")
    assert _postscript(han) and _postscript(collection)
    collection.write_bytes(b"ttcf" + bytes(8) + (20).to_bytes(4, "big") + bytes(4) + bytes(4))
    assert not _postscript(collection)
    assert not _postscript(Path(font_manager.findfont("DejaVu Sans")))


def test_a_figure_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        canvas(1.0, tmp_path / "x.svg", tmp_path / "x.png") as figure,
    ):
        figure.subplots().plot([1 / 0])
    assert not list(tmp_path.iterdir())


def test_52_curves_until_two_look_the_same() -> None:
    looks = [look for _, look in zip(range(53), styles(), strict=False)]
    assert len({(line, marker) for line, marker, _ in looks[:52]}) == 52
    assert looks[52][:2] == looks[0][:2]


@pytest.mark.parametrize("letters", range(8, 50, 6))
def test_no_legend_is_wider_than_the_page(letters: int, tmp_path: Path) -> None:
    labels = ["W" * letters] * 9
    with canvas(2.0, tmp_path / "x.svg") as figure:
        legend_below(figure, [Line2D([], []) for _ in labels], labels)
    figure.set_dpi(FORMATS["png"]["dpi"])
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0 and box.x1 <= figure.bbox.width


@pytest.mark.parametrize(("short", "long", "columns"), [(7, 0, 7), (7, 1, 4), (0, 9, 2), (0, 1, 1)])
def test_a_legend_has_as_few_lines_as_the_page_allows(
    tmp_path: Path, short: int, long: int, columns: int
) -> None:
    labels = ["of forty characters, more than one can be"] * long + ["short"] * short
    with canvas(2.0, tmp_path / "x.svg") as figure:
        legend_below(figure, [Line2D([], []) for _ in labels], labels)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert len({round(text.get_window_extent().x0) for text in legend.get_texts()}) == columns
    assert box.x0 >= 0 and box.x1 <= figure.bbox.width
