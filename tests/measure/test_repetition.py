import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.measure.repetition import repetition_rate

LINES = st.lists(st.lists(st.sampled_from("ab")))


def test_a_token_like_the_one_before_it_is_a_repetition() -> None:
    lines = ["in a blue blue blue hat", "a hat , a hat", ""]
    assert repetition_rate([line.split() for line in lines]) == 2 / 11


def test_pieces_of_a_word_are_tokens() -> None:
    assert repetition_rate([["ha@@", "ha@@", "ha"]]) == 1 / 3  # the last one ends the word


def test_lines_do_not_run_into_one_another() -> None:
    assert repetition_rate([["a"], ["a"]]) == 0


def test_no_tokens_are_no_repetition() -> None:
    assert repetition_rate([]) == repetition_rate([[]]) == 0


@given(LINES)
def test_each_line_said_twice_over_adds_its_own_length(lines: list[list[str]]) -> None:
    """Doubling every token makes every second one a repetition, and keeps those there were."""
    doubled = [[token for token in line for _ in range(2)] for line in lines]
    if any(lines):
        assert repetition_rate(doubled) == pytest.approx(0.5 + repetition_rate(lines) / 2)
