"""A training that was killed, or stopped, and the folder that it goes on from."""

import json
import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fastdecode.errors import UserError
from fastdecode.files import read_json
from fastdecode.train.checkpoints import load, save
from fastdecode.train.run import train
from tests.train.conftest import fairseq_state
from tests.train.trainings import (
    MakeJob,
    appears,
    assert_same,
    cpu_seconds,
    curve_but_for_times,
    epoch,
    fork,
    is_free,
    kill_and_resume,
    lives,
    logs,
    wait_until,
    work_folder,
)


def test_a_killed_training_ends_like_an_undisturbed_one(tiny_job: MakeJob, tmp_path: Path) -> None:
    # At this learning rate the loss falls and rises: patience ends it within the fourth epoch.
    job = tiny_job(max_epochs=9, save_every_updates=8, lr=0.1, patience=4, select="loss")
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    train(job, undisturbed, {})
    in_epoch, after_epoch = appears("checkpoint_2_24.pt"), logs(r'\| train \| {"epoch": 2')
    kill_and_resume(job, killed, in_epoch, after_epoch)
    assert_same(killed, undisturbed)
    for out in (killed, undisturbed):
        assert cpu_seconds(out)[0] > 0 and cpu_seconds(out) == sorted({*cpu_seconds(out)})

    rows = curve_but_for_times(undisturbed)
    losses = [float(row["valid_loss"]) for row in rows]
    assert losses.index(min(losses)) == len(losses) - 1 - 4
    assert 2 < int(rows[-1]["epoch"]) < 9
    best = sorted(range(len(rows)), key=lambda i: (losses[i], i))[:2]
    averaged = read_json(undisturbed / "train.json")["averaged_updates"]
    assert averaged == sorted(int(rows[i]["update"]) for i in best)


def test_killed_between_updates_of_several_batches(tiny_job: MakeJob, tmp_path: Path) -> None:
    # 15 batches are four updates an epoch: three of four batches, one of three.
    job = tiny_job(max_epochs=3, save_every_updates=3, accumulate=4)
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    train(job, undisturbed, {})
    kill_and_resume(job, killed, appears("checkpoint_2_6.pt"))
    assert_same(killed, undisturbed)
    ends = {int(row["epoch"]): int(row["update"]) for row in curve_but_for_times(undisturbed)}
    assert ends == {1: 4, 2: 8, 3: 12}


def test_a_training_killed_after_its_last_update_does_none_more(
    tiny_job: MakeJob, tmp_path: Path, fake: Callable[[str], None]
) -> None:
    fake("sys.exit('trained')")
    job = tiny_job(max_updates=50)
    work = work_folder(job, tmp_path)
    with pytest.raises(UserError, match="trained"):
        train(job, tmp_path, {})
    save(fairseq_state(36, weight=1.0), work / "checkpoint2.pt")
    save(fairseq_state(50, weight=2.0), work / "checkpoint_last.pt")
    (work / "train.log").write_text("".join([*epoch(2, updates=36), *epoch(3, updates=50)]))
    train(job, tmp_path, {})
    assert load(tmp_path / "checkpoint.pt")["model"]["bias"].tolist() == [1.5, 1.5]
    assert read_json(tmp_path / "train.json")["averaged_updates"] == [36, 50]


def test_fairseq_is_stopped_once_patience_is_out(
    tiny_job: MakeJob, tmp_path: Path, fake: Callable[[str], None]
) -> None:
    for number in (1, 2, 3):
        save(fairseq_state(10 * number, valid=5.0, weight=float(number)), tmp_path / f"{number}.pt")
    log = ["".join(epoch(number, updates=10 * number)) for number in (1, 2, 3)]
    fake(
        "(work / 'pid').write_text(str(os.getpid()))\n"
        f"for number, log in enumerate({log!r}, 1):\n"
        "    (work.parent / f'{number}.pt').rename(work / f'checkpoint{number}.pt')\n"
        "    print(log, end='')\n"
        "print('Saved checkpoint', flush=True); time.sleep(60)"
    )
    job = tiny_job(max_epochs=9, patience=1)
    train(job, tmp_path, {})
    assert not lives(int((work_folder(job, tmp_path) / "pid").read_text()))
    assert [row["update"] for row in curve_but_for_times(tmp_path)] == ["10", "20"]
    assert load(tmp_path / "checkpoint.pt")["model"]["bias"].tolist() == [1.5, 1.5]


