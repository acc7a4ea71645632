from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.errors import UserError
from fastdecode.families.lattice.lengths import LengthFit, LengthLine, read_lengths, write_lengths
from fastdecode.files import write_json


def fit(pairs: list[tuple[int, int]], step: int = 3) -> LengthLine:
    lengths = LengthFit()
    for first in range(0, len(pairs), step):
        lengths.add(*np.array(pairs[first : first + step]).T)
    return lengths.line()


@given(st.lists(st.tuples(st.integers(1, 300), st.integers(1, 300)), min_size=3, max_size=30))
def test_least_squares(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, float).T
    found = fit(pairs)
    if x.min() == x.max():
        assert (found.a, found.b) == (0, pytest.approx(y.mean()))
    else:
        assert (found.a, found.b) == pytest.approx(tuple(np.polyfit(x, y, 1)), abs=1e-6)
    residuals = y - found.a * x - found.b
    assert found.residual_sd == pytest.approx(
        np.sqrt((residuals**2).sum() / (len(pairs) - 2)), abs=1e-4
    )
    assert found.pairs == len(pairs)


@pytest.mark.parametrize(("source", "target"), [(1, 2), (2, 3), (3, 4), (10, 11)])
def test_halves_are_rounded_up(source: int, target: int) -> None:
    assert LengthLine(1, 0.5, 9, 0.0).predict(source) == target


def test_a_translation_has_a_word() -> None:
    assert LengthLine(0.1, -3, 9, 0.0).predict(5) == 1


def test_two_pairs_lie_on_the_line() -> None:
    found = fit([(2, 5), (4, 9)])
    assert (found.a, found.b, found.residual_sd) == (2, 1, 0)


def test_nothing_to_fit() -> None:
    with pytest.raises(UserError, match="no pairs"):
        LengthFit().line()


def test_there_and_back(tmp_path: Path) -> None:
    found = fit([(2, 5), (4, 8), (7, 9)])
    write_lengths(tmp_path / "lengths.json", found, {"dataset": "x"})
    assert read_lengths(tmp_path / "lengths.json") == found


@pytest.mark.parametrize("value", [[], {"a": 1}, {"a": 1, "provenance": {}}])
def test_another_file_is_refused(tmp_path: Path, value: object) -> None:
    write_json(tmp_path / "lengths.json", value)
    with pytest.raises(UserError, match="not the lengths of a training text"):
        read_lengths(tmp_path / "lengths.json")
