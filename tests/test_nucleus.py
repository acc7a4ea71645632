import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

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
