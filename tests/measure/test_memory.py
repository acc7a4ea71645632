import mmap
import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fastdecode.errors import UserError
from fastdecode.measure import memory
from fastdecode.measure.latency import Decode, DoesNotFit
from fastdecode.measure.memory import measure_memory, resident
from fastdecode.measure.timing import Bench, Entry
from fastdecode.system import System
from fastdecode.translation import Translation

Entries = Callable[..., Entry]
MIB = 1 << 20


def test_every_decoder_at_every_batch_size(bench: Bench, entry: Entries) -> None:
    rows = measure_memory([entry("greedy"), entry("beam2", beam=2)], bench)
    assert [(row["name"], row["batch"]) for row in rows] == [
        (f"raw/tiny/{decoder}", batch) for decoder in ("greedy", "beam2") for batch in (1, 2, 4)
    ]
    for row in rows:
        assert (row["tier"], row["precision"]) == ("reference", "fp32")
        assert 0 < row["start"] < row["loaded"]
        assert row["peak"] > 10 * MIB
        assert not row.keys() & {"allocator_peak", "left_out"}


def test_without_a_sweep_there_are_no_batches(bench: Bench, entry: Entries) -> None:
    alone = bench.settings.model_copy(update={"scenarios": ("S1",)})
    (row,) = measure_memory([entry()], Bench(**{**vars(bench), "settings": alone}))
    assert row["batch"] == 1


def pretend(monkeypatch: pytest.MonkeyPatch, work: Callable[[int], object]) -> None:
    """Let every decoder do `work` with the size of its batch, and nothing else."""

    def decode(lines: Sequence[str]) -> list[Translation]:
        work(len(lines))
        return []

    built: tuple[Decode, int] = (decode, 0)
    monkeypatch.setattr(memory, "build", lambda *arguments, **named: built)


def test_the_peak_is_that_of_the_batch_size(
    bench: Bench, entry: Entries, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sizes = {1: 150, 2: 50, 4: 80}  # MiB, each given back

    def work(size: int) -> None:
        # of the system itself: Python may hand out what it still has of earlier tests
        (tmp_path / str(size)).write_text(str(resident("VmRSS")))
        with mmap.mmap(-1, sizes[size] * MIB) as memory:
            for page in range(0, len(memory), mmap.PAGESIZE):
                memory[page] = 1

    pretend(monkeypatch, work)
    rows = measure_memory([entry()], bench)
    if rows[0]["peak_since"] == "start":
        pytest.skip("this system does not let a process begin its peak anew")
    began = [int((tmp_path / str(row["batch"])).read_text()) for row in rows]
    rise = [(row["peak"] - before) / MIB for row, before in zip(rows, began, strict=True)]
    assert rise == pytest.approx([150, 50, 80], abs=8)


def test_every_decoder_translates_the_same_lines(
    bench: Bench, entry: Entries, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also one whose system could read longer ones: as in the latency measurement."""
    lengths = sorted(set(map(len, bench.sources)))
    short = (tmp_path / "short.pt").as_posix()
    load = Bench.load

    def shorter(self: Bench, checkpoint: str) -> System:
        system = load(self, entry().checkpoint)
        return system if checkpoint != short else replace(system, models=[Narrow(lengths[-2])])

    monkeypatch.setattr(Bench, "load", shorter)
    written = tmp_path / "lines"

    def decode(lines: Sequence[str]) -> list[Translation]:
        with written.open("a") as file:
            file.writelines(f"{line}\n" for line in lines)
        return []

    monkeypatch.setattr(memory, "build", lambda *arguments, **named: (decode, 0))
    settings = bench.settings.model_copy(update={"scenarios": ("S1",), "lines": 99})
    measure_memory(
        [entry(), replace(entry("other"), checkpoint=short)], replace(bench, settings=settings)
    )
    lines = written.read_text().splitlines()
    half = len(lines) // 2
    assert lines[:half] == lines[half:] and half > 0
    assert max(len(bench.text.source_tokens(line)) for line in lines) < lengths[-1]


class Narrow:
    """A model that reads at most so many tokens, `</s>` beside them."""

    def __init__(self, longest: int) -> None:
        self.longest = longest

    def max_positions(self) -> tuple[int, int]:
        return self.longest + 1, 99


def test_a_batch_that_does_not_fit_is_the_last(
    bench: Bench, entry: Entries, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(size: int) -> None:
        if size > 1:
            raise DoesNotFit("memory is full")

    pretend(monkeypatch, work)
    one, two = measure_memory([entry()], bench)
    assert "peak" in one and "left_out" not in one
    assert two["left_out"] == "memory is full" and "peak" not in two


def test_a_decoder_that_kills_its_process_is_named(
    bench: Bench, entry: Entries, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, lambda size: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(UserError, match="memory of raw/tiny/beam9: the process was killed"):
        measure_memory([entry("beam9")], bench)


def test_resident(tmp_path: Path) -> None:
    status = tmp_path / "status"
    status.write_text("Name:\tx\nVmHWM:\t  2000 kB\nVmRSS:\t  1500 kB\n")
    assert (resident("VmRSS", status), resident("VmHWM", status)) == (1500 * 1024, 2000 * 1024)
    assert resident("VmRSS") > MIB
    for path in (tmp_path / "none", tmp_path / "empty"):
        (tmp_path / "empty").touch()
        with pytest.raises(UserError, match="Linux"):
            resident("VmRSS", path)
