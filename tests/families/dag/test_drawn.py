"""What drawings are made of, against the decoders and enumeration."""

from itertools import pairwise
from math import exp, log

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fastdecode.errors import UserError
from fastdecode.families.dag.drawn import assignment, best_paths, graphs
from fastdecode.measure.statistic import Split
from fastdecode.system import System
from tests.families.dag.conftest import path_scores, random_target, untrained_graphs


@pytest.fixture(scope="module")
def system() -> System:
    return untrained_graphs()


@pytest.fixture
def split(ragged: list[list[str]]) -> Split:
    return Split(ragged, {"real": [list(reversed(line)) for line in ragged]})


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), count=st.integers(1, 4))
def test_best_paths_are_the_best_of_all(seed: int, count: int) -> None:
    tokens, links, lengths, sizes = random_target(seed, sentences=1)
    length, size = int(lengths), int(sizes)
    every = path_scores(tokens[0], links[0], length, size)
    expected = sorted(every.items(), key=lambda item: -item[1])[:count]
    found = best_paths(tokens[0, :length], links[0, :size, :size], count)
    assert [path for _, path in found] == [path for path, _ in expected]
    assert [score for score, _ in found] == pytest.approx([score for _, score in expected])


def test_graphs_are_those_of_the_decoders(system: System, split: Split) -> None:
    sentences = graphs(system, split)["sentences"]
    assert [sentence["line"] for sentence in sentences] == split.short(3)
    for sentence in sentences:
        source = split.sources[sentence["line"]]
        assert sentence["source"] == source
        vertices, links = sentence["vertices"], sentence["links"]
        assert len(vertices) == len(links) == 2 * len(source) + 4
        for here in vertices:
            assert here["probabilities"] == sorted(here["probabilities"], reverse=True)
            assert len(here["probabilities"]) == len(here["tokens"])
        assert [vertices[end]["tokens"] for end in (0, -1)] == [["<s>"], ["</s>"]]
        assert [vertices[end]["passing"] for end in (0, -1)] == pytest.approx([1, 1])
        for leaving in links[:-1]:
            chances = [chance for _, chance in leaving]
            assert chances == sorted(chances, reverse=True)
            assert sum(chances[:-1]) < 0.9 <= sum(chances) <= 1 + 1e-6

        walked = system.decoder("dag", {"search": "lookahead"}, " ".join)([source])[0]
        path = sentence["lookahead"]
        assert [vertices[v]["tokens"][0] for v in path[1:-1]] == walked.tokens
        searched = system.decoder("dag", {"search": "beam"}, " ".join)([source])[0]
        best = sentence["hypotheses"][0]
        assert best["tokens"] == searched.tokens
        assert best["score"] == pytest.approx(searched.score)
        scores = [hypothesis["score"] for hypothesis in sentence["hypotheses"]]
        assert scores == sorted(scores, reverse=True) and len(set(scores)) == 5
        for hypothesis in sentence["hypotheses"]:
            path = hypothesis["path"]
            assert len(path) == len(hypothesis["tokens"]) + 2
            assert (path[0], path[-1]) == (0, len(vertices) - 1)
            assert all(u < v for u, v in pairwise(path))


def test_steps_are_those_of_a_narrow_beam(system: System, split: Split) -> None:
    row = {"search": "beam", "beams": 1, "beams_per_length": 1, "expansions": 2}
    decode = system.decoder("dag", row, " ".join)
    for sentence in graphs(system, split)["sentences"]:
        (expected,) = decode([sentence["source"]])
        steps = sentence["beam"]
        ended = steps[-1]["beams"][0]
        assert ended["kept"] and ended["tokens"] == ["<s>", *expected.tokens, "</s>"]
        assert ended["score"] == pytest.approx(expected.score, abs=1e-5)
        assert [step["vertex"] for step in steps] == sorted({step["vertex"] for step in steps})
        so_far: dict[tuple[str, ...], float] = {}
        for step in steps:
            assert [beam["kept"] for beam in step["beams"]].index(True) == 0
            assert sum(beam["kept"] for beam in step["beams"]) == 1
            # The last but one vertex has one vertex to go on to, and that one token.
            assert len(step["pairs"]) <= 2 and bool(step["pairs"]) == (step is not steps[-1])
            for beam in step["beams"]:
                prefix = tuple(beam["tokens"])
                so_far[prefix] = so_far.get(prefix, 0.0) + beam["here"]
                assert beam["all"] >= so_far[prefix] * (1 - 1e-9)  # further ones may be reached
                assert beam["score"] == pytest.approx(log(beam["all"]) / len(prefix))


def test_an_assignment_is_the_sum_over_all_paths(system: System, split: Split) -> None:
    (number,) = split.short(1)
    (source, target) = (split.sources[number], split.references["real"][number])
    found = assignment(system, split)
    assert (found["source"], found["target"]) == (source, ["<s>", *target, "</s>"])
    forward, rows = found["forward"], found["posteriors"]
    length, size = len(target) + 2, found["size"]
    assert (len(forward), len(forward[0])) == (len(rows), len(rows[0])) == (length, size)
    assert forward[-1][-1] == pytest.approx(-found["loss"])
    assert [sum(row) for row in rows] == pytest.approx([1.0] * length, abs=1e-4)
    one, other = found["paths"]
    assert 1 > one["share"] >= other["share"] > 0
    assert one["path"] == found["glance"]["path"]
    for path in (one, other):  # no path has more than what all have that are at its vertex
        assert all(
            path["share"] <= row[vertex] + 1e-4
            for row, vertex in zip(rows, path["path"], strict=True)
        )


def test_a_glance_shows_half_of_what_is_wrong(system: System, split: Split) -> None:
    found = assignment(system, split)
    glance = found["glance"]
    wrong = glance["right"].count(False)
    assert sum(glance["shown"]) == int(wrong * 0.5 + 0.5) > 0
    assert glance["before"] != glance["after"]
    first = exp(found["forward"][0][0])
    assert glance["before"][0] == pytest.approx(first, rel=1e-5)  # f(1, 1) = P(<s> | vertex 1)


def test_nothing_is_short_enough(system: System) -> None:
    with pytest.raises(UserError, match="nothing short enough"):
        graphs(system, Split([["w1"]], {"real": [["w1"]]}))
    assert torch.is_grad_enabled()
