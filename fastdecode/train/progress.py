"""Progress lines of a training: what fairseq's log says, a line an epoch."""

import time

from fastdecode.progress import say
from fastdecode.train.curve import parse
from fastdecode.train.job import Job

WITHIN = 30.0  # seconds, at least, between the lines within an epoch


class Progress:
    """Turns fairseq's log into a line an epoch, and one a while within long epochs."""

    def __init__(self, job: Job):
        """Say lines for `job`."""
        self._job = job
        self._started = self._said = time.monotonic()
        self._first: float | None = None
        self._valid = ""

    def read(self, line: str) -> None:
        """Take in one log line."""
        record = parse(line)
        if not record:
            return
        kind, values = record
        if kind == "valid":
            self._valid = f", valid loss {values['valid_loss']}, BLEU {values['valid_bleu']}"
        elif kind == "train":
            self._say(
                f"epoch {values['epoch']}{_of(self._job.settings.max_epochs)}: "
                f"loss {values['train_loss']}{self._valid}, "
                f"{float(values['train_wps']):,.0f} tokens a second",
                float(values["train_num_updates"]),
                float(values["epoch"]),
            )
        elif time.monotonic() - self._said >= WITHIN:
            self._say(
                f"epoch {values['epoch']}, update {values['num_updates']}"
                f"{_of(self._job.settings.max_updates)}: loss {values['loss']}, "
                f"{float(values['wps']):,.0f} tokens a second",
                float(values["num_updates"]),
                float(values["update"]),
            )

    def _say(self, message: str, updates: float, epochs: float) -> None:
        settings, now = self._job.settings, time.monotonic()
        done = max(
            updates / settings.max_updates if settings.max_updates else 0.0,
            epochs / settings.max_epochs if settings.max_epochs else 0.0,
        )
        if self._first is None:  # a resumed training starts in the middle
            self._first, left = done, ""
            self._started = now
        else:
            speed = (done - self._first) / max(now - self._started, 1e-9)
            left = f", {(1 - done) / speed:,.0f} s left" if speed > 0 else ""
        say(self._job.label, message + left)
        self._said = now


def _of(total: int | None) -> str:
    return f" of {total}" if total else ""
