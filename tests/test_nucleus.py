import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import fastdecode.nucleus
from fastdecode.nucleus import nucleus


@settings(max_examples=50)
@given(
    weights=st.lists(st.floats(0.001, 1.0), min_size=1, max_size=8),
    draw=st.floats(0, 1, exclude_max=True),
    top_p=st.floats(0.01, 1.0),
)
def test_the_nucleus_is_the_smallest_head(weights: list[float], draw: float, top_p: float) -> None:
    chances = torch.tensor([weights], dtype=torch.float64)
    chances /= chances.sum()
    chosen = int(nucleus(chances, torch.tensor([draw], dtype=torch.float64), top_p))
    before = float(chances[0][chances[0] > chances[0, chosen]].sum())
    assert before < top_p + 1e-9


@settings(max_examples=50)
@given(seed=st.integers(0, 999), top_p=st.floats(0.01, 1.0), spread=st.floats(0.0, 20.0))
def test_a_head_is_drawn_from_as_its_whole_row_is(seed: int, top_p: float, spread: float) -> None:
    """Its naive twin sorts all; some chances are equal, and rows have different sums."""
    torch.manual_seed(seed)
    weights = (torch.rand(6, 300, dtype=torch.float64) * spread).round(decimals=1).exp()
    chances = weights / weights.sum(1, keepdim=True) * torch.linspace(0.5, 1, 6)[:, None]
    draws = torch.rand(6, dtype=torch.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fastdecode.nucleus, "_head", whole_rows)
        expected = nucleus(chances, draws, top_p)
    assert nucleus(chances, draws, top_p).tolist() == expected.tolist()


def test_a_head_is_short() -> None:
    chances = torch.full((2, 10_000), 1e-6, dtype=torch.float64)
    chances[:, 77], chances[1, 99] = 0.9, 0.9
    best, order = fastdecode.nucleus._head(chances, 0.8)
    assert best.tolist() == [[0.9, 0.0], [0.9, 0.9]]
    assert order.tolist() == [[77, 0], [77, 99]]


def whole_rows(chances: torch.Tensor, top_p: float) -> tuple[torch.Tensor, torch.Tensor]:
    best, order = chances.sort(dim=1, descending=True, stable=True)
    return best, order


@pytest.mark.parametrize(
    ("top_p", "expected"),
    [
        (1.0, [200, 500, 100, 200]),
        (0.69, [286, 714, 0, 0]),  # of equal ones the first
        (0.49, [0, 1000, 0, 0]),
        (0.01, [0, 1000, 0, 0]),
    ],
)
def test_the_nucleus_is_drawn_in_proportion(top_p: float, expected: list[int]) -> None:
    chances = torch.tensor([[0.2, 0.5, 0.1, 0.2]], dtype=torch.float64).expand(1000, -1)
    draws = (torch.arange(1000, dtype=torch.float64) + 0.5) / 1000
    found = nucleus(chances, draws, top_p).bincount(minlength=4).tolist()
    assert found == pytest.approx(expected, abs=1)


def test_what_has_just_the_share_is_the_nucleus() -> None:
    chances = torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64)
    draw = torch.tensor([0.999], dtype=torch.float64)
    assert [nucleus(chances, draw, top_p).item() for top_p in (0.5, 0.75, 1.0)] == [0, 1, 2]