def test_other_data_empties_the_folder(
    trained: Path, tiny_job: MakeJob, binarised: Path, tmp_path: Path
) -> None:
    other, out = tmp_path / "other", tmp_path / "out"
    shutil.copytree(binarised, other)
    (other / "more.txt").write_text("which fairseq does not read: the result must be the same\n")
    shutil.copytree(trained, out)
    work = work_folder(tiny_job(), out)
    (work / "checkpoint_last.pt").write_bytes(b"of other data")
    (work / "commits.json").write_text('["of other data"]')
    train(tiny_job(other), out, {})
    assert "of other data" not in (work / "commits.json").read_text()
    assert_same(out, trained)
    assert (work_folder(tiny_job(), out) / "train.log").read_text().count("done training") == 1


def test_other_companions_empty_the_folder_too(
    tiny_job: MakeJob, tmp_path: Path, fake: Callable[[str], None]
) -> None:
    fake("sys.exit(sys.argv[sys.argv.index('--companions') + 1])")
    verifier = tmp_path / "verifier.pt"
    verifier.write_bytes(b"first")
    job = replace(tiny_job(), companions={"verifier": verifier})
    assert job.key() == tiny_job().key()
    lines = []
    for content in (b"first", b"first", b"second"):
        verifier.write_bytes(content)
        with pytest.raises(UserError):
            train(job, tmp_path, {})
        lines.append((work_folder(job, tmp_path) / "train.log").read_text().splitlines())
    assert lines[0] == [f'{{"verifier": "{verifier}"}}']  # as fairseq gets it
    assert list(map(len, lines)) == [1, 2, 1]


def test_other_assets_empty_the_folder_too(
    tiny_job: MakeJob, tmp_path: Path, fake: Callable[[str], None]
) -> None:
    fake("sys.exit('tried')")
    assets = tmp_path / "assets"
    (assets / "tables").mkdir(parents=True)  # as a lattice's
    job = replace(tiny_job(), assets=assets)
    lines = []
    for counted, commit in ((1, "a"), (1, "b"), (2, "b")):  # who counted makes no difference
        (assets / "tables/tables.json").write_text(
            json.dumps({"links": counted, "provenance": {"commit": commit}})
        )
        with pytest.raises(UserError):
            train(job, tmp_path, {})
        lines.append((work_folder(job, tmp_path) / "train.log").read_text().count("tried"))
    assert lines == [1, 2, 1]


def test_two_trainings_cannot_share_a_folder(tiny_job: MakeJob, tmp_path: Path) -> None:
    work = work_folder(tiny_job(), tmp_path)
    work.mkdir()
    with (work / "lock").open("w") as lock:
        assert is_free(lock)  # and taken from now on
        with pytest.raises(UserError, match=f"{work}: another process is training here: wait"):
            train(tiny_job(), tmp_path, {})
    assert [file.name for file in work.iterdir()] == ["lock"]


def test_a_training_that_outlives_us_keeps_the_folder(
    tiny_job: MakeJob, tmp_path: Path, fake: Callable[[str], None]
) -> None:
    fake(  # which does not die with its parent
        "import ctypes; ctypes.CDLL(None).prctl(1, 0)\n"
        "(work / 'pid').write_text(str(os.getpid())); time.sleep(60)"
    )
    pid = work_folder(tiny_job(), tmp_path) / "pid"
    process = fork.Process(target=train, args=(tiny_job(), tmp_path, {}))
    process.start()
    wait_until(lambda: pid.exists() and pid.read_text())
    process.kill()
    process.join()
    try:
        assert lives(int(pid.read_text()))
        with pytest.raises(UserError, match="another process is training here"):
            train(tiny_job(), tmp_path, {})
    finally:
        os.kill(int(pid.read_text()), signal.SIGKILL)
