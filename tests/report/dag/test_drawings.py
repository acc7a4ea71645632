"""Every drawing from made-up statistics: what stands in the CSV, and that it can be read."""

from copy import deepcopy
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

from fastdecode.report.dag.modes import layout
from fastdecode.report.dag.weights import trained
from tests.report.dag.conftest import Drawn

Document = dict[str, Any]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for axis in figure.axes for text in axis.texts]


def series(points: pd.DataFrame, name: str) -> list[list[Any]]:
    return points.loc[points["series"] == name, ["x", "y", "label"]].to_numpy().tolist()


def test_slots_mix_and_paths_part(drawn: Drawn, slots: Document, graphs: Document) -> None:
    points, figure = drawn("dag.modes", [slots, graphs])
    assert series(points, "candidate 1")[1] == [2, 0.5, "dog"]
    assert series(points, "path 2")[1] == [2, 3, "the"]
    above, below = figure.axes
    assert "written: a dog dog fast ." in above.get_title()
    assert "dog\n0.50" in texts(figure)
    words = {text.get_text(): text.get_position()[1] for text in below.texts}
    assert words["a"] == words["runs"] == 0 < words["the"] == words["walks"]
    assert len(below.patches) == 6 + 4 + 4  # links of the first path; what others do not share


def test_a_node_stands_behind_all_that_come_before() -> None:
    paths = [[(0, "<s>"), (1, "a"), (4, "x")], [(0, "<s>"), (2, "b"), (3, "longer"), (4, "x")]]
    places = layout(paths)
    assert [places[node][1] for path in paths for node in path] == [0, 0, 0, 0, 1, 1, 0]
    across = [places[node][0] for node in paths[1]]
    assert across == sorted(across)
    assert places[1, "a"][0] == places[2, "b"][0]
    clash = layout([[(0, "s"), (1, "a")], [(0, "s"), (2, "b")], [(0, "s"), (1, "c")]])
    assert [clash[node][1] for node in ((1, "a"), (2, "b"), (1, "c"))] == [0, 1, 2]


def test_the_path_is_marked_among_links(drawn: Drawn, graphs: Document) -> None:
    points, figure = drawn("dag.overview", [graphs])
    assert series(points, "links of 1") == [[2, 0.6, ""], [3, 0.4, ""]]
    above, below = figure.axes[:2]
    assert "ein Hund läuft schnell . → a dog runs quickly ." in above.get_title()
    bold = [text.get_text() for text in above.texts if text.get_weight() == "bold"]
    assert bold == ["<s>", "a", "dog", "runs", "quickly", ".", "</s>"]
    (marks,) = below.lines
    assert list(zip(*marks.get_data(), strict=True))[:2] == [(2, 1), (4, 2)]
    shown = below.images[0].get_array()
    assert shown is not None and shown[0, 1] == 0.6 and shown.mask[1, 0]


def test_of_two_ends_of_a_training_the_first_counts() -> None:
    assert trained({"max_updates": 5000, "max_epochs": None}) == "after 5,000 updates"
    both = {"max_updates": 300_000, "max_epochs": 1}
    assert trained(both) == "after 300,000 updates or 1 epoch, whichever comes first"


def test_weights_early_and_late(drawn: Drawn, assignment: Document) -> None:
    early = deepcopy(assignment)
    early["provenance"]["system"] = "dag-early"
    other = deepcopy(assignment)
    other["provenance"]["seed"] = 2
    points, figure = drawn("dag.weights", [early, assignment, other])
    assert list(points["panel"].unique()) == [
        "after 1 epoch (raw/dag-early)",
        "after 30 epochs (raw/dag-lambda4)",
    ]
    rows = points[(points["series"] == "2: dog") & points["panel"].str.contains("early")]
    assert rows["y"].tolist() == [0, 0.6, 0.3, 0.1, 0, 0]
    assert "Hund . → <s> dog . </s>" in figure.axes[0].get_title()
    assert len(figure.axes[1].lines) == 4


def test_what_a_glance_shows(drawn: Drawn, assignment: Document) -> None:
    points, figure = drawn("dag.glance", [assignment])
    assert series(points, "shown") == [[2, 2, "dog"]]
    assert [x for x, *_ in series(points, "on the best path")] == [1, 2, 3, 6]
    assert [y for _, y, _ in series(points, "after")] == [1.0, 0.9, 0.5, 1.0]
    above, below = figure.axes
    seen = [text.get_text() for text in above.texts if text.get_position()[1] == 2]
    assert seen == ["dog"]
    first, second = above.lines
    assert list(first.get_xdata()) == [1, 2, 3, 4, 5, 6]
    assert list(second.get_xdata()) == [1, 3, 4, 5, 6]
    assert len(below.patches) == 8


