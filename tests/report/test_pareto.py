from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from fastdecode.errors import UserError
from fastdecode.report.pareto import (
    BROAD,
    FILLS,
    SIZES,
    _looks,
    _marker,
    draw_pareto,
    non_dominated,
)
from fastdecode.report.speed_numbers import speed_rows
from tests.report.conftest import DEVICE, assert_legible

DECODED = ("beam5", "greedy")
OVER = {"reference": "raw/base/beam5", "optimised": "raw/base/fast"}
few = st.integers(0, 4).map(float)  # few values, so that many are equal


@given(st.lists(st.tuples(few, few)))
def test_non_dominated_is_what_no_other_point_dominates(points: list[tuple[float, float]]) -> None:
    costs, qualities = [cost for cost, _ in points], [quality for _, quality in points]
    assert non_dominated(costs, qualities) == [
        not any(c <= cost and q >= quality and (c, q) != (cost, quality) for c, q in points)
        for cost, quality in points
    ]


def drawn(
    tidy: pd.DataFrame,
    saved: list[Figure],
    folder: Path,
    scenario: str = "S1",
    tier: str = "reference",
) -> Figure:
    rows = speed_rows(tidy, "toy", "test", scenario, OVER)
    draw_pareto(rows, tier, folder / "x.svg", folder / "x.png")
    return saved[-1]


def points(figure: Figure, panel: int) -> list[tuple[float, float]]:
    lines = figure.axes[panel].get_lines()
    return [
        (line.get_xdata()[0], line.get_ydata()[0]) for line in lines if len(line.get_xdata()) == 1
    ]


def test_what_was_timed_on_a_busy_machine_is_marked(
    tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path
) -> None:
    assert "†" not in drawn(tidy, saved, tmp_path).get_suptitle()
    busy = (tidy["metric"] == "latency_disturbed") & (tidy["decoder"] == "beam5")
    tidy.loc[busy & (tidy["target"] == "raw") & (tidy["threads"] == "2"), "value"] = 1.0
    figure = drawn(tidy, saved, tmp_path)
    assert figure.get_suptitle().endswith(f"{DEVICE}, † disturbed")
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert [name for name in names if "†" in name] == ["raw/base, beam5†"]


def test_who_does_not_write_what_it_has_to_is_marked(
    tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path
) -> None:
    scored = (tidy["metric"] == "bleu") & (tidy["decoder"] == "beam5") & (tidy["target"] == "raw")
    apart = tidy[scored].assign(metric="differs", value=1.0)
    figure = drawn(pd.concat([tidy, apart]), saved, tmp_path)
    assert figure.get_suptitle().endswith(f"{DEVICE}, ≠ not what it has to write")
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert [name for name in names if "≠" in name] == ["raw/base, beam5≠"]


def test_a_panel_for_each_number_of_threads(
    tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path
) -> None:
    figure = drawn(tidy, saved, tmp_path)
    assert [panel.get_title() for panel in figure.axes] == ["1 thread", "2 threads"]
    assert points(figure, 0) == [(15, 31), (12, 30.8), (7.5, 29), (6, 28.8)]
    assert points(figure, 1) == [(7.5, 31), (6, 30.8), (3.75, 29), (3, 28.8)]
    for panel in figure.axes:
        assert panel.get_xscale() == "log"
        assert panel.get_xlabel() == "median ms a sentence"
        assert panel.viewLim.count_contains(points(figure, 0) + points(figure, 1)) == 8
    assert "reference tier, S1, fp32" in figure.get_suptitle()
    assert DEVICE in figure.get_suptitle()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        f"{model}, {decoder}" for model in ("raw/base", "big/small") for decoder in DECODED
    ]
    assert_legible(figure)


def test_one_tier_a_figure(tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path) -> None:
    figure = drawn(tidy, saved, tmp_path, tier="optimised")
    assert points(figure, 0) == [(6, 30.4), (3, 28.4), (3, 30.2), (1.5, 28.2)]
    assert "optimised tier, S1, fp32 and int8" in figure.get_suptitle()


@pytest.mark.parametrize(("scenario", "step"), [("S1", "steps-post"), ("Smax", "steps-pre")])
def test_the_staircase_is_the_best_that_is_to_be_had(
    tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path, scenario: str, step: str
) -> None:
    worse = (tidy["metric"] == "bleu") & (tidy["decoder"] == "greedy") & (tidy["target"] == "big")
    tidy.loc[worse, "value"] = 20.0  # still the fastest
    tidy.loc[(tidy["metric"] == "bleu") & (tidy["target"] == "raw"), "value"] = 25.0
    figure = drawn(tidy, saved, tmp_path, scenario)
    staircase = figure.axes[0].get_lines()[0]
    assert staircase.get_drawstyle() == step
    expected = [(6, 20), (7.5, 29)]  # both raw ones are slower than the second and not better
    if scenario == "Smax":
        expected = [(3000 / ms, bleu) for ms, bleu in reversed(expected)]
        assert figure.axes[0].get_xlabel() == "sentences a second, best batch"
    assert staircase.get_xydata().tolist() == [pytest.approx(point) for point in expected]


