"""Links: rows sum to one, go forward, and know their graph's end."""

from collections.abc import Callable
from math import inf
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.families.dag.links import GatedLinks, Links, gated_links, later, softmax_links

KINDS: dict[str, Callable[[], Any]] = {
    "softmax": lambda: Links(8),
    "gated": lambda: GatedLinks(8, 4, 12),
}


@pytest.mark.parametrize("kind", KINDS)
@given(sizes=st.lists(st.integers(2, 9), min_size=1, max_size=4), seed=st.integers(0, 99))
def test_every_vertex_but_the_last_links_to_later_ones_with_sum_one(
    kind: str, sizes: list[int], seed: int
) -> None:
    torch.manual_seed(seed)
    links = KINDS[kind]().double()
    found = links(3 * torch.randn(len(sizes), max(sizes), 8).double(), torch.tensor(sizes)).exp()
    for row, size in zip(found, sizes, strict=True):
        assert torch.allclose(row[: size - 1].sum(1), torch.ones(size - 1))
        assert (row[size - 1 :] == 0).all()
        assert (row.tril() == 0).all()
        assert (row[:, size:] == 0).all()
        assert (row[: size - 1, :size].triu(1)[:, 1:].diagonal() > 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_nothing(kind: str) -> None:
    torch.manual_seed(1)
    links, states = KINDS[kind]().double(), torch.randn(1, 9, 8).double()
    alone = links(states[:, :6], torch.tensor([6]))
    padded = links(states, torch.tensor([6]))
    assert torch.allclose(alone, padded[:, :6, :6])


def test_one_softmax_is_equation_2() -> None:
    torch.manual_seed(1)
    links, states = Links(8).double(), 9 * torch.randn(1, 5, 8).double()
    query, key = states[0] @ links.query.weight.T, states[0] @ links.key.weight.T
    found = links(states, torch.tensor([5]))[0]
    for u in range(4):
        row = torch.stack([query[u] @ key[v] / 8**0.5 for v in range(u + 1, 5)])
        assert torch.allclose(found[u, u + 1 :], row.log_softmax(0).float())


def test_gated_links_are_a_mixture_of_heads() -> None:
    torch.manual_seed(1)
    links, states = GatedLinks(8, 4, 12).double(), 9 * torch.randn(1, 5, 8).double()
    seen = torch.cat([states[0], links.positions.weight[:5]], 1)
    query, key = links.query(seen).view(5, 4, 2), links.key(seen).view(5, 4, 2)
    gates = links.gate(seen).softmax(1)
    found = links(states, torch.tensor([5]))[0].exp()
    for u in range(4):
        row = torch.zeros(4 - u).double()
        for h in range(4):
            each = torch.stack([query[u, h] @ key[v, h] / 2**0.5 for v in range(u + 1, 5)])
            row += gates[u, h] * each.softmax(0)
        assert torch.allclose(found[u, u + 1 :], row.float())


@pytest.mark.parametrize("half", [torch.bfloat16, torch.float16])
def test_half_precision_is_left_before_queries_meet_keys(half: torch.dtype) -> None:
    torch.manual_seed(1)
    sizes = torch.tensor([40, 30])
    query, key, gates = (3 * torch.randn(3, 2, 40, 32)).to(half)
    gates = gates[..., :4]
    for function, given_ in ((softmax_links, (query, key)), (gated_links, (query, key, gates))):
        found = function(*given_, sizes)
        expected = function(*(x.float() for x in given_), sizes)
        assert found.dtype == torch.float32
        assert torch.equal(found, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_numbers(kind: str) -> None:
    torch.manual_seed(1)
    links, sizes = KINDS[kind](), torch.tensor([6, 3])
    states = torch.randn(2, 6, 8, requires_grad=True)
    found = links(states, sizes)
    found.masked_fill(found == -inf, 0.0).sum().backward()
    assert states.grad is not None
    assert states.grad.isfinite().all()
    assert all(weight.grad.isfinite().all() for weight in links.parameters())


def test_later_knows_sizes() -> None:
    assert later(torch.tensor([3, 2]), 3).int().tolist() == [
        [[0, 1, 1], [0, 0, 1], [0, 0, 0]],
        [[0, 1, 0], [0, 0, 0], [0, 0, 0]],
    ]
