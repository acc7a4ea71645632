import os
import signal
from itertools import count, islice

import pytest

from fastdecode.corpus import pool
from fastdecode.corpus.pool import map_ordered
from fastdecode.errors import UserError


@pytest.fixture(autouse=True)
def small_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "CHUNK", 3)
    monkeypatch.setattr(pool, "ROUND", 2)


@pytest.mark.parametrize("processes", [1, 2])
def test_items_and_results_in_order(processes: int) -> None:
    shift = 10  # a closure: nothing is pickled but items and results
    found = list(map_ordered(lambda item: item + shift, range(50), processes))
    assert found == [(item, item + 10) for item in range(50)]


@pytest.mark.parametrize("processes", [1, 2])
def test_items_are_taken_as_they_are_needed(processes: int) -> None:
    found = map_ordered(lambda item: item, count(), processes)
    assert list(islice(found, 20)) == [(item, item) for item in range(20)]


def test_a_process_that_is_killed_is_one_line() -> None:
    """As by a kernel that is out of memory."""

    def fatal(item: int) -> int:
        if item == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    with pytest.raises(UserError, match="one of several processes was killed: was memory short"):
        list(map_ordered(fatal, range(20), 2))


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_comes_through(processes: int) -> None:
    def half(item: int) -> int:
        if item % 2:
            raise UserError(f"{item} is odd")
        return item // 2

    with pytest.raises(UserError, match="9 is odd"):
        list(map_ordered(half, [0, 2, 4, 6, 8, 9, 10, 12], processes))