def test_no_two_points_look_the_same_in_black_and_white(
    tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path
) -> None:
    figure = drawn(tidy, saved, tmp_path)
    looks = [(p.get_marker(), p.get_fillstyle()) for p in figure.axes[0].get_lines()[1:]]
    assert len(set(looks)) == 4
    systems = [(marker, "any") for marker, _ in looks]
    assert systems[0] == systems[1] != systems[2] == systems[3]


@pytest.mark.parametrize("shape", BROAD)
def test_how_a_marker_is_filled_can_be_seen(shape: str) -> None:
    drawings = []
    for fill in FILLS:
        figure = Figure(figsize=(0.2, 0.2), dpi=200)
        mark = _marker({"marker": shape, "color": "k", "markersize": SIZES[0], "fillstyle": fill})
        mark.set_data([0.5], [0.5])
        figure.add_artist(mark)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        drawings.append(np.asarray(canvas.buffer_rgba())[..., 0] < 128)
    ink = drawings[0].sum()
    # the tip of a triangle has 8%; of a star, 4% would differ, which nobody sees
    assert min((a != b).sum() / ink for a, b in combinations(drawings, 2)) > 0.07


def test_the_decoders_of_thirteen_systems_differ_in_black_and_white() -> None:
    points = [(f"raw/s{system}", f"d{decoder}") for system in range(13) for decoder in range(12)]
    looks = _looks(points, {model: "one" for model, _ in points})
    seen = {tuple(look[key] for key in look if key != "color") for look in looks.values()}
    assert len(seen) == len(points)


def test_families_differ_by_colour_and_systems_too_where_none_is_known() -> None:
    points = [("raw/a", "d"), ("raw/b", "d"), ("raw/c", "d"), ("raw/d", "d")]
    families = {"raw/a": "dag", "raw/b": "lattice", "raw/c": "dag", "raw/d": "lattice"}
    first, second, third, fourth = (look["color"] for look in _looks(points, families).values())
    assert first == third != second == fourth
    unknown = _looks(points, dict.fromkeys(families, ""))
    assert len({look["color"] for look in unknown.values()}) == 4


@pytest.mark.parametrize("systems", [20, 40])  # a family has no more than there are markers, or has
def test_no_two_of_many_systems_look_the_same(systems: int) -> None:
    points = [(f"raw/s{system}", "d") for system in range(systems)]
    families = {model: ("dag", "lattice", "dag")[n % 3] for n, (model, _) in enumerate(points)}
    families |= {model: "parallel" for model, _ in points[18:20]}
    looks = [tuple(look.items()) for look in _looks(points, families).values()]
    assert len(set(looks)) == systems
    assert (len({look["color"] for look in _looks(points, families).values()}) == 3) == (
        systems == 20
    )


def named(figure: Figure, panel: int = 0) -> dict[str, tuple[float, float]]:
    """Return the names beside points, and where these are."""
    return {text.get_text(): text.xy for text in figure.axes[panel].texts}  # type: ignore[attr-defined]


@pytest.mark.parametrize(("scenario", "side"), [("S1", "right"), ("Smax", "left")])
def test_points_are_named_in_the_picture_the_best_first(
    tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path, scenario: str, side: str
) -> None:
    tidy = tidy[tidy["threads"].isin(["", "1"])]
    figure = drawn(tidy, saved, tmp_path, scenario, tier="optimised")
    staircase = map(tuple, np.asarray(figure.axes[0].get_lines()[0].get_xydata()).tolist())
    best = ("base, fast", "base, eight", "small, eight")  # both systems have both decoders
    names = named(figure)
    other = names.pop("small, fast")
    assert names == dict(zip(best, sorted(staircase, key=lambda p: -p[1]), strict=True))
    assert other not in names.values() and list(named(figure))[-1] == "small, fast"
    first = figure.axes[0].texts[0]
    assert first.get_horizontalalignment() == side
    assert_legible(figure)


def test_a_decoder_of_one_system_is_named_without_it(
    tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path
) -> None:
    one = tidy[(tidy["target"] == "raw") & tidy["threads"].isin(["", "1"])]
    one = one.assign(decoder=one["decoder"].replace("fast", "fast-optimised"))
    rows = speed_rows(one, "toy", "test", "S1", {})
    draw_pareto(rows, "optimised", tmp_path / "x.svg")
    assert named(saved[-1]) == {"fast": (6.0, 30.4), "eight": (3.0, 30.2)}


def test_a_system_of_several_targets_is_named_with_its_target(
    tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path
) -> None:
    one = tidy[tidy["threads"].isin(["", "1"])].assign(system="base")
    draw_pareto(speed_rows(one, "toy", "test", "S1", {}), "optimised", tmp_path / "x.svg")
    assert set(named(saved[-1])) == {
        f"{target}/base, {decoder}" for target in ("raw", "big") for decoder in ("fast", "eight")
    }


