import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fastdecode.nucleus import nucleus


@settings(max_examples=50, deadline=None)
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
