import logging
from typing import Any

import pytest
import torch
from torch import Tensor

from fastdecode.transformer.recording import BLOCK, Recorded, first_of, up
from tests.gpu import needs_gpu
from tests.tape import TapeRecorder


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> TapeRecorder:
    recorder = TapeRecorder()
    monkeypatch.setattr("fastdecode.transformer.recording.cuda_graph", recorder)
    return recorder


def test_sizes_are_rounded_up() -> None:
    assert [up(count) for count in (1, BLOCK, BLOCK + 1)] == [BLOCK, BLOCK, 2 * BLOCK]
    assert up(9, 8) == 16
    assert first_of(2, 4, torch.device("cpu")).tolist() == [True, True, False, False]


def test_work_is_recorded_once_for_each_size(recorder: TapeRecorder) -> None:
    lines: list[int] = []

    def sums(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        lines.append(1)
        return a + b, a.sum()

    recorded: Recorded[tuple[Tensor, ...]] = Recorded(sums)
    for size in (3, 4, 3):
        for _ in range(3):
            a, b = torch.randn(2, size)
            found, expected = recorded(a, b), sums(a, b)
            assert all(map(torch.equal, found, expected))
    assert recorder.count == 2
    lines.clear()
    recorded(torch.ones(3), torch.ones(3))
    assert not lines  # no line of Python is run again


def test_what_changes_its_input_begins_anew(recorder: TapeRecorder) -> None:
    """Also where what was returned is the next input: a state that goes on in its place."""

    def step(state: Tensor, more: Tensor) -> tuple[Tensor, ...]:
        state += more
        return state, 2 * state

    recorded: Recorded[tuple[Tensor, ...]] = Recorded(step)
    for _ in range(2):
        state = torch.zeros(2)
        for number in range(1, 4):
            state, double = recorded(state, torch.ones(2))
            assert state.tolist() == [number] * 2 and double.tolist() == [2 * number] * 2


def no_graph(work: Any) -> Any:
    raise RuntimeError("operation not permitted when stream is capturing\nand more")


def another(work: Any) -> Any:
    return lambda: work() + 0.01


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (no_graph, "half of it cannot be recorded: operation not permitted when stream is capt"),
        (another, "half of it is not recorded: the repetition differs by 1.0e-02"),
    ],
)
def test_what_does_not_prove_itself_is_not_repeated(
    record: Any, said: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("fastdecode.transformer.recording.cuda_graph", record)
    half: Recorded[Tensor] = Recorded(lambda x: x / 2, "half of it")
    with caplog.at_level(logging.WARNING):
        for number in (1.0, 3.0):
            assert half(torch.tensor([number])).tolist() == [number / 2]
    assert len(caplog.messages) == 1 and caplog.messages[0].startswith(said)


@needs_gpu
def test_a_gpu_repeats_what_it_recorded(caplog: pytest.LogCaptureFixture) -> None:
    with torch.inference_mode(), caplog.at_level(logging.WARNING):
        recorded: Recorded[tuple[Tensor, ...]] = Recorded(lambda x: ((x * 3).cumsum(0), x.max()))
        for size in (5, 7, 5):
            x = torch.randn(size, device="cuda")
            total, highest = recorded(x)
            assert torch.equal(total, (x * 3).cumsum(0)) and torch.equal(highest, x.max())
        waits: Recorded[Tensor] = Recorded(lambda x: x[: int(x.sum())], "a look")
        for _ in range(2):
            assert waits(torch.ones(3, device="cuda")).tolist() == [1, 1, 1]
    assert len(caplog.messages) == 1 and "a look cannot be recorded" in caplog.messages[0]
