"""The tie rule against Python's sort, which leaves equal ones in order."""

from math import inf

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.families.bidirectional import ranking
from fastdecode.families.bidirectional.ranking import first_best, first_best_unseen

levels = st.sampled_from([-inf, 0.0, 1.0, 2.0])


@given(
    rows=st.integers(1, 40).flatmap(
        lambda n: st.lists(st.lists(levels, min_size=n, max_size=n), min_size=1, max_size=3)
    ),
    k=st.integers(1, 45),
)
def test_of_equal_scores_the_first_wins(rows: list[list[float]], k: int) -> None:
    best, index = first_best(torch.tensor(rows), k)
    for row, values, places in zip(rows, best.tolist(), index.tolist(), strict=True):
        expected = sorted(range(len(row)), key=lambda i: -row[i])[:k]
        assert values == [row[i] for i in expected]
        live = [i for i in expected if row[i] > -inf]
        assert places[: len(live)] == live
        assert sorted(set(places)) == sorted(places)


def test_the_last_one_in_may_equal_the_first_one_left_out() -> None:
    scores = torch.zeros(2, 3000)
    scores[:, 17] = 1.0
    assert first_best(scores, 4)[1].tolist() == [[17, 0, 1, 2]] * 2


@pytest.mark.parametrize("one_sort", [0, ranking.ONE_SORT])  # whether K are put before the others
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_it_is_the_same_without_a_look(
    dtype: torch.dtype, one_sort: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "ONE_SORT", one_sort)
    draw = torch.Generator().manual_seed(1)
    for levels in (1, 2, 5, 40, 60_000):  # nearly all are ties, or none
        for size, k in ((1, 1), (7, 3), (7, 7), (60, 10), (5000, 10)):
            scores = torch.randint(-levels, levels, (2, 3, size), generator=draw).to(dtype)
            expected = first_best(scores, k)
            assert torch.equal(first_best_unseen(scores, k)[0], expected[0])
            assert torch.equal(first_best_unseen(scores, k)[1], expected[1])


@pytest.mark.parametrize("one_sort", [0, ranking.ONE_SORT])
def test_too_few_that_are_possible_come_before_those_at_minus_infinity(
    one_sort: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "ONE_SORT", one_sort)
    best, index = first_best_unseen(torch.tensor([-inf, 1.0, -inf, 2.0, 1.0, -inf]), 5)
    assert best.tolist() == [2.0, 1.0, 1.0, -inf, -inf]
    assert index.tolist()[:3] == [3, 1, 4] and set(index.tolist()[3:]) < {0, 2, 5}
