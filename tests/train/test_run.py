"""One training from its beginning to its end: what it leaves, and how it fails."""

import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fastdecode.devices import check_device
from fastdecode.errors import UserError
from fastdecode.files import read_json
from fastdecode.provenance import commit
from fastdecode.train import checkpoints, run, supervision
from fastdecode.train.checkpoints import is_whole, load
from fastdecode.train.run import train
from tests.conftest import MID_EPOCH
from tests.gpu import needs_no_gpu
from tests.train.trainings import (
    MakeJob,
    curve_but_for_times,
    epoch,
    lives,
    work_folder,
)

# An undisturbed training


def test_what_a_training_leaves(trained: Path, tiny_job: MakeJob) -> None:
    job = tiny_job()
    work = work_folder(job, trained)
    assert {file.name for file in trained.iterdir()} == {
        "checkpoint.pt",
        "curve.csv",
        "train.json",
        work.name,
    }
    assert {file.name for file in work.iterdir()} == {
        "averaged.pt",
        "commits.json",
        "data.sha256",
        "lock",
        "provenance.json",
        "seen.json",
        "train.log",
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
    assert record["commits"] == [commit()]
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


def test_a_training_that_other_code_goes_on_with_says_so(
    tiny_job: MakeJob,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    job = tiny_job(max_epochs=1)
    with monkeypatch.context() as begun:
        begun.setattr(supervision.subprocess, "Popen", _killed)
        for code in ("one", "one", "two", "one"):
            begun.setattr(run, "commit", lambda code=code: code)
            with pytest.raises(KeyboardInterrupt):
                train(job, tmp_path, {"commit": code})
    said = capsys.readouterr().err
    assert re.findall("last trained by commit (.*?), goes on with (.*?): if", said) == [
        ("one", "two"),
        ("two", "one"),
    ]
    monkeypatch.setattr(run, "commit", lambda: "three")
    train(job, tmp_path, {"commit": "three"})
    record = read_json(tmp_path / "train.json")
    assert record["commits"] == ["one", "two", "one", "three"]
    assert record["provenance"]["commit"] == "three"


def test_a_training_that_was_over_is_not_noted_as_that_of_who_averages_it(
    tiny_job: MakeJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, one = tiny_job(max_updates=None, max_epochs=1), commit()
    with monkeypatch.context() as killed:
        killed.setattr(checkpoints, "average", _killed)
        with pytest.raises(KeyboardInterrupt):
            train(job, tmp_path, {"commit": "one"})
    monkeypatch.setattr(supervision.subprocess, "Popen", _killed)
    monkeypatch.setattr(run, "commit", lambda: "two")
    train(job, tmp_path, {"commit": "two"})
    record = read_json(tmp_path / "train.json")
    assert record["provenance"] == {"commit": "one"}
    assert (record["commits"], record["epochs"]) == ([one], 1)


@pytest.mark.parametrize("name", ["train.log", "seen.json"])
def test_records_that_are_gone(trained: Path, tiny_job: MakeJob, tmp_path: Path, name: str) -> None:
    shutil.copytree(trained, tmp_path / "copy")
    work = work_folder(tiny_job(), tmp_path / "copy")
    (work / name).unlink()
    with pytest.raises(UserError, match=rf"{work}: the records .* delete it and run again"):
        train(tiny_job(), tmp_path / "copy", {})


def _killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_a_second_call_does_not_train_again(
    trained: Path,
    tiny_job: MakeJob,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("trained again")

    before = (trained / "checkpoint.pt").read_bytes(), curve_but_for_times(trained)
    written = (trained / "checkpoint.pt").stat().st_mtime_ns
    now = commit()
    monkeypatch.setattr(supervision.subprocess, "Popen", never)
    monkeypatch.setattr(run, "commit", lambda: now)
    train(tiny_job(), trained, {"system": "tiny"})
    assert "trained already" not in capsys.readouterr().err
    monkeypatch.setattr(run, "commit", lambda: "later")
    train(tiny_job(), trained, {"system": "tiny"})
    said = re.search("already, by commit (.*?): .*, delete (.*) and", capsys.readouterr().err)
    assert said and said[1] == now and Path(said[2]).is_dir()
    for name in ("checkpoint.pt", "train.json"):  # as Snakemake does before it starts a job
        (trained / name).unlink()
    train(tiny_job(), trained, {"system": "tiny", "commit": "of what put it together again"})
    assert ((trained / "checkpoint.pt").read_bytes(), curve_but_for_times(trained)) == before
    assert (trained / "checkpoint.pt").stat().st_mtime_ns > written  # newer than what it is made of
    assert read_json(trained / "train.json")["provenance"] == {"system": "tiny"}


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


def test_the_key_is_of_every_setting(tiny_job: MakeJob) -> None:
    job = tiny_job()
    other: dict[str, object] = {"precision": "bf16", "select": "loss", "adam_betas": (0.1, 0.2)}
    for name, value in job.settings:
        changed = other.get(name, (value or 0) + 0.5 if isinstance(value, float) else 77)
        settings = job.settings.model_copy(update={name: changed})
        assert replace(job, settings=settings).key() != job.key(), name


# Failures


def test_a_training_whose_batches_are_too_small_says_so(tiny_job: MakeJob, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^tiny: a sentence is longer than batch_tokens \(8\): "):
        train(tiny_job(max_updates=1, batch_tokens=8), tmp_path, {})
    assert not (tmp_path / "checkpoint.pt").exists()


def test_pairs_that_are_left_out_are_counted(
    tiny_job: MakeJob,
    tmp_path: Path,
    fake: Callable[[str], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = "print('WARNING: {} samples have invalid sizes and will be skipped, max', flush=True)\n"
    fake("".join(map(line.format, ("1,002", "2", "1,002"))) + "sys.exit(1)")
    with pytest.raises(UserError):
        train(tiny_job(), tmp_path, {})
    said = capsys.readouterr().err
    assert re.findall("([0-9,]+) pairs, of training or of valid", said) == ["1,002", "2"]


def test_more_threads_than_cores_are_told(
    tiny_job: MakeJob,
    tmp_path: Path,
    fake: Callable[[str], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    fake("sys.exit(1)")
    job = tiny_job()
    for threads in (1, 10_000):
        settings = job.settings.model_copy(update={"threads": threads})
        with pytest.raises(UserError):
            train(replace(job, settings=settings), tmp_path, {})
    assert re.findall("training.threads: ([0-9]+) is more", capsys.readouterr().err) == ["10000"]


def test_a_training_that_diverges_says_so(tiny_job: MakeJob, tmp_path: Path) -> None:
    job = tiny_job()
    steep = job.settings.model_copy(update={"lr": 1e30, "warmup_updates": 1})
    with pytest.raises(UserError, match=r"^tiny: the loss is no number any more: lower lr"):
        train(replace(job, settings=steep), tmp_path, {})


@pytest.mark.parametrize(("warmup", "said"), [(16, True), (15, False)])
def test_a_training_that_ends_while_it_warms_up_says_so(
    tiny_job: MakeJob, tmp_path: Path, capsys: pytest.CaptureFixture[str], warmup: int, said: bool
) -> None:
    train(tiny_job(max_epochs=1, warmup_updates=warmup), tmp_path, {})  # an epoch has 15 updates
    told = "ended after 15 updates, before the learning rate was at its highest (warmup_updates: 16"
    assert (told in capsys.readouterr().err) == said


def test_a_damaged_checkpoint_is_made_again(
    trained: Path, tiny_job: MakeJob, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same damage is in the work folder, under another name of the file."""
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    (average,) = tmp_path.glob("work-*/averaged.pt")
    checkpoint = tmp_path / "checkpoint.pt"
    checkpoint.unlink()
    checkpoint.hardlink_to(average)
    os.truncate(checkpoint, 3000)
    assert not is_whole(average)
    checkpoint.unlink()  # as the error says
    train(tiny_job(), tmp_path, {"system": "tiny"})
    assert "no checkpoint in" in capsys.readouterr().err
    assert checkpoint.read_bytes() == (trained / "checkpoint.pt").read_bytes()


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("print('OSError: [Errno 28] Kein Platz mehr'); sys.exit(1)", "the disk is full"),
        ("print('write: No space left on device'); sys.exit(1)", "the disk is full"),
        ("print('OSError: [Errno 122] Disk quota exceeded'); sys.exit(1)", "the disk is full"),
        ("print('OSError: [Errno 27] File too large'); sys.exit(1)", "no file may be as large"),
        ("print('RuntimeError: CUDA out of memory.'); sys.exit(1)", "status 1.*batch_tokens"),
        ("os.kill(os.getpid(), 9)", "out of memory or was killed.*status -9.*batch_tokens"),
        (
            "print('attempting to recover from OOM in forward/backward pass', flush=True)\n"
            "time.sleep(60)",
            "out of memory on a batch, which fairseq would leave out.*batch_tokens",
        ),
        (
            "print('ValueError: offset must be non-negative and no greater than buffer length (9)')"
            "; sys.exit(1)",
            "the data in .* are damaged: delete that folder",
        ),
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


@needs_no_gpu
def test_a_missing_gpu_is_said_before_anything_is_done(tiny_job: MakeJob, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="device: cuda, but this machine shows no GPU"):
        train(tiny_job(device="cuda"), tmp_path / "out", {})
    assert not (tmp_path / "out").exists()
    check_device("cpu")


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
