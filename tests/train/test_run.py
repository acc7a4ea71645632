import csv
import fcntl
import json
import multiprocessing
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from fastdecode.devices import check_device
from fastdecode.errors import UserError
from fastdecode.files import read_json
from fastdecode.train import run
from fastdecode.train.checkpoints import load, save
from fastdecode.train.run import Job, Progress, train
from tests.conftest import MID_EPOCH
from tests.train.conftest import fairseq_state

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
        assert float(row.pop("tokens_per_second")) > 0
    return rows


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


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a Python program in the place of fairseq-train; `work` is where it saves."""

    def put(program: str) -> None:
        def command(_arguments: object, *folders: object) -> list[str]:
            setup = "import os, sys, time; from pathlib import Path; work = Path(sys.argv[1])"
            return [sys.executable, "-c", f"{setup}\n{program}", str(folders[-1])]

        monkeypatch.setattr(run.command, "fairseq_train", command)

    return put


# An undisturbed training


def test_what_a_training_leaves(trained: Path, tiny_job: MakeJob) -> None:
    job = tiny_job()
    work = work_folder(job, trained)
    assert {file.name for file in trained.iterdir()} == {
        *("checkpoint.pt", "curve.csv", "train.json", work.name)
    }
    assert {file.name for file in work.iterdir()} == {
        *("averaged.pt", "data.sha256", "lock", "seen.json", "train.log")
    }
    rows = curve_but_for_times(trained)
    assert [int(row["update"]) for row in rows] == [8, 15, 16, 24, 30, 32, 40, 45, 48, 50]
    assert [row["epoch"] for row in rows] == list("1122233344")
    for column in ("valid_loss", "valid_nll_loss", "train_loss", "train_nll_loss"):
        assert float(rows[-1][column]) < float(rows[0][column])

    log = (work / "train.log").read_text()
    assert set(re.findall('"valid_bsz": "(.*?)"', log)) == {"12"}  # all sentences, in one batch
    assert re.findall('"train_bsz": "(.*?)"', log)[0] == "20"  # 300 of them in 15 updates

    record = read_json(trained / "train.json")
    assert record["provenance"] == {"system": "tiny"}
    assert record["averaged_updates"] == [48, 50]
    assert (record["updates"], record["epochs"], record["layers"]) == (50, 4, "1-1")
    assert record["training"] == json.loads(job.settings.model_dump_json())
    assert record["seconds"] > 0

    state = load(trained / "checkpoint.pt")
    assert state["averaged_updates"] == [48, 50]
    assert "last_optimizer_state" not in state
    assert str(trained) not in repr(state["cfg"])
    words = len((job.data / "dict.en.txt").read_text().splitlines()) + 4  # <s> <pad> </s> <unk>
    width, ffn = job.architecture.width, job.architecture.ffn
    attention, norm = 4 * (width * width + width), 2 * width
    feed_forward = 2 * width * ffn + width + ffn
    assert record["parameters"] == (
        words * width + 3 * attention + 2 * feed_forward + 5 * norm  # one embedding for all
    )


def test_a_second_call_does_not_train_again(
    trained: Path, tiny_job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("trained again")

    before = (trained / "checkpoint.pt").read_bytes(), curve_but_for_times(trained)
    monkeypatch.setattr(run.subprocess, "Popen", never)
    train(tiny_job(), trained, {"system": "tiny"})
    (trained / "checkpoint.pt").unlink()
    train(tiny_job(), trained, {"system": "tiny"})
    assert ((trained / "checkpoint.pt").read_bytes(), curve_but_for_times(trained)) == before


def test_the_key_is_of_all_that_decides_the_result(tiny_job: MakeJob) -> None:
    job = tiny_job()
    assert tiny_job().key() == replace(job, label="other").key() == job.key()
    others = [
        tiny_job(seed=2),
        tiny_job(device="cuda"),
        tiny_job(max_updates=51),
        tiny_job(**MID_EPOCH, average=3),
        tiny_job(**MID_EPOCH, patience=2),
        replace(job, joint=False),
        replace(job, architecture=replace(job.architecture, ffn=64)),
    ]
    assert len({job.key(), *(other.key() for other in others)}) == len(others) + 1


# Several processes


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


# Killed and resumed


def kill_and_resume(job: Job, out: Path, *moments: Callable[[Path], object]) -> None:
    work = work_folder(job, out)
    for moment in moments:
        with training_apart(job, out) as process:
            wait_until(lambda: children(process.pid))
            (child,) = children(process.pid)
            wait_until(partial(moment, work))
        assert not lives(child)
        assert not (out / "checkpoint.pt").exists()
    train(job, out, {})


def test_a_killed_training_ends_like_an_undisturbed_one(tiny_job: MakeJob, tmp_path: Path) -> None:
    # At this learning rate the loss falls and rises: patience ends it within the fourth epoch.
    job = tiny_job(max_epochs=9, save_every_updates=8, lr=0.1, patience=4, select="loss")
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    train(job, undisturbed, {})
    in_epoch, after_epoch = appears("checkpoint_2_24.pt"), logs(r'\| train \| {"epoch": 2')
    kill_and_resume(job, killed, in_epoch, after_epoch)
    assert_same(killed, undisturbed)

    rows = curve_but_for_times(undisturbed)
    losses = [float(row["valid_loss"]) for row in rows]
    assert losses.index(min(losses)) == len(losses) - 1 - 4
    assert 2 < int(rows[-1]["epoch"]) < 9
    best = sorted(range(len(rows)), key=lambda i: (losses[i], i))[:2]
    averaged = read_json(undisturbed / "train.json")["averaged_updates"]
    assert averaged == sorted(int(rows[i]["update"]) for i in best)


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
    (work_folder(tiny_job(), out) / "checkpoint_last.pt").write_bytes(b"of other data")
    train(tiny_job(other), out, {})
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


# Failures


def test_a_failing_training_says_its_last_words(tiny_job: MakeJob, tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        train(tiny_job(max_updates=1, batch_tokens=8), tmp_path, {})
    first, *last = str(error.value).splitlines()
    assert first == "tiny: fairseq-train failed (status 1); it ended with"
    assert 1 < len(last) <= 15
    assert "lengths should not exceed max_tokens=8" in last[-1]
    assert not (tmp_path / "checkpoint.pt").exists()


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("print('OSError: [Errno 28] Kein Platz mehr'); sys.exit(1)", "the disk is full"),
        ("print('write: No space left on device'); sys.exit(1)", "the disk is full"),
        ("print('OSError: [Errno 122] Disk quota exceeded'); sys.exit(1)", "the disk is full"),
        ("print('RuntimeError: CUDA out of memory.'); sys.exit(1)", "status 1.*batch_tokens"),
        ("os.kill(os.getpid(), 9)", "killed or ran out of memory.*status -9.*batch_tokens"),
        ("[print(i) for i in range(99)]; sys.exit(3)", r"status 3\); it ended with\n84\n85\n"),
    ],
)
def test_why_a_training_failed_is_said(
    tiny_job: MakeJob, tmp_path: Path, fake: Callable[[str], None], program: str, message: str
) -> None:
    fake(program)
    with pytest.raises(UserError, match=f"^tiny: .*{message}"):
        train(tiny_job(), tmp_path, {})


def test_a_full_disk_is_said_even_if_the_log_could_not_say_it(
    tiny_job: MakeJob, small_disk: Path, fake: Callable[[str], None]
) -> None:
    fake("os.write(1, bytes(10**6)); print('No space left on device')")
    with pytest.raises(UserError, match=r"^tiny: the disk is full: free some space"):
        train(tiny_job(), small_disk, {})
    assert b"No space" not in next(small_disk.glob("work-*/train.log")).read_bytes()


def test_the_training_ends_when_we_fail(
    tiny_job: MakeJob, tmp_path: Path, fake: Callable[[str], None]
) -> None:
    fake(
        "(work / 'pid').write_text(str(os.getpid()))\n"
        "(work / 'checkpoint1.pt').write_bytes(b'damaged')\n"
        "print('Saved checkpoint', flush=True); time.sleep(60)"
    )
    with pytest.raises(UserError, match=r"checkpoint1.pt: the checkpoint is truncated or damaged"):
        train(tiny_job(), tmp_path, {})
    assert not lives(int((work_folder(tiny_job(), tmp_path) / "pid").read_text()))


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_missing_gpu_is_said_before_anything_is_done(tiny_job: MakeJob, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="device: cuda, but this machine shows no GPU"):
        train(tiny_job(device="cuda"), tmp_path / "out", {})
    assert not (tmp_path / "out").exists()
    check_device("cpu")


# Progress


def test_progress_is_a_line_an_epoch(
    tiny_job: MakeJob, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(run.time, "monotonic", lambda: now[0])
    progress = Progress(tiny_job(max_epochs=5))
    for number in (2, 3, 4):  # resumed after the first
        now[0] += 60
        for line in ["what else fairseq logs\n", *epoch(number)]:
            progress.read(line)
    told = "loss 5.1, valid loss 4.5, BLEU 1.2, 12,346 tokens a second"
    assert capsys.readouterr().err.splitlines() == [
        f"[tiny] epoch 2 of 5: {told}",
        f"[tiny] epoch 3 of 5: {told}, 120 s left",
        f"[tiny] epoch 4 of 5: {told}, 60 s left",
    ]


def test_progress_within_long_epochs(
    tiny_job: MakeJob, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(run.time, "monotonic", lambda: now[0])
    progress = Progress(tiny_job(max_updates=400))
    for update in range(50, 301, 50):
        now[0] += 20
        values = {"update": update / 1000, "loss": "5", "wps": "99.6", "num_updates": str(update)}
        progress.read(record("train_inner", epoch=1, **values))
    assert capsys.readouterr().err.splitlines() == [
        "[tiny] epoch 1, update 100 of 400: loss 5, 100 tokens a second",
        "[tiny] epoch 1, update 200 of 400: loss 5, 100 tokens a second, 80 s left",
        "[tiny] epoch 1, update 300 of 400: loss 5, 100 tokens a second, 40 s left",
    ]


def test_a_line_that_comes_in_two_parts_is_one(
    tiny_job: MakeJob,
    tmp_path: Path,
    fake: Callable[[str], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, second = "".join(epoch(1)).encode(), "".join(epoch(2)).encode()
    middle = len(first) - 30
    fake(
        f"for part in {first[:middle]!r}, {first[middle:] + second!r}:\n"
        "    os.write(1, part); time.sleep(0.5)\n"
        "sys.exit(1)"
    )
    with pytest.raises(UserError):
        train(tiny_job(max_epochs=2), tmp_path, {})
    assert capsys.readouterr().err.count("BLEU 1.2, 12,346 tokens a second") == 2
