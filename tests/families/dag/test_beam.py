"""The beam search against all translations, its naive twin, and the paper's worked example."""

from collections.abc import Callable
from itertools import pairwise, product
from math import exp, inf, log
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, tensor

from fastdecode.families.dag import compiled
from fastdecode.families.dag.beam import (
    BeamSettings,
    best_hypotheses,
    expansions,
    prune,
)
from fastdecode.families.dag.graph import Found, Graph
from fastdecode.families.dag.links import later
from fastdecode.families.dag.naive_beam import Step, naive_beam_search
from tests.families.dag.conftest import BOS, EOS, UNK, one_best, random_graph, translations

EVERYTHING = BeamSettings(10_000, 10_000, 10_000, alpha=0.0)
seeds = st.integers(0, 10_000)


class Bigrams:
    """A language model whose state is the word before."""

    def begin(self) -> Any:
        return BOS

    def score(self, state: Any, token: int) -> tuple[float, Any]:
        return -0.1 - ((7 * state + 3 * token) % 11) / 3, token


def bigram_score(tokens: tuple[int, ...]) -> float:
    written = (BOS, *tokens, EOS)
    model = Bigrams()
    return sum(model.score(a, b)[0] for a, b in pairwise(written))


beam_search = one_best(best_hypotheses)
SEARCHES = (beam_search, one_best(compiled.best_hypotheses))


@settings(max_examples=15)
@given(seed=seeds, search=st.sampled_from(SEARCHES))
def test_without_limits_it_finds_the_most_probable_translation(
    seed: int, search: Callable[..., list[Found]]
) -> None:
    graph, scores = random_graph(seed, [5, 4, 3], words=2)
    for b, (tokens, score) in enumerate(search(graph, EVERYTHING)):
        size = int(graph.sizes[b])
        every = translations(graph.links[b, :size, :size], scores[b, :size])
        best = max(every, key=lambda words: every[words])
        assert every[tuple(tokens)] == pytest.approx(every[best], rel=1e-5)
        assert exp(score) == pytest.approx(every[best], rel=1e-4)


@settings(max_examples=10)
@given(
    seed=seeds,
    alpha=st.sampled_from([0.0, 1.0, 1.3]),
    gamma=st.sampled_from([0.1, 1.0]),
    search=st.sampled_from(SEARCHES),
)
def test_length_and_language_model_rank_as_equation_11(
    seed: int, alpha: float, gamma: float, search: Callable[..., list[Found]]
) -> None:
    graph, scores = random_graph(seed, [5], words=2)
    limits = BeamSettings(10_000, 10_000, 10_000, alpha, gamma)
    ((_, score),) = search(graph, limits, Bigrams())
    every = translations(graph.links[0], scores[0])
    ranks = [
        (log(mass) + gamma * bigram_score(words)) / (len(words) + 2) ** alpha
        for words, mass in every.items()
    ]
    assert score == pytest.approx(max(ranks), abs=1e-4)


@settings(max_examples=25)
@given(
    seed=seeds,
    beams=st.integers(1, 6),
    per_length=st.integers(1, 4),
    width=st.integers(1, 6),
    alpha=st.sampled_from([0.0, 1.0, 1.4]),
    gamma=st.sampled_from([0.0, 0.3]),
)
def test_with_limits_it_is_algorithm_3(
    seed: int, beams: int, per_length: int, width: int, alpha: float, gamma: float
) -> None:
    limits = BeamSettings(beams, per_length, width, alpha, gamma)
    model = Bigrams() if gamma else None
    graph, scores = random_graph(seed, [9, 6], words=4, count=width)
    for b, (tokens, score) in enumerate(beam_search(graph, limits, model)):
        size = int(graph.sizes[b])
        links = graph.links[b, :size, :size]
        expected, total = naive_beam_search(links, scores[b, :size], BOS, limits, model)
        assert tokens == expected
        assert score == pytest.approx(total, abs=1e-4)


def figure_11() -> Graph:
    yes = 4
    links = torch.full((1, 4, 4), -inf)
    for u, v, chance in ((0, 1, 0.5), (0, 2, 0.5), (1, 2, 0.1), (1, 3, 0.9), (2, 3, 1.0)):
        links[0, u, v] = log(chance)
    words = torch.tensor([[[BOS], [yes], [yes], [EOS]]])
    scores = torch.tensor([[[1.0], [0.8], [0.8], [1.0]]]).log()
    return Graph(links, words, scores, torch.tensor([4]))


def test_the_worked_example_of_figure_11() -> None:
    ((tokens, score),) = beam_search(figure_11(), BeamSettings(1, 1, 2, alpha=1.0))
    assert tokens == [4]
    assert score == pytest.approx(log(0.36 + 0.4) / 3, abs=1e-6)  # printed as -0.09


def test_the_steps_of_figure_11() -> None:
    graph = figure_11()
    scores = torch.full((4, 5), -inf)
    scores[torch.arange(4), graph.words[0, :, 0]] = graph.scores[0, :, 0]
    steps: list[Step] = []
    naive_beam_search(graph.links[0], scores, BOS, BeamSettings(1, 1, 2), watch=steps.append)
    one, two, three = (BOS, 4), (BOS, 4, 4), (BOS, 4, EOS)
    assert [step.vertex for step in steps] == [0, 1, 2, 3]
    assert [beam for beam, *_ in steps[2].beams] == [one, two]
    assert steps[2].kept == [one]  # and `two` is dropped
    masses = [mass for _, here, reached, _ in steps[2].beams for mass in (here, reached)]
    assert masses == pytest.approx([0.4, 0.8, 0.032, 0.032])
    assert [score for *_, score in steps[2].beams] == pytest.approx([-0.11, -1.15], abs=0.005)
    (ended,) = steps[3].beams
    # Printed as 0.72, of which the logarithm is not what is printed as the score.
    assert ended == (three, pytest.approx(0.76), pytest.approx(0.76), pytest.approx(log(0.76) / 3))
    assert [(v, token) for _, v, token in steps[1].pairs] == [(3, EOS), (2, 4)]


