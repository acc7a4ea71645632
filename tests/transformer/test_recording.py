import gc
import logging
import weakref
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest
import torch
from torch import Tensor

from fastdecode.transformer import recording
from fastdecode.transformer.recording import BLOCK, Recorded, padded, seen, up
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
    x = torch.ones(2, 3, BLOCK + 1)
    assert padded(x, -2).shape == (2, BLOCK, BLOCK + 1)
    both = padded(x, -1, -2, value=7)
    assert both.shape == (2, BLOCK, 2 * BLOCK) and torch.equal(both[:, :3, : BLOCK + 1], x)
    assert int((both == 7).sum()) == both.numel() - x.numel()
    assert seen(x, -2).flatten().tolist() == [True] * 3 + [False] * (BLOCK - 3)


def test_work_is_recorded_once_for_each_size(recorder: TapeRecorder) -> None:
    lines: list[int] = []

    def sums(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        lines.append(1)
        return a + b, a.sum()

    recorded: Recorded[tuple[Tensor, ...]] = Recorded(sums, "sums")
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

    recorded: Recorded[tuple[Tensor, ...]] = Recorded(step, "a step")
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
        (no_graph, "half of it is not recorded: operation not permitted when stream is capt"),
        (another, "half of it is not recorded: the repetition differs by 1.0e-02"),
    ],
)
def test_what_does_not_prove_itself_is_not_repeated(
    record: Any, said: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("fastdecode.transformer.recording.cuda_graph", record)
    monkeypatch.setattr("fastdecode.transformer.recording._refused", [])
    half: Recorded[Tensor] = Recorded(lambda x: x / 2, "half of it")
    with caplog.at_level(logging.WARNING):
        for number in (1.0, 3.0):
            assert half(torch.tensor([number])).tolist() == [number / 2]
    assert len(caplog.messages) == 1 and caplog.messages[0].startswith(said)
    (refused,) = recording.refusals()
    assert refused == caplog.messages[0].replace(" is not recorded", "")


def test_what_is_large_is_not_recorded(
    recorder: TapeRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "LARGE", 15)
    double: Recorded[Tensor] = Recorded(lambda x: 2 * x, "twice as much")
    for count in (3, 4):
        assert double(torch.ones(count)).tolist() == [2] * count
    assert recorder.count == 1  # of four bytes each


def test_what_a_recording_reads_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[weakref.ref[Tensor]] = []

    def record(work: Any) -> Any:
        read.extend(map(weakref.ref, work.args))
        output = work()
        return lambda: output

    monkeypatch.setattr(recording, "cuda_graph", record)
    total: Recorded[Tensor] = Recorded(lambda x, y: x + y, "a sum")
    total(torch.ones(3), torch.ones(3))
    gc.collect()
    assert len(read) == 2 and all(tensor() is not None for tensor in read)


@pytest.mark.parametrize(
    ("free", "kept", "fits"), [(0.9, 0.0, False), (0.9, 0.2, True), (1.1, 0.0, True)]
)
def test_a_recording_leaves_memory_free(
    free: float, kept: float, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what PyTorch keeps it gives back as much as it can, where that is needed."""
    emptied: list[float] = []
    monkeypatch.setattr(
        torch.cuda, "mem_get_info", lambda: (int((free + sum(emptied)) * 2**30), 8 * 2**30)
    )
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: emptied.append(kept))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: no_graph(None))  # which comes next
    expected = "not permitted" if fits else "^only 0.9 GB of 8.0 are free on the GPU$"
    with pytest.raises(RuntimeError, match=expected):
        recording.cuda_graph(lambda: torch.ones(1))
    assert bool(emptied) == (free < 1)
    assert not recording._failures


@needs_gpu
def test_a_gpu_repeats_what_it_recorded() -> None:
    with torch.inference_mode():
        recorded: Recorded[tuple[Tensor, ...]] = Recorded(
            lambda x: ((x * 3).cumsum(0), x.max()), "sums"
        )
        for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
            with torch.cuda.stream(stream):
                for size in (5, 7, 5):
                    x = torch.randn(size, device="cuda")
                    total, highest = recorded(x)
                    assert torch.equal(total, (x * 3).cumsum(0)) and torch.equal(highest, x.max())


def look_and_go_on() -> None:
    """Fail to record, and compute: in a process of its own, since nothing is recorded then."""
    here = torch.cuda.current_stream()
    with torch.inference_mode():
        for wanted in (1, 2):
            looks: Recorded[Tensor] = Recorded(lambda x: x[: int(x.sum())], "a look")
            for _ in range(2):
                assert looks(torch.ones(wanted, device="cuda")).tolist() == [1] * wanted
        assert torch.cuda.current_stream() == here and len(recording._failures) == 1
        torch.cuda.empty_cache()
        assert torch.ones(2**20, device="cuda").cumsum(0)[-1] == 2**20


@needs_gpu
def test_a_gpu_goes_on_without_what_it_could_not_record() -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        process.submit(look_and_go_on).result()