def test_graphs_without_what_is_hardly_passed(
    drawn: Drawn, graphs: Document, slots: Document
) -> None:
    rows = {"first": {"sentence": 1}}
    points, figure = drawn("dag.graph", [graphs, slots], rows=rows, labels={"sentence": "s"})
    assert set(points["line"]) == {"4"}  # of the plain NAT, too
    assert 8 not in points.loc[points["series"] == "passing", "x"].tolist()
    assert series(points, "links of 5") == [[7, 0.7, ""]]  # the other one leads to vertex 8
    assert not len(points[points["series"] == "links of 8"])
    found = texts(figure)
    assert "dog .80 · hound .20" in found
    assert "walks .60" in found  # and no token below 0.1
    assert "2  -0.40  the dog walks quickly ." in found
    assert "plain NAT: a dog dog fast ." in found


def test_two_graphs_side_by_side(drawn: Drawn, graphs: Document) -> None:
    rows = {"second": {"sentence": 2}, "third": {"sentence": 3}}
    points, figure = drawn("dag.graph", [graphs], rows=rows, labels={"sentence": "s"})
    assert list(points["panel"].unique()) == ["2", "3"]
    assert len(figure.axes) == 4


def test_sums_in_the_grid(drawn: Drawn, assignment: Document) -> None:
    points, figure = drawn("dag.grid", [assignment])
    assert series(points, "log f 2") == [[2, -0.5, "dog"], [3, -1.0, "dog"], [4, -2.0, "dog"]]
    assert series(points, "path 2")[2] == [4, 3, "0.2"]
    grid = figure.axes[0]
    image = grid.images[0].get_array()
    assert image is not None
    assert [float(cell) for cell in image.sum(1)] == pytest.approx([1.0] * 4)
    assert [label.get_text() for label in grid.get_yticklabels()] == ["<s>", "dog", ".", "</s>"]
    assert "1.50" in grid.get_title()


def test_steps_in_which_the_result_takes_part(drawn: Drawn, graphs: Document) -> None:
    points, figure = drawn("dag.steps", [graphs])
    assert points["x"].dropna().unique().tolist() == [1, 4, 10]  # `<s> the` is no part of it
    assert series(points, "rank 2: s here") == [[4, 0.3, "<s> the dog"]]
    assert series(points, "pair 2") == [[1, 0.4, "3 the"], [4, 0.4, "10 </s>"]]
    found = texts(figure)
    assert "<s> a dog </s>" in found and "dropped" in found
    assert "2 a 0.60, 3 the 0.40" in found and "5 runs 0.50, 10 </s> 0.40" in found


def test_a_long_prefix_is_shown_by_its_end(drawn: Drawn, graphs: Document) -> None:
    (dropped,) = (step["beams"][1] for step in graphs["sentences"][0]["beam"] if step["beams"][1:])
    dropped["tokens"] = ["<s>", *["hippopotamus"] * 9, "</s>"]
    found = texts(drawn("dag.steps", [graphs])[1])
    (shown,) = (text for text in found if text.startswith("… "))
    assert shown.endswith("hippopotamus </s>") and len(shown) == 46


def test_vertices_are_counted_over_all_seeds(drawn: Drawn, origin: dict[str, Any]) -> None:
    origin = origin | {"statistic": "vertices"}
    one = {
        "provenance": origin,
        "vertices": 10,
        "counts": [[4, 0], [3, 3]],
        "groups": {"passed": {"vertices": 4}, "vague": {"vertices": 1}},
        "out_degrees": [0, 3, 1],
    }
    two = one | {
        "provenance": origin | {"seed": 2, "commit": "def"},
        "vertices": 30,
        "counts": [[10, 0], [10, 10]],
        "groups": {"passed": {"vertices": 6}, "vague": {"vertices": 7}},
        "out_degrees": [0, 3, 0, 0, 0, 0, 0, 0, 0, 1],
    }
    points, figure = drawn(
        "dag.census",
        [one, two],
        rows={
            "passed": {"panel": "groups", "x": 0, "group": "passed, often", "share": 19.6},
            "vague": {"panel": "groups", "x": 1, "group": "vague", "share": 15.4},
            "one_link": {"panel": "out-degree", "x": 1, "group": "one", "share": 50},
        },
        labels={"panel": "panel", "x": "x", "group": "group"},
        published={"share": "share"},
    )
    ours = points[points["source"] == "ours"]
    assert set(ours["commit"]) == {"abc def"}
    cells = ours[ours["panel"] == "vertices"]
    assert cells[["series", "x", "y"]].to_numpy().tolist() == [
        ["0.25", 0.25, 35.0],
        ["0.25", 0.75, 0.0],
        ["0.75", 0.25, 32.5],
        ["0.75", 0.75, 32.5],
    ]
    assert ours.loc[ours["panel"] == "groups", "y"].tolist() == [25.0, 20.0]
    assert ours.loc[ours["panel"] == "out-degree", "y"].tolist()[1:3] == [75.0, 12.5]
    left, groups, degrees = (figure.axes[n] for n in (0, 1, 2))
    image = left.images[0].get_array()
    assert image is not None and image[0, 1] == 32.5  # passed often, hardly sure: below, right
    assert [bar.get_height() for bar in degrees.patches][-1] == 12.5
    assert [tick.get_text() for tick in degrees.get_xticklabels()][-1] == "8+"
    assert list(groups.lines[0].get_ydata()) == [19.6, 15.4]
