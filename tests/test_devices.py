import multiprocessing
import os
import subprocess
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from fastdecode import devices
from fastdecode.devices import own_devices
from fastdecode.errors import UserError

fork = multiprocessing.get_context("fork")


@pytest.fixture(autouse=True)
def three_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,2,GPU-5")
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.setattr(devices.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(devices, "check_device", lambda device: None)


class Job:
    """A process that takes devices, and keeps them until it is told to end, or killed."""

    def __init__(self, count: int, sharers: int = 1):
        self._pipe, theirs = fork.Pipe()
        self.process = fork.Process(target=self._run, args=(count, sharers, theirs), daemon=True)
        self.process.start()

    @staticmethod
    def _run(count: int, sharers: int, pipe: Connection) -> None:
        with own_devices("cuda", count, sharers):
            pipe.send(os.environ["CUDA_VISIBLE_DEVICES"].split(","))
            pipe.recv()

    def devices(self, seconds: float = 10) -> list[str] | None:
        return self._pipe.recv() if self._pipe.poll(seconds) else None

    def end(self) -> None:
        self._pipe.send("end")
        self.process.join()


def test_jobs_side_by_side_have_different_devices() -> None:
    jobs = [Job(2), Job(1)]
    first, second = (job.devices() for job in jobs)
    assert first and second
    assert sorted([*first, *second]) == ["0", "2", "GPU-5"]
    waiting = Job(2)
    assert waiting.devices(1) is None
    jobs[0].end()
    assert waiting.devices() == first


def test_the_devices_of_a_killed_job_are_free() -> None:
    job = Job(3)
    assert job.devices() == ["0", "2", "GPU-5"]
    job.process.kill()
    assert Job(3).devices() == ["0", "2", "GPU-5"]


def test_a_training_that_outlives_its_job_keeps_the_device() -> None:
    with own_devices("cuda", 3):
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
    waiting = Job(1)
    assert waiting.devices(1) is None
    child.kill()
    child.wait()
    assert waiting.devices() == ["0"]


def test_two_that_want_much_do_not_wait_for_each_other() -> None:
    jobs = [Job(2), Job(2), Job(3)]
    for _ in range(3):
        ready = [job for job in jobs if job.devices(0)]
        end = time.monotonic() + 10
        while not ready and time.monotonic() < end:
            ready = [job for job in jobs if job.devices(0.1)]
        assert len(ready) == 1
        ready[0].end()
        jobs.remove(ready[0])


def test_jobs_that_share_are_spread_over_all_devices() -> None:
    jobs = [Job(1, sharers=2) for _ in range(6)]
    assert sorted(job.devices() or [] for job in jobs) == sorted(2 * [["0"], ["2"], ["GPU-5"]])
    seventh = Job(1, sharers=2)
    assert seventh.devices(1) is None
    jobs[0].process.kill()
    assert seventh.devices()


@pytest.mark.parametrize("other", [1, 2, 5])
def test_a_timing_has_its_device_alone(other: int) -> None:
    sharing = [Job(1, sharers=other) for _ in range(3)]
    for job in sharing:
        assert job.devices()
    timing = Job(1)
    assert timing.devices(1) is None
    late = Job(1, sharers=5)  # must not go before it
    assert late.devices(1) is None
    sharing[1].end()
    assert timing.devices()
    timing.end()
    assert late.devices()


def test_a_training_on_several_devices_shares_none() -> None:
    training = Job(2, sharers=8)
    assert training.devices() == ["0", "2"]
    others = [Job(1, sharers=8) for _ in range(8)]
    assert [job.devices() for job in others] == 8 * [["GPU-5"]]


def test_more_than_there_are_is_a_clear_error() -> None:
    with (
        pytest.raises(UserError, match="asks for 4 GPUs, but this machine shows 3"),
        own_devices("cuda", 4),
    ):
        pass


def test_a_cpu_needs_no_lock(tmp_path: Path) -> None:
    with own_devices("cpu", 9):
        assert os.environ["CUDA_VISIBLE_DEVICES"] == "0,2,GPU-5"
    assert not list(tmp_path.iterdir())


def test_jobs_of_one_allocation_share_its_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    jobs = [Job(1), Job(1)]
    assert sorted(job.devices() or ["none"] for job in jobs) == [["0"], ["1"]]
    assert Job(1).devices(1) is None
    monkeypatch.setenv("SLURM_JOB_ID", "8")  # whose GPUs are others, by the same names
    assert Job(1).devices() == ["0"]


def test_a_job_on_two_nodes_takes_no_lock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    with own_devices("cuda", 6):  # three on each
        assert os.environ["CUDA_VISIBLE_DEVICES"] == "0,2,GPU-5"
    assert not list(tmp_path.iterdir())
