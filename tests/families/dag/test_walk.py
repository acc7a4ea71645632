"""Greedy, lookahead and Viterbi against each other, and against all paths."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from fastdecode.families.dag.graph import Graph
from fastdecode.families.dag.viterbi import viterbi
from fastdecode.families.dag.walk import successors, walk
from tests.families.dag.conftest import BOS, EOS, every_path, random_graph

SIZES = [7, 5, 3, 6]
seeds = st.integers(0, 10_000)


def stepwise(graph: Graph, b: int, lookahead: bool) -> tuple[list[int], float]:
    """Algorithm 1, one step after the other: tokens with their frame, and score."""
    links, best = graph.links[b], graph.scores[b, :, 0]
    here, score, tokens = 0, float(best[0]), [BOS]
    while here < int(graph.sizes[b]) - 1:
        choice = links[here] + best if lookahead else links[here]
        after = int(choice.argmax())
        score += float(links[here, after] + best[after])
        here = after
        tokens.append(int(graph.words[b, here, 0]))
    return tokens, score


@settings(max_examples=30)
@given(seed=seeds, lookahead=st.booleans())
def test_a_walk_is_algorithm_1(seed: int, lookahead: bool) -> None:
    graph, _ = random_graph(seed, SIZES, count=1)
    for b, (tokens, score) in enumerate(walk(graph, lookahead)):
        expected, total = stepwise(graph, b, lookahead)
        assert [BOS, *tokens, EOS] == expected
        assert score == pytest.approx(total, abs=1e-5)


@settings(max_examples=30)
@given(seed=seeds)
def test_a_step_of_lookahead_is_at_least_as_good_as_a_greedy_one(seed: int) -> None:
    graph, _ = random_graph(seed, SIZES, count=1)
    steps = graph.links + graph.scores[:, None, :, 0]
    greedy, ahead = (
        steps.gather(2, successors(graph, lookahead)[..., None]) for lookahead in (False, True)
    )
    assert (ahead >= greedy).all()


@settings(max_examples=30)
@given(seed=seeds)
def test_viterbi_finds_the_best_of_all_paths(seed: int) -> None:
    graph, _ = random_graph(seed, SIZES, count=1)
    found = viterbi(graph, graph.sizes, 0.0)
    for b, (tokens, score) in enumerate(found):
        links, best, size = graph.links[b], graph.scores[b, :, 0], SIZES[b]
        every = {
            path: float(best[list(path)].sum() + sum(links[u, v] for u, v in pairwise(path)))
            for length in range(2, size + 1)
            for path in every_path(length, size)
        }
        path = max(every, key=lambda path: every[path])
        assert score == pytest.approx(every[path], abs=1e-5)
        assert tokens == graph.words[b, list(path[1:-1]), 0].tolist()
    for lookahead in (False, True):
        for (_, best), (_, other) in zip(found, walk(graph, lookahead), strict=True):
            assert best >= other - 1e-5


@settings(max_examples=20)
@given(seed=seeds, penalty=st.sampled_from([0.0, 0.7, 1.0, 1.4]), most=st.integers(2, 6))
def test_viterbi_of_some_lengths_with_a_penalty(seed: int, penalty: float, most: int) -> None:
    graph, _ = random_graph(seed, SIZES, count=1)
    for b, (tokens, score) in enumerate(viterbi(graph, torch.full((4,), most), penalty)):
        links, best, size = graph.links[b], graph.scores[b, :, 0], SIZES[b]
        every = [
            float(best[list(path)].sum() + sum(links[u, v] for u, v in pairwise(path)))
            / length**penalty
            for length in range(2, min(most, size) + 1)
            for path in every_path(length, size)
        ]
        assert score == pytest.approx(max(every), abs=1e-5)
        assert len(tokens) + 2 <= most


def test_all_comes_to_the_host_in_one_copy(copies: list[Tensor]) -> None:
    graph, _ = random_graph(11, SIZES, count=1)
    copies.clear()
    walk(graph, lookahead=True)
    asked, read = copies
    assert asked.data_ptr() == read.data_ptr()  # what was copied is read


def test_viterbi_waits_for_no_step(copies: list[Tensor]) -> None:
    counts = []
    for size in (6, 24):
        graph, _ = random_graph(11, [size, 5], count=1)
        copies.clear()
        viterbi(graph, graph.sizes, 1.0)
        counts.append(len(copies))
    assert counts[0] == counts[1] < 6


def test_batches_are_their_sentences_one_by_one() -> None:
    graph, _ = random_graph(11, SIZES, count=1)
    together = [*walk(graph, False), *walk(graph, True), *viterbi(graph, graph.sizes, 1.0)]
    for b, size in enumerate(SIZES):
        parts = (graph.links[:, :size, :size], graph.words[:, :size], graph.scores[:, :size])
        alone = Graph(*(part[b : b + 1] for part in (*parts, graph.sizes)))
        singles = [
            *walk(alone, False),
            *walk(alone, True),
            *viterbi(alone, alone.sizes, 1.0),
        ]
        for (tokens, score), (expected, total) in zip(singles, together[b::4], strict=True):
            assert tokens == expected
            assert score == pytest.approx(total)


def test_a_limit_beyond_the_graph_is_none() -> None:
    graph, _ = random_graph(11, SIZES, count=1)
    assert viterbi(graph, torch.full((4,), 99), 1.0) == viterbi(graph, graph.sizes, 1.0)
