"""Rows of config/papers/dag.yaml, made-up statistics of a short sentence, and a figure of them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

from fastdecode.config.base import check, read_yaml
from fastdecode.config.papers import Artifact, Paper
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.make import draw, make
from fastdecode.report.artifacts.points import POINTS
from tests.report.conftest import assert_legible

PAPER = Path(__file__).parents[3] / "config/papers/dag.yaml"
Drawn = Callable[..., tuple[pd.DataFrame, Figure]]
WORDS = ["ein", "Hund", "läuft", "schnell", "."]
GRAPH = [  # tokens with their probabilities, passing probability, links
    ([("<s>", 1.0)], 1.0, [[1, 0.6], [2, 0.4]]),
    ([("a", 0.9), ("the", 0.1)], 0.6, [[3, 0.95]]),
    ([("the", 0.7), ("one", 0.2), ("a", 0.1)], 0.4, [[3, 0.9]]),
    ([("dog", 0.8), ("hound", 0.2)], 0.95, [[4, 0.5], [5, 0.45]]),
    ([("runs", 1.0)], 0.5, [[6, 0.7], [7, 0.3]]),
    ([("walks", 0.6), ("unlikely", 0.05)], 0.45, [[6, 0.92]]),
    ([("quickly", 0.8), ("fast", 0.2)], 0.75, [[8, 1.0]]),
    ([("seldom", 0.4)], 0.05, [[8, 1.0]]),
    ([(".", 1.0)], 0.97, [[9, 1.0]]),
    ([("</s>", 1.0)], 1.0, []),
]
HYPOTHESES = [
    ("a dog runs quickly .", [0, 1, 3, 4, 6, 8, 9]),
    ("the dog walks quickly .", [0, 2, 3, 5, 6, 8, 9]),
    ("a hound runs fast .", [0, 1, 3, 4, 6, 8, 9]),
]


def sentence() -> dict[str, Any]:
    """A sentence of the statistic `graphs`."""
    return {
        "line": 3,
        "source": WORDS,
        "reference": ["a", "dog", "runs", "fast", "."],
        "vertices": [
            {
                "tokens": [token for token, _ in tokens],
                "probabilities": [chance for _, chance in tokens],
                "passing": passing,
            }
            for tokens, passing, _ in GRAPH
        ],
        "links": [links for *_, links in GRAPH],
        "lookahead": [0, 1, 3, 4, 6, 8, 9],
        "hypotheses": [
            {"tokens": text.split(), "score": -0.2 * n, "path": path}
            for n, (text, path) in enumerate(HYPOTHESES, 1)
        ],
        "beam": [
            step(0, [("<s>", 1.0, 1.0, 0.0)], [[0.6, 1, "a"], [0.4, 2, "the"]]),
            step(2, [("<s> the", 0.4, 0.4, -0.46)], [[0.7, 3, "dog"]]),
            step(
                3,
                [("<s> a dog", 0.5, 0.5, -0.2), ("<s> the dog", 0.3, 0.3, -0.4)],
                [[0.5, 4, "runs"], [0.4, 9, "</s>"]],
            ),
            step(9, [("<s> a dog </s>", 0.2, 0.25, -0.5)], []),
        ],
    }


def step(
    vertex: int, beams: list[tuple[str, float, float, float]], pairs: list[Any]
) -> dict[str, Any]:
    """A step of a search that keeps one prefix."""
    return {
        "vertex": vertex,
        "pairs": pairs,
        "beams": [
            {
                "tokens": text.split(),
                "here": here,
                "all": reached,
                "score": score,
                "kept": not rank,
            }
            for rank, (text, here, reached, score) in enumerate(beams)
        ],
    }


@pytest.fixture(scope="session")
def paper() -> Paper:
    return check(Paper, read_yaml(PAPER), PAPER.name)


@pytest.fixture
def graphs(origin: dict[str, Any]) -> dict[str, Any]:
    """The statistic `graphs`."""
    origin = origin | {"statistic": "graphs", "system": "dag-lambda4", "target": "raw"}
    return {"provenance": origin, "sentences": [sentence(), sentence(), sentence()]}


@pytest.fixture
def slots(origin: dict[str, Any]) -> dict[str, Any]:
    """The statistic `slots`."""
    origin = origin | {"statistic": "slots", "system": "nat", "target": "raw"}
    one = {
        "line": 3,
        "source": WORDS,
        "reference": ["a", "dog", "runs", "fast", "."],
        "written": ["a", "dog", "dog", "fast", "."],
        "slots": [
            [[token, 0.5], ["the", 0.3], ["hound", 0.1]]
            for token in ("a", "dog", "dog", "fast", ".")
        ],
    }
    return {"provenance": origin, "sentences": [one, one, one]}


@pytest.fixture
def assignment(origin: dict[str, Any]) -> dict[str, Any]:
    """The statistic `assignment`, of a target of two tokens."""
    origin = origin | {"statistic": "assignment", "system": "dag-lambda4", "target": "raw"}
    return {
        "provenance": origin,
        "line": 0,
        "source": ["Hund", "."],
        "size": 6,
        "loss": 1.5,
        "target": ["<s>", "dog", ".", "</s>"],
        "forward": [
            [-0.1, None, None, None, None, None],
            [None, -0.5, -1.0, -2.0, None, None],
            [None, None, -1.0, -1.2, -3.0, None],
            [None, None, None, None, None, -1.5],
        ],
        "posteriors": [
            [1, 0, 0, 0, 0, 0],
            [0, 0.6, 0.3, 0.1, 0, 0],
            [0, 0, 0.5, 0.4, 0.1, 0],
            [0, 0, 0, 0, 0, 1],
        ],
        "paths": [{"path": [0, 1, 2, 5], "share": 0.5}, {"path": [0, 1, 3, 5], "share": 0.2}],
        "glance": {
            "ratio": 0.5,
            "path": [0, 1, 2, 5],
            "right": [True, False, False, True],
            "shown": [False, True, False, False],
            "before": [1.0, 0.2, 0.3, 1.0],
            "after": [1.0, 0.9, 0.5, 1.0],
        },
    }


@pytest.fixture
def drawn(tmp_path: Path, saved: list[Figure]) -> Drawn:
    """Make the CSV of an artifact and draw the figure from it; return both."""

    def make_and_draw(
        function: str, statistics: Sequence[dict[str, Any]], **more: Any
    ) -> tuple[pd.DataFrame, Figure]:
        row = {"title": "a figure", "kind": "figure", "function": function}
        artifact = Artifact(**row | {"axes": {"x": "to", "y": "from"}} | more)
        settings = {
            f"raw/{system}": {"max_epochs": epochs, "max_updates": None}
            for system, epochs in (("dag-early", 1), ("dag-lambda4", 30))
        }
        parts = {"toy": Part("valid", "test", {}, settings)}
        csv = tmp_path / "x.csv"
        make(Evidence(artifact, pd.DataFrame(), parts, statistics), csv)
        draw("dag.figure", artifact, csv, (tmp_path / "x.svg", tmp_path / "x.png"))
        (figure,) = saved
        assert_legible(figure)
        return POINTS.read(csv), figure

    return make_and_draw
