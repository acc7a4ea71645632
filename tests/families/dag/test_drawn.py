"""What drawings are made of, against the decoders and enumeration."""

from dataclasses import replace
from itertools import pairwise
from math import exp, log

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fastdecode.errors import UserError
from fastdecode.families.dag.drawn import assignment, best_paths, graphs
from fastdecode.families.dag.naive import max_paths
from fastdecode.families.dag.paths import score_path
from fastdecode.families.dag.sources import Sources
from fastdecode.framing import frame_sources
from fastdecode.measure.statistic import Split
from fastdecode.scores import token_scores
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


def test_what_is_drawn_of_a_graph_is_computed_from_what_the_model_says(
    system: System, split: Split
) -> None:
    for sentence in graphs(system, split)["sentences"]:
        found = Sources.of(system, [sentence["source"]])
        with torch.no_grad():
            logits, links = found.read(found.blanks)
        size = int(found.sizes)
        passed = [1.0] + [0.0] * (size - 1)
        for u in range(size):
            for v in range(u + 1, size):
                passed[v] += passed[u] * exp(float(links[0, u, v]))
        assert [here["passing"] for here in sentence["vertices"]] == pytest.approx(passed, rel=1e-4)

        certain = [here["probabilities"][0] for here in sentence["vertices"]]
        path = sentence["lookahead"]
        assert (path[0], path[-1]) == (0, size - 1)
        for u, v in pairwise(path):
            reached = {w: exp(float(links[0, u, w])) * certain[w] for w in range(u + 1, size)}
            assert v == max(reached, key=lambda w: reached[w])

        for hypothesis in sentence["hypotheses"]:
            targets = frame_sources([hypothesis["tokens"]], system.target)
            tokens = token_scores(logits, targets)
            length = torch.tensor([targets.shape[1]])
            path = torch.tensor([hypothesis["path"]])
            assert path.shape == targets.shape and bool((path[0].diff() > 0).all())
            best = max_paths(tokens, links, length, found.sizes)
            assert score_path(tokens, links, length, path).item() == pytest.approx(best.item())


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
    source = split.sources[split.short(1)[0]]
    (written,) = system.decoder("dag", {"search": "lookahead"}, " ".join)([source])
    target = [*written.tokens[:3], "w1", "w2", "w1"]  # begins as the model would
    found = assignment(system, Split([source], {"real": [target]}))
    glance = found["glance"]
    wrong = glance["right"].count(False)
    assert sum(glance["shown"]) == int(wrong * 0.5 + 0.5) > 0
    assert glance["right"] != glance["right"][::-1]
    read = Sources.of(system, [found["source"]])
    path = torch.tensor(glance["path"])
    ids = torch.tensor([system.target.index(token) for token in found["target"]])
    shown = torch.tensor(glance["shown"])
    seen = read.blanks.clone()
    seen[0, path[shown]] = ids[shown]
    with torch.no_grad():
        before, after = (read.read(vertices)[0][0].softmax(-1) for vertices in (read.blanks, seen))
    assert glance["right"] == (before.argmax(-1)[path] == ids).tolist()
    assert glance["before"] == pytest.approx(before[path, ids].tolist(), rel=1e-5)
    assert glance["after"] == pytest.approx(after[path, ids].tolist(), rel=1e-5)
    assert glance["after"] != pytest.approx(glance["before"], rel=1e-3)


def test_a_target_without_a_path_is_passed_over(split: Split) -> None:
    """In small graphs some targets are longer."""
    system = untrained_graphs(graph_factor=1.0)
    first, second = split.short(2)
    sources, references = list(split.sources), list(split.references["real"])
    references[first] = ["w1"] * 8
    assert len(sources[first]) < 8
    found = assignment(system, Split(sources, {"real": references}))
    assert (found["line"], found["source"]) == (second, sources[second])
    with pytest.raises(UserError, match="no short line has a graph as long as its target"):
        assignment(system, Split(sources[first:][:1], {"real": references[first:][:1]}))


def test_the_line_is_that_of_the_split(system: System, split: Split) -> None:
    """Of which every third is read."""
    rest = Split([["w1"], *split.sources], {"real": [["w1"], *split.references["real"]]})
    one, third = (assignment(system, replace(rest, step=step)) for step in (1, 3))
    assert third["line"] == 3 * one["line"] > 0


def test_nothing_is_short_enough(system: System) -> None:
    with pytest.raises(UserError, match="nothing short enough"):
        graphs(system, Split([["w1"]], {"real": [["w1"]]}))
    assert torch.is_grad_enabled()
