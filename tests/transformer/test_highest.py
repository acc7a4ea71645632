"""The first of the highest, by whichever library."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.transformer import highest as module
from fastdecode.transformer.highest import highest, highest_of

rows = st.lists(  # small whole numbers, so that many are equal
    st.lists(st.integers(-2, 2), min_size=5, max_size=5), min_size=1, max_size=4
)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@given(table=rows)
def test_the_first_of_equals(dtype: torch.dtype, table: list[list[int]]) -> None:
    scores = torch.tensor(table, dtype=dtype)
    scores[scores == -2] = float("-inf")
    best, found = highest(scores)
    assert found.dtype == torch.long
    assert found.tolist() == [row.index(max(row)) for row in table]
    assert torch.equal(best, scores.amax(-1))
    assert int(highest(scores[0])[1]) == int(found[0])  # of one row alone


def test_the_reference_tier_searches_as_pytorch_does(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = torch.randn(3, 7)
    found = highest_of("fastdecode")(scores)
    assert torch.equal(found[1], scores.argmax(-1))
    monkeypatch.setattr(module, "np", None)
    for ours, theirs in zip(highest_of("eager")(scores), found, strict=True):
        assert torch.equal(ours, theirs)


def test_any_layout() -> None:
    scores = torch.randn(3, 7, 4)
    assert torch.equal(highest(scores.transpose(1, 2))[1], scores.argmax(1))
    assert highest(scores[:, :0])[1].shape == (3, 0)