def test_where_there_is_no_room_nothing_is_named(
    tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path
) -> None:
    one = tidy[(tidy["target"] == "raw") & tidy["threads"].isin(["", "1"])]
    one = one.assign(decoder=one["decoder"].replace("fast", "f" * 150))
    rows = speed_rows(one, "toy", "test", "S1", {})
    draw_pareto(rows, "optimised", tmp_path / "x.svg")
    assert set(named(saved[-1])) == {"eight"}


def test_no_name_fits_two_points(tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path) -> None:
    one = tidy[tidy["threads"].isin(["", "1"])]
    one = one.assign(system=one["system"].replace("base", "b" * 150))  # no room for it
    draw_pareto(speed_rows(one, "toy", "test", "S1", {}), "optimised", tmp_path / "x.svg")
    assert set(named(saved[-1])) == {"small, fast", "small, eight"}


def test_names_beside_points_do_not_overlap(
    tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path
) -> None:
    one = tidy[(tidy["decoder"] == "beam5") & tidy["threads"].isin(["", "1"])]
    one = one[one["target"] == "raw"]
    score, times = one["metric"] == "bleu", one["metric"].str.startswith("latency")
    near = [
        one.assign(
            decoder=f"decoder{n}",
            value=one["value"].mask(score, 30 + n / 100).mask(times, one["value"] * (1 + n / 100)),
        )
        for n in range(30)
    ]
    rows = speed_rows(pd.concat(near), "toy", "test", "S1", {})
    draw_pareto(rows, "reference", tmp_path / "x.svg")
    assert 1 < len(named(saved[-1])) < 30
    assert_legible(saved[-1])


@pytest.mark.parametrize("count", [36, 50])
def test_no_other_point_is_as_near_to_a_name_as_its_own(
    tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path, count: int
) -> None:
    one = tidy[(tidy["decoder"] == "beam5") & tidy["threads"].isin(["", "1"])]
    one = one[one["target"] == "raw"]
    score, times = one["metric"] == "bleu", one["metric"].str.startswith("latency")
    stacked = [  # two columns of points, about a name's height apart
        one.assign(
            decoder=f"d{n}",
            value=one["value"].mask(score, 30 + n // 2).mask(times, one["value"] * (1 + n % 2)),
        )
        for n in range(count)
    ]
    rows = speed_rows(pd.concat(stacked), "toy", "test", "S1", {})
    draw_pareto(rows, "reference", tmp_path / "x.svg")
    (panel,) = saved[-1].axes
    saved[-1].draw_without_rendering()
    markers = sorted(set(points(saved[-1], 0)))  # the front is one of them
    places = np.array([panel.transData.transform(point) for point in markers])
    names = panel.texts
    assert len(names) > 1
    for name in names:
        box = name.get_window_extent()
        inside = places.clip((box.x0, box.y0), (box.x1, box.y1))
        far = np.hypot(*(places - inside).T)
        own = panel.transData.transform(name.xy)  # type: ignore[attr-defined]
        assert np.allclose(places[far.argmin()], own)
        assert np.sort(far)[1] > 1.2 * far.min()


def test_twelve_decoders_of_a_system_differ(
    tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path
) -> None:
    one = tidy[tidy["target"] == "raw"]
    tidy = pd.concat([one[one["decoder"] == "beam5"].assign(decoder=f"b{n}") for n in range(12)])
    rows = speed_rows(tidy, "toy", "test", "S1", {})
    draw_pareto(rows, "reference", tmp_path / "x.svg", tmp_path / "x.png")
    looks = [
        (p.get_marker(), p.get_fillstyle(), p.get_markersize())
        for p in saved[-1].axes[0].get_lines()[1:]
    ]
    assert len(looks) == len(set(looks)) == 12
    assert_legible(saved[-1])


def test_many_names_fit_on_the_page(
    tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path
) -> None:
    one = tidy[(tidy["target"] == "raw") & tidy["tier"].isin(["", "reference"])]
    target = "transformer-big-x3"
    other = [one.assign(target=target, system=f"a-longer-system-{n}") for n in range(9)]
    many = pd.concat([one, *other])
    three = pd.concat([many, many[many["threads"] == "2"].assign(threads="4")])
    figure = drawn(three, saved, tmp_path)
    assert [panel.get_visible() for panel in figure.axes] == [True, True, True, False]
    figure.axes[3].remove()
    assert_legible(figure)
    assert figure.axes[0].get_position().height * figure.get_figheight() > 1.8  # inches


def test_equal_rows_give_equal_files(
    tidy: pd.DataFrame, saved: list[Figure], tmp_path: Path
) -> None:
    for folder in ("1", "2"):
        drawn(tidy, saved, tmp_path / folder)
    for name in ("x.svg", "x.png"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_nothing_to_draw_is_an_error(tidy: pd.DataFrame, tmp_path: Path) -> None:
    unscored = speed_rows(tidy[tidy["metric"] != "bleu"], "toy", "test", "S1", OVER)
    with pytest.raises(UserError, match="no decoder of the reference tier has both"):
        draw_pareto(unscored, "reference", tmp_path / "x.svg", tmp_path / "x.png")
    assert not list(tmp_path.iterdir())
