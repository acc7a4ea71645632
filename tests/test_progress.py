from collections.abc import Iterator

import pytest

from fastdecode.progress import say, track


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands still: tests move its hand."""
    now = [100.0]
    monkeypatch.setattr("fastdecode.progress.time.monotonic", lambda: now[0])
    return now


def test_a_line_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    say("train", "epoch 1")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "[train] epoch 1\n")


def test_lines_come_now_and_then(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    for _ in track(range(3000), "bpe", "lines", total=3000):
        clock[0] += 0.01
    assert capsys.readouterr().err.splitlines() == [
        "[bpe] 1,000 of 3,000 lines, 100 a second, 20 s left",
        "[bpe] 2,000 of 3,000 lines, 100 a second, 10 s left",
        "[bpe] 3,000 of 3,000 lines, 100 a second, 0 s left",
    ]


def test_without_a_total_nothing_is_promised(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in track(range(2), "bpe", "lines", every=1):
        clock[0] += 2
    assert capsys.readouterr().err == "[bpe] 1 lines, 0 a second\n[bpe] 2 lines, 0 a second\n"


def test_quick_work_is_silent(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    assert list(track("abc", "bpe", "letters")) == ["a", "b", "c"]
    assert capsys.readouterr().err == ""


def test_items_are_not_taken_ahead() -> None:
    taken = []

    def items() -> Iterator[int]:
        for item in range(3):
            taken.append(item)
            yield item

    tracked = track(items(), "x", "items")
    assert (next(tracked), next(tracked), taken) == (0, 1, [0, 1])