def test_hypotheses_are_the_best_of_all_translations() -> None:
    graph, scores = random_graph(5, [5, 4], words=2)
    for b, found in enumerate(best_hypotheses(graph, 4, EVERYTHING)):
        size = int(graph.sizes[b])
        every = translations(graph.links[b, :size, :size], scores[b, :size])
        expected = sorted(every.items(), key=lambda item: -item[1])[:4]
        assert [tuple(tokens) for tokens, _ in found] == [words for words, _ in expected]
        assert [exp(score) for _, score in found] == pytest.approx(
            [mass for _, mass in expected], rel=1e-4
        )


def graph_of(links: Tensor) -> Graph:
    """Vertices that write one token each, surely."""
    size = len(links)
    words = torch.full((1, size, 1), UNK)
    words[0, 0], words[0, -1] = BOS, EOS
    return Graph(links[None], words, torch.zeros(1, size, 1), torch.tensor([size]))


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(
    "steps", [[-4.0] * 500, [-8.0] * 200 + [-0.05] * 200, [-0.05] * 200 + [-8.0] * 200]
)
def test_long_translations_keep_their_masses(
    search: Callable[..., list[Found]], steps: list[float]
) -> None:
    """Masses of e^-1600 and less, far below any double, and far from their mean step by step."""
    graph = graph_of(torch.full((len(steps) + 1,) * 2, -inf).diagonal_scatter(tensor(steps), 1))
    ((tokens, score),) = search(graph, BeamSettings(alpha=0.0))
    assert len(tokens) == len(steps) - 1
    assert score == pytest.approx(sum(steps))


@pytest.mark.parametrize("search", SEARCHES)
def test_vague_vertices_beside_the_path_do_no_harm(search: Callable[..., list[Found]]) -> None:
    """Every other vertex is hardly reached and leads to all others alike."""
    size = 601
    links = torch.full((size, size), -7.0)
    links.masked_fill_(~later(torch.tensor([size]), size)[0], -inf)
    links[:-1:2] = -inf
    links.diagonal(2)[::2] = -0.1
    ((tokens, score),) = search(graph_of(links), BeamSettings(alpha=0.0))
    assert len(tokens) == size // 2 - 1
    assert score == pytest.approx(-0.1 * (size // 2))


@pytest.mark.parametrize("search", SEARCHES)
def test_a_long_translation_beside_a_short_one_that_is_likelier_at_first(
    search: Callable[..., list[Found]],
) -> None:
    """Lookahead would end at once."""
    steps = [-4.1] + [-0.01] * 300
    links = torch.full((302, 302), -inf).diagonal_scatter(tensor(steps), 1)
    links[0, -1] = -4.0
    ((tokens, score),) = search(graph_of(links), BeamSettings(alpha=1.0))
    assert len(tokens) == 300
    assert score == pytest.approx(sum(steps) / 302)


def test_a_batch_is_its_sentences_one_by_one() -> None:
    graph, _ = random_graph(11, [9, 6, 4], count=3)
    together = beam_search(graph, BeamSettings(4, 2, 3))
    for b, size in enumerate([9, 6, 4]):
        parts = (graph.links[:, :size, :size], graph.words[:, :size], graph.scores[:, :size])
        alone = Graph(*(part[b : b + 1] for part in (*parts, graph.sizes)))
        ((tokens, score),) = beam_search(alone, BeamSettings(4, 2, 3))
        assert tokens == together[b][0]
        assert score == pytest.approx(together[b][1])


@settings(max_examples=20)
@given(seed=seeds, count=st.integers(1, 7))
def test_expansions_are_the_best_pairs(seed: int, count: int) -> None:
    graph, scores = random_graph(seed, [6, 4], words=3, count=count)
    found = expansions(graph, count)
    for b, u in product(range(2), range(6)):
        pairs = graph.links[b, u, :, None] + scores[b].float()
        best = pairs.flatten().topk(count).values
        got = found.scores[b, u]
        assert np.allclose(got, best.numpy(), atol=1e-5)
        for v, t, score in zip(found.vertices[b, u], found.words[b, u], got, strict=True):
            if score > -inf:
                assert float(pairs[v, t]) == pytest.approx(score, abs=1e-5)


def test_pruning_keeps_the_best_of_each_length_then_of_all() -> None:
    lengths = np.array([2.0, 2.0, 3.0, 2.0, 3.0, 4.0])
    ranks = np.array([-1.0, -3.0, -2.0, -1.5, -2.0, -9.0])
    assert prune(lengths, ranks, BeamSettings(9, 2)).tolist() == [0, 3, 2, 4, 5]
    assert prune(lengths, ranks, BeamSettings(3, 2)).tolist() == [0, 3, 2]
    assert prune(lengths, ranks, BeamSettings(9, 1)).tolist() == [0, 2, 5]
