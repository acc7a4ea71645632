import pytest

from fastdecode.errors import UserError
from fastdecode.families.bidirectional.rows import Decoder
from fastdecode.limits import Lengths, limits

ROW = Decoder(max_len_a=1.5, max_len_b=2, min_len=5)
SOURCES = [["a"], ["a", "b", "c"], ["b"] * 9]


def test_a_limit_follows_the_source() -> None:
    assert limits(SOURCES, ROW, None, 16).tolist() == [5, 8, 16]  # with </s>: 2, 4 and 10 tokens


def test_a_length_that_no_translation_can_have_is_refused() -> None:
    assert limits(SOURCES, ROW, None, 5).tolist() == [5, 5, 5]
    with pytest.raises(UserError, match="min_len: 5, but this system writes 4 tokens at most"):
        limits(SOURCES, ROW, None, 4)


def test_given_lengths_are_the_limit() -> None:
    lengths = Lengths(zip([*SOURCES, ["a"]], [3, 0, 40, 7], strict=True))
    assert limits(SOURCES, ROW, lengths, 16).tolist() == [3, 1, 16]
    assert lengths[("a",)] == 3  # the first of two
    with pytest.raises(KeyError):
        lengths[["c"]]
