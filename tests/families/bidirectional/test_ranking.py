"""The tie rule against Python's sort, which leaves equal ones in order."""

from math import inf

import torch
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.families.bidirectional.ranking import first_best

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
