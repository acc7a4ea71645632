"""Trainings in processes of their own, and what they leave: for tests of how they end."""

import csv
import fcntl
import json
import multiprocessing
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from fastdecode.files import read_json
from fastdecode.train.job import Job
from fastdecode.train.run import train

MakeJob = Callable[..., Job]
fork = multiprocessing.get_context("fork")


def work_folder(job: Job, out: Path) -> Path:
    return out / f"work-{job.key()}"


@contextmanager
def training_apart(job: Job, out: Path) -> Iterator[Any]:
    """Train in a process of its own, which is killed (SIGKILL) at the end of the block.

    Then wait until fairseq-train, its child, has died with it and let the folder go.
    """
    process = fork.Process(target=train, args=(job, out, {}))
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()
    with (work_folder(job, out) / "lock").open("w") as lock:
        wait_until(lambda: is_free(lock), seconds=10)


def kill_and_resume(job: Job, out: Path, *moments: Callable[[Path], object]) -> None:
    """Train, killed when the work folder meets each of the conditions in turn, until it is done."""
    work = work_folder(job, out)
    for moment in moments:
        with training_apart(job, out) as process:
            wait_until(partial(moment, work))
            (child,) = children(process.pid)  # fairseq-train, whose file the moment was
        wait_until(partial(gone, child))  # it ends a moment after its parent
        assert not (out / "checkpoint.pt").exists()
    train(job, out, {})


def is_free(lock: Any) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def wait_until(condition: Callable[[], object], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.001)


def children(pid: int) -> list[int]:
    """The processes that `pid` started and that run."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def gone(pid: int) -> bool:
    return not lives(pid)


def lives(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def appears(name: str) -> Callable[[Path], object]:
    """Return a condition on a work folder: that it has the file `name`."""
    return lambda work: (work / name).exists()


def logs(text: str) -> Callable[[Path], object]:
    """Return a condition on a work folder: that `text` (an expression) stands in its log."""
    return lambda work: (
        (work / "train.log").exists() and re.search(text, (work / "train.log").read_text())
    )


def curve_but_for_times(out: Path) -> list[dict[str, str]]:
    with (out / "curve.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        assert float(row.pop("seconds")) > 0
        del row["cpu_seconds"]
        assert float(row.pop("tokens_per_second")) > 0
    return rows


def cpu_seconds(out: Path) -> list[float]:
    """The CPU time of a training that ran, up to each validation."""
    with (out / "curve.csv").open() as file:
        return [float(row["cpu_seconds"]) for row in csv.DictReader(file)]


def assert_same(out: Path, undisturbed: Path) -> None:
    """Two trainings gave the same model, curve and record, but for times and provenance."""
    assert curve_but_for_times(out) == curve_but_for_times(undisturbed)
    records = [read_json(folder / "train.json") for folder in (out, undisturbed)]
    for record in records:
        del record["provenance"], record["seconds"]
    assert records[0] == records[1]
    assert (out / "checkpoint.pt").read_bytes() == (undisturbed / "checkpoint.pt").read_bytes()


def record(kind: str, **values: object) -> str:
    return f"2026-01-01 00:00:00 | INFO | {kind} | {json.dumps(values)}\n"


def epoch(number: int, updates: int = 0) -> list[str]:
    valid = {"valid_loss": "4.5", "valid_bleu": "1.2", "valid_num_updates": str(updates)}
    values = {"train_loss": "5.1", "train_wps": "12345.6", "train_num_updates": str(updates)}
    return [record("valid", epoch=number, **valid), record("train", epoch=number, **values)]
