"""The shape of graphs against enumeration of their paths."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fastdecode.families.dag.shape import (
    main_edges,
    out_degrees,
    passing,
    token_probabilities,
)
from tests.families.dag.conftest import every_path, random_links

SIZES = [6, 4, 3]
seeds = st.integers(0, 10_000)


def links_of(seed: int) -> torch.Tensor:
    return random_links(torch.tensor(SIZES), torch.Generator().manual_seed(seed))


@settings(max_examples=20)
@given(seed=seeds)
def test_passing_probabilities_are_sums_over_paths(seed: int) -> None:
    links = links_of(seed)
    found = passing(links, torch.tensor(SIZES))
    for b, size in enumerate(SIZES):
        expected = torch.zeros(6).double()
        for length in range(2, size + 1):
            for path in every_path(length, size):
                chance = sum(links[b, u, v] for u, v in pairwise(path))
                expected[list(path)] += torch.as_tensor(chance).exp()
        assert torch.allclose(found[b], expected)
        assert found[b, [0, size - 1]].tolist() == pytest.approx([1.0, 1.0])


def test_main_edges_are_the_fewest_with_their_share() -> None:
    links = torch.tensor([[[0, 0.5, 0.3, 0.2], [0, 0, 0.9, 0.1], [0, 0, 0, 1], [0.0] * 4]]).log()
    assert main_edges(links, 0.75).int().tolist() == [
        [[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    ]
    assert main_edges(links, 0.9).int().tolist()[0][0] == [0, 1, 1, 1]


def test_out_degrees_count_equal_tokens_once() -> None:
    links = torch.tensor([[[0, 0.5, 0.3, 0.2], [0, 0, 0.5, 0.5], [0, 0, 0, 1], [0.0] * 4]]).log()
    assert out_degrees(links, torch.tensor([[0, 7, 8, 2]]), 0.95).tolist() == [[3, 2, 1, 0]]
    assert out_degrees(links, torch.tensor([[0, 7, 7, 2]]), 0.95).tolist() == [[2, 2, 1, 0]]


def test_an_edge_counts_though_one_that_does_not_has_its_token() -> None:
    links = torch.tensor([[[0, 0.1, 0.9], [0, 0, 1], [0.0] * 3]]).log()
    assert out_degrees(links, torch.tensor([[0, 7, 7]]), 0.8).tolist() == [[1, 1, 0]]


def test_token_probabilities_are_those_of_the_likeliest() -> None:
    logits = torch.tensor([[[2.0, 0.0], [0.0, 0.0], [0.0, 1.0]]])
    found = token_probabilities(logits, torch.tensor([2]))
    assert torch.allclose(found, torch.tensor([[0.8808, 0.5, 0.0]]), atol=1e-4)
