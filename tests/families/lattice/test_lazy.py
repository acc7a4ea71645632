"""Exact where the best path may be, and nowhere else."""

from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from fastdecode.families.lattice.lazy import FIRST, through, tighten
from fastdecode.families.lattice.naive_search import search
from fastdecode.families.lattice.viterbi import viterbi


def lattice(steps: int, words: int, seed: int, spread: float = 1.0) -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(seed)
    first = torch.randn(words + 1, generator=draw, dtype=torch.float64) * spread
    edges = torch.randn(steps, words, words + 1, generator=draw, dtype=torch.float64) * spread
    return first, edges


@pytest.mark.parametrize("shortest", [2, 3, 4])
def test_the_best_path_through_every_row(shortest: int) -> None:
    steps, words = 3, 3
    first, edges = lattice(steps, words, seed=1)
    best = torch.full((steps, words), -torch.inf, dtype=torch.float64)
    for count in range(shortest - 1, steps + 1):  # words of a path
        for path in product(range(words), repeat=count):
            score = first[path[0]] + edges[count - 1, path[-1], words]
            for slot in range(count - 1):
                score = score + edges[slot, path[slot], path[slot + 1]]
            for slot, word in enumerate(path):
                best[slot, word] = torch.maximum(best[slot, word], score)
    assert torch.allclose(through(first, edges, shortest), best)


@given(
    st.integers(1, 6),
    st.integers(1, 9),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.1, 1.0, 5.0]),
    st.data(),
)
@settings(max_examples=100)
def test_the_best_path_is_that_of_the_exact_lattice(
    steps: int, words: int, seed: int, spread: float, data: st.DataObject
) -> None:
    shortest = data.draw(st.integers(2, steps + 1))
    first, exact = lattice(steps, words, seed, spread)
    draw = torch.Generator().manual_seed(seed + 1)
    excess = torch.rand(steps * words, generator=draw, dtype=torch.float64)
    bounds = (exact.flatten(0, 1) + excess[:, None]).view_as(exact)
    asked: list[int] = []

    def tell(rows: Tensor) -> Tensor:
        asked.extend(rows.tolist())
        return excess[rows]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fastdecode.families.lattice.lazy.FIRST", 2)
        count = tighten(first, bounds, shortest, tell)
    assert count == len(asked) == len(set(asked))
    found, expected = (
        viterbi(first[None], edges[None], torch.tensor([shortest]), torch.tensor([steps + 1]))
        for edges in (bounds, exact)
    )
    assert found.to_lists()[0][0] == expected.to_lists()[0][0]
    assert found.scores.item() == pytest.approx(expected.scores.item(), abs=1e-9)


@pytest.mark.parametrize("seed", range(20, 40))
def test_long_and_unlikely_sentences_have_no_bound_on_their_best_path(seed: int) -> None:
    """In float32 the sum of one path differs by 1e-3 from row to row."""
    steps, words = 119, 8
    draw = torch.Generator().manual_seed(seed)
    first = -8 * torch.rand(words + 1, generator=draw)
    exact = -12 - 4 * torch.rand(steps, words, words + 1, generator=draw)
    exact[:, 5, 5] += 8  # one path is far better: its rows are all that need be exact
    excess = torch.rand(steps * words, generator=draw)
    bounds = (exact.flatten(0, 1) + excess[:, None]).view_as(exact)
    tighten(first, bounds, steps, lambda rows: excess[rows])
    lengths = torch.tensor([steps]), torch.tensor([steps + 1])
    (found,) = viterbi(first[None], bounds[None], *lengths).to_lists()
    states, score = search(first, exact, steps, steps + 1)
    assert score < -500
    assert found[0] == states[: len(found[0])]
    assert found[1] == pytest.approx(score, abs=0.01)


def test_few_rows_are_enough_where_one_path_is_far_better() -> None:
    steps, words = 20, 32
    first, edges = lattice(steps, words, seed=2, spread=0.1)
    edges[:, 5, 5] += 10
    calls = []

    def tell(rows: Tensor) -> Tensor:
        calls.append(len(rows))
        return torch.full((len(rows),), 0.5, dtype=torch.float64)

    assert tighten(first, edges, steps, tell) == sum(calls) == FIRST


def test_every_row_is_taken_in_few_rounds_where_all_are_equally_good() -> None:
    first, edges = lattice(30, 40, seed=3, spread=0.0)
    calls = []

    def tell(rows: Tensor) -> Tensor:
        calls.append(len(rows))
        return torch.ones(len(rows), dtype=torch.float64)

    # All paths are as long: a shorter one, once it is known to be good, would end the search.
    assert tighten(first, edges, 31, tell) == sum(calls) == 30 * 40
    assert len(calls) < 10


def test_a_lattice_without_a_path_ends_the_search() -> None:
    first, edges = lattice(2, 3, seed=1)
    edges[-1, :, -1] = edges[0, :, -1] = -torch.inf  # no word ends the sentence

    def none(rows: Tensor) -> Tensor:
        raise AssertionError(f"row {rows.tolist()} is on no path")

    assert tighten(first, edges, 2, none) == 0
