"""Progress lines of a training: one an epoch, and some within long ones."""

import pytest

from fastdecode.train import progress as module
from fastdecode.train.progress import Progress
from tests.train.trainings import MakeJob, epoch, record


def test_progress_is_a_line_an_epoch(
    tiny_job: MakeJob, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
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
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
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
