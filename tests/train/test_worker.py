"""A training of several processes."""

from pathlib import Path

import pytest

from fastdecode.files import read_json
from fastdecode.train.checkpoints import load
from fastdecode.train.run import train
from tests.train.trainings import (
    MakeJob,
    children,
    curve_but_for_times,
    lives,
    training_apart,
    wait_until,
    work_folder,
)


def test_two_processes_share_the_batches_of_an_update(tiny_job: MakeJob, tmp_path: Path) -> None:
    alone, shared = tmp_path / "alone", tmp_path / "shared"
    train(tiny_job(max_epochs=1, accumulate=2), alone, {})
    train(tiny_job(max_epochs=1, gpus=2), shared, {})
    one, two = (read_json(out / "train.json") for out in (alone, shared))
    assert two["updates"] == one["updates"]
    names = load(shared / "checkpoint.pt")["model"].keys()
    assert names == load(alone / "checkpoint.pt")["model"].keys()
    losses = [float(curve_but_for_times(out)[-1]["valid_loss"]) for out in (alone, shared)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)


def test_all_processes_end_with_the_one_that_started_them(
    tiny_job: MakeJob, tmp_path: Path
) -> None:
    job = tiny_job(max_epochs=9, gpus=2)
    with training_apart(job, tmp_path) as process:
        wait_until(lambda: (work_folder(job, tmp_path) / "checkpoint_last.pt").exists())
        (torchrun,) = children(process.pid)
        workers = children(torchrun)
    assert len(workers) == 2
    wait_until(lambda: not any(map(lives, workers)), seconds=10)
