import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fastdecode.config.run import Latency
from fastdecode.errors import UserError
from fastdecode.measure.sampling import stratified_sample, workload

lengths_of_lines = st.lists(st.integers(0, 50), min_size=1, max_size=80)


@given(st.lists(st.integers(1, 50), min_size=1), st.integers(1, 60))
def test_a_sample_has_lines_of_every_length(lengths: list[int], count: int) -> None:
    chosen = stratified_sample(lengths, count)
    assert chosen == sorted(set(chosen))
    assert len(chosen) == min(count, len(lengths))
    # the k-th shortest line chosen lies within the k-th part of all lines
    everything = sorted(lengths)
    for rank, length in enumerate(sorted(lengths[index] for index in chosen)):
        first = rank * len(lengths) // len(chosen)
        last = -(-(rank + 1) * len(lengths) // len(chosen)) - 1
        assert everything[first] <= length <= everything[last]


def test_sample_by_hand() -> None:
    assert stratified_sample([9, 1, 5, 2, 8, 4], 3) == [0, 2, 3]
    assert stratified_sample([3, 3, 3], 1) == [1]
    assert stratified_sample([3, 1], 5) == [0, 1]


@pytest.mark.parametrize(("lengths", "count"), [([], 1), ([1], 0)])
def test_no_sample_of_nothing(lengths: list[int], count: int) -> None:
    with pytest.raises(UserError):
        stratified_sample(lengths, count)


def test_one_line_at_a_time_in_the_order_of_the_test_set() -> None:
    chosen = workload([9, 0, 1, 5, 99, 2, 8, 4], 50, "S1", Latency(lines=3))
    assert chosen.lines == [0, 3, 5]  # neither the blank line nor the one that is too long
    assert chosen.batches == {1: [[0], [3], [5]]}


def test_a_sweep_by_hand() -> None:
    settings = Latency(batch_lines=5, batches=(4, 2, 8))
    chosen = workload([9, 0, 1, 5, 99, 2, 8], 50, "Smax", settings)
    assert chosen.lines == [0, 6, 3, 5, 2]
    assert chosen.batches == {2: [[0, 6], [3, 5], [2]], 4: [[0, 6, 3, 5], [2]]}
    assert chosen.left_out == [8]


@given(
    lengths_of_lines,
    st.integers(1, 50),
    st.integers(1, 40),
    st.lists(st.integers(1, 20), min_size=1, max_size=4, unique=True),
)
def test_batches_of_every_size_are_the_same_readable_lines(
    lengths: list[int], longest: int, count: int, sizes: list[int]
) -> None:
    assume(min(sizes) <= count)
    readable = [length for length in lengths if 0 < length <= longest]
    settings = Latency(batch_lines=count, batches=tuple(sizes))
    if min(len(readable), count) < min(sizes):
        with pytest.raises(UserError):
            workload(lengths, longest, "Smax", settings)
        return
    chosen = workload(lengths, longest, "Smax", settings)
    ordered = [lengths[line] for line in chosen.lines]
    assert all(0 < length <= longest for length in ordered)
    assert ordered == sorted(ordered, reverse=True)
    assert len(set(chosen.lines)) == len(chosen.lines) == min(len(readable), count)
    for size, batches in chosen.batches.items():
        assert [line for batch in batches for line in batch] == chosen.lines
        assert all(len(batch) == size for batch in batches[:-1])
        assert 0 < len(batches[-1]) <= size
    assert sorted([*chosen.batches, *chosen.left_out]) == sorted(sizes)


def test_a_test_set_smaller_than_every_batch_is_an_error() -> None:
    with pytest.raises(UserError, match=r"3 lines fill no batch of 8: .*latency\.batches"):
        workload([1, 2, 3, 0], 9, "Smax", Latency())


def test_lines_that_no_decoder_can_read_are_an_error() -> None:
    with pytest.raises(UserError, match="none of 3 lines has between 1 and 50 BPE tokens"):
        workload([60, 70, 0], 50, "S1", Latency())
