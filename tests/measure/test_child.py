import os
import signal
import sys

import pytest

from fastdecode.errors import UserError
from fastdecode.measure.child import in_child


def test_the_answer_comes_from_another_process() -> None:
    big = list(range(200_000))  # more than a pipe holds
    assert in_child(lambda: (os.getpid(), big), "x") != (os.getpid(), big)
    assert in_child(lambda: big, "x") == big
    assert in_child(lambda: None, "x") is None


def test_what_it_changes_stays_there() -> None:
    numbers = [1]
    assert in_child(lambda: numbers.append(2) or len(numbers), "x") == 2  # type: ignore[func-returns-value]
    assert numbers == [1]


def test_a_users_error_comes_back() -> None:
    def task() -> None:
        raise UserError("mend it")

    with pytest.raises(UserError, match=r"^mend it$"):
        in_child(task, "x")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (signal.SIGKILL, "was killed: memory did not suffice"),
        (signal.SIGTERM, "was ended by SIGTERM"),
    ],
)
def test_a_process_that_dies_is_named(number: signal.Signals, words: str) -> None:
    with pytest.raises(UserError, match=f"^memory of a/b/c: the process {words}"):
        in_child(lambda: os.kill(os.getpid(), number), "memory of a/b/c")


def test_a_fault_shows_its_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    def task() -> None:
        raise ZeroDivisionError("of mine")

    with pytest.raises(UserError, match="x: the process ended with an error, which stands above"):
        in_child(task, "x")
    sys.stderr.flush()
    assert "ZeroDivisionError: of mine" in capfd.readouterr().err
