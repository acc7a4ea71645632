import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import torch

from fastdecode.errors import UserError
from fastdecode.files import write_json
from fastdecode.measure import machine
from fastdecode.measure.machine import (
    array_bytes,
    bandwidth_of,
    best,
    best_time,
    measure_machine,
    threads_of,
)
from fastdecode.provenance import cores, describe_cpu


def kernel(
    threads: int, value: float, unit: str = "GB/s", precision: str = "fp32"
) -> dict[str, object]:
    return {"threads": threads, "value": value, "unit": unit, "precision": precision}


def test_the_best_kernel_counts_and_what_fewer_threads_reach_counts_too() -> None:
    kernels = [
        kernel(1, 30),
        kernel(1, 38),
        kernel(2, 36),
        kernel(4, 50),
        kernel(1, 90, "GFLOP/s"),
        kernel(2, 170, "GFLOP/s"),
        kernel(2, 400, "GFLOP/s", "bf16"),
    ]
    assert best(kernels) == {
        "bandwidth": {"1": 38, "2": 38, "4": 50},
        "throughput": {"fp32": {"1": 90, "2": 170, "4": 170}, "bf16": {"2": 400, "4": 400}},
    }


def test_the_least_repeat_but_the_first() -> None:
    times = iter([0.0, 0.1, 5.0, 7.0, 10.0, 12.0, 20.0, 23.0])  # the first of 0.1 s warms up
    waits: list[int] = []
    runs: list[int] = []
    seconds = best_time(
        lambda: runs.append(1),
        lambda: waits.append(len(runs)),
        calls=2,
        duration=7.0,
        clock=lambda: next(times),
    )
    assert seconds == 1.0  # two calls in 2 s
    assert waits == [0, 2, 2, 4, 4, 6, 6, 8]  # before every reading of the clock


def test_repeats_last_as_long_as_asked() -> None:
    ticks = iter(range(1000))
    runs: list[int] = []
    best_time(lambda: runs.append(1), lambda: None, 1, 10.0, lambda: float(next(ticks)))
    assert len(runs) == 10


def caches(cpus: Path, number: int, *levels: tuple[int, str, str]) -> None:
    for index, (level, size, shared) in enumerate(levels):
        folder = cpus / f"cpu{number}/cache/index{index}"
        folder.mkdir(parents=True)
        for name, text in (("level", str(level)), ("size", size), ("shared_cpu_list", shared)):
            (folder / name).write_text(text + "\n")


def test_arrays_are_larger_than_all_caches_together(tmp_path: Path) -> None:
    assert array_bytes(tmp_path) == 256 << 20  # nothing known
    for number in range(4):  # two chips, each with a cache that two cores share
        shared = "0-1" if number < 2 else "2-3"
        caches(tmp_path, number, (2, "1024K", str(number)), (3, "98304K", shared))
    assert array_bytes(tmp_path) == 4 * (2 * 96 + 4) << 20
    (tmp_path / "cpu0/cache/index0/size").unlink()  # as some machines leave it out
    (tmp_path / "cpu1/cache/index0/size").write_text("\n")
    assert array_bytes(tmp_path) == 4 * (2 * 96 + 2) << 20
    for number in (4, 5):
        caches(tmp_path, number, (3, "393216K", str(number)))
    assert array_bytes(tmp_path) == 1 << 30  # what a job may hold


def test_threads() -> None:
    assert threads_of("1") == 1
    assert threads_of("all") == cores() == threads_of(str(cores()))
    with pytest.raises(UserError, match=rf"threads: {cores() + 1} is more than the {cores()} cor"):
        threads_of(str(cores() + 1))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kernels of milliseconds, and the threads as they were."""
    monkeypatch.setattr(machine, "array_bytes", lambda: 4 << 20)
    monkeypatch.setattr(machine, "MATRIX", {"cpu": 64})
    monkeypatch.setattr(machine, "best_time", partial(best_time, duration=0.0))
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("small")
def test_what_is_measured_of_this_machine() -> None:
    found = measure_machine("cpu", [1, 2])
    assert list(found["bandwidth"]) == list(found["throughput"]["fp32"]) == ["1", "2"]
    names = [(row["threads"], row["kernel"]) for row in found["kernels"]]
    assert {(1, "sum"), (2, "sum"), (1, "matrix-vector"), (1, "matrix-matrix")} <= set(names)
    if torch.backends.mkldnn.is_available():
        assert (1, "packed matrix-vector") in names
    for row in found["kernels"]:
        expected = 2 * 64**3 if row["unit"] == "GFLOP/s" else 4 << 20
        assert row["amount"] == expected
        assert row["value"] == pytest.approx(expected / row["seconds"] / 1e9)


@pytest.mark.usefixtures("small")
def test_every_reading_kernel_reads_all_of_its_matrix() -> None:
    for kernel in machine._reading("cpu", 1 << 20):
        assert float(kernel.run().sum()) == (1 << 20) / 4, kernel.name  # a matrix of ones


def test_the_bandwidth_is_of_the_machine_that_times(tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    measured = {"bandwidth": {"1": 38.5, "2": 70.0}}
    write_json(path, {"provenance": {"device": describe_cpu()}, **measured})
    assert bandwidth_of(path, 2, "cpu") == 70.0
    with pytest.raises(UserError, match=r"threads 1, 2, and this is .*threads 4: time"):
        bandwidth_of(path, 4, "cpu")
    more = re.sub(r"\d+ cores$", "64 cores", describe_cpu())
    write_json(path, {"provenance": {"device": more}, **measured})
    assert bandwidth_of(path, 1, "cpu") == 38.5
    write_json(path, {"provenance": {"device": "A100"}, **measured})
    assert bandwidth_of(path, 1, "A100") == 38.5
    with pytest.raises(UserError, match="is of A100"):
        bandwidth_of(path, 1, "cpu")
