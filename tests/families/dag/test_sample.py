"""Samples come as often as they should, and nothing outside the nucleus does."""

import warnings
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from math import exp, inf

import pytest
import torch

from fastdecode.families.dag.graph import Graph
from fastdecode.families.dag.sample import ASKED, sample
from fastdecode.nucleus import nucleus
from tests.families.dag.conftest import BOS, EOS, UNK, every_path, random_graph
from tests.test_nucleus import whole_rows

DRAWS = 20_000


def many(graph: Graph, times: int) -> Graph:
    """The first graph, many times over."""
    assert graph.masses is not None
    parts = (graph.links, graph.words, graph.scores, graph.sizes, graph.masses)
    return Graph(*(part[:1].expand(times, *part.shape[1:]) for part in parts))


def frequencies(graph: Graph, top_p: float, temperature: float) -> Counter[tuple[int, ...]]:
    torch.manual_seed(1)
    draws = torch.rand(DRAWS, graph.links.shape[1] - 1, dtype=torch.float64)
    found = sample(many(graph, DRAWS), draws, top_p, temperature)
    return Counter(tuple(tokens) for tokens, _ in found)


def stepwise(graph: Graph, top_p: float, temperature: float) -> dict[tuple[int, ...], float]:
    """How often each translation should come: the pairs of every step, enumerated."""
    size = int(graph.sizes[0])
    found: dict[tuple[int, ...], float] = {}

    def go(here: int, tokens: tuple[int, ...], chance: float) -> None:
        if here == size - 1:
            found[tokens[:-1]] = found.get(tokens[:-1], 0.0) + chance
            return
        pairs = {
            (v, int(word)): exp(float(graph.links[0, here, v] + score) / temperature)
            for v in range(here + 1, size)
            for word, score in zip(graph.words[0, v], graph.scores[0, v], strict=True)
            if score > -inf
        }
        total = sum(pairs.values())
        best = sorted(pairs, key=lambda pair: -pairs[pair])
        kept, mass = [], 0.0
        for pair in best:
            if mass < top_p * total:
                kept.append(pair)
                mass += pairs[pair]
        for v, word in kept:
            go(v, (*tokens, word), chance * pairs[v, word] / mass)

    go(0, (), 1.0)
    return found


@pytest.mark.parametrize("top_p", [1.0, 0.8, 0.3])
@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_translations_come_as_often_as_they_are_probable(top_p: float, temperature: float) -> None:
    graph, _ = random_graph(3, [5], words=2, temperature=temperature)
    expected, counts = stepwise(graph, top_p, temperature), frequencies(graph, top_p, temperature)
    assert set(counts) <= {tokens for tokens, chance in expected.items() if chance}
    for tokens, chance in expected.items():
        deviation = (chance * (1 - chance) / DRAWS) ** 0.5
        assert counts[tokens] / DRAWS == pytest.approx(chance, abs=5 * deviation + 1e-4)


def test_scores_are_those_of_the_path() -> None:
    graph, _ = random_graph(3, [4, 6], words=2, temperature=1.0)
    draws = torch.rand(2, 5, generator=torch.Generator().manual_seed(1))
    for b, (tokens, score) in enumerate(sample(graph, draws, 1.0, 1.0)):
        written, size = [BOS, *tokens, EOS], int(graph.sizes[b])
        index = {
            (v, int(word)): float(value)
            for v in range(size)
            for word, value in zip(graph.words[b, v], graph.scores[b, v], strict=True)
            if value > -inf
        }
        totals = [
            sum(index[v, t] for v, t in zip(path, written, strict=True))
            + sum(float(graph.links[b, u, v]) for u, v in pairwise(path))
            for path in every_path(len(written), size)
            if all(pair in index for pair in zip(path, written, strict=True))
        ]
        assert min(abs(score - total) for total in totals) < 1e-4


def test_steps_behind_the_end_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU it is not asked at every step whether all have ended."""
    graph, _ = random_graph(3, [9, 6, 4], words=2, temperature=1.0)
    draws = torch.rand(3, 8, generator=torch.Generator().manual_seed(2))
    expected = sample(graph, draws, 0.8, 1.0)
    assert max(len(tokens) for tokens, _ in expected) < 6  # or nothing is left out
    monkeypatch.setitem(ASKED, "cpu", ASKED["cuda"])
    assert sample(graph, draws, 0.8, 1.0) == expected


def test_a_gpu_is_waited_for_at_every_sixteenth_step(
    copies: list[torch.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ASKED, "cpu", ASKED["cuda"])
    monkeypatch.setattr("fastdecode.nucleus._head", whole_rows)  # as on a GPU
    counts = []
    for size in (18, 50):
        graph, _ = random_graph(3, [size], words=2, temperature=1.0, spread=0.01)
        ahead = torch.full_like(graph.links, -1e9).diagonal_scatter(
            torch.zeros(1, size - 1).to(graph.links), 1, 1, 2
        )
        chain = replace(graph, links=ahead.masked_fill(graph.links == -inf, -inf))
        copies.clear()
        sample(chain, torch.full((1, size - 1), 0.5), 0.9, 1.0)
        counts.append(len(copies))
    assert counts[1] - counts[0] == 2  # of 17 and 49 steps


def test_a_nucleus_that_is_cut_short_is_said() -> None:
    graph, _ = random_graph(3, [5], words=3, temperature=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for top_p in (0.8, 1.0):
            frequencies(graph, top_p, 1.0)
    short = replace(graph, words=graph.words[..., :1], scores=graph.scores[..., :1])
    with pytest.warns(UserWarning, match="have less than top_p"):
        counts = frequencies(short, 0.9, 1.0)
    expected = stepwise(short, 1.0, 1.0)  # all that is left is drawn from, in its proportions
    assert set(counts) <= set(expected)
    for tokens, chance in expected.items():
        assert counts[tokens] / DRAWS == pytest.approx(chance, abs=0.02)


def test_steps_behind_the_end_have_no_nucleus() -> None:
    graph, _ = random_graph(3, [9, 4], words=2, temperature=1.0)
    assert graph.masses is not None
    graph.masses[1, 4:] += 5  # of vertices that only fill up the batch
    draws = torch.rand(2, 8, generator=torch.Generator().manual_seed(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lengths = [len(tokens) for tokens, _ in sample(graph, draws, 0.9, 1.0)]
    assert lengths[0] > lengths[1]  # or no step is behind an end


def test_sentences_that_have_ended_sort_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a batch would take as long for its short sentences as for its longest."""
    counts = []

    def spy(chances: torch.Tensor, draw: torch.Tensor, top_p: float) -> torch.Tensor:
        counts.append((chances > 0).sum(1).tolist())
        return nucleus(chances, draw, top_p)

    monkeypatch.setattr("fastdecode.families.dag.sample.nucleus", spy)
    graph, _ = random_graph(3, [9, 4], words=2, temperature=1.0)
    draws = torch.full((2, 8), 0.5)
    (longer, _), (shorter, _) = sample(graph, draws, 0.9, 1.0)
    assert len(longer) > len(shorter)
    assert [count for _, count in counts[len(shorter) + 1 :]] == [1] * (len(longer) - len(shorter))


def test_no_special_symbol_is_drawn() -> None:
    graph, _ = random_graph(5, [6], words=1, temperature=2.0)
    for tokens in frequencies(graph, 1.0, 2.0):
        assert all(token >= UNK for token in tokens)
