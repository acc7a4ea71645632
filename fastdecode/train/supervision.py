"""fairseq-train as a process: started, its log followed while it runs, and why it ended said."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from fastdecode.errors import UserError
from fastdecode.progress import say
from fastdecode.train import command
from fastdecode.train.checkpoints import Candidates
from fastdecode.train.job import Job
from fastdecode.train.progress import Progress
from fastdecode.train.worker import die_with_parent

SKIPPED = "attempting to recover from OOM"  # fairseq, of a batch that it leaves out
DISK_FULL = ("No space left on device", "Errno 28", "Disk quota exceeded", "Errno 122")


def run_fairseq(job: Job, work: Path, candidates: Candidates) -> None:
    """Run fairseq-train in the folder `work`, collecting checkpoints as they come.

    It is stopped once `candidates` are out of patience. Raises UserError if it fails, with its last
    lines.
    """
    launch = command.launcher(job.settings.gpus, job.nodes, job.settings.threads)
    words = command.fairseq_train(launch, job.arguments(), job.data, job.source, job.target, work)
    words += ["--assets", str(job.assets)] if job.assets else []
    if job.companions:
        named = {name: str(path) for name, path in job.companions.items()}
        words += ["--companions", json.dumps(named)]
    environment = os.environ | command.environment(job.settings.threads)
    log = work / "train.log"
    with log.open("ab") as output:  # written by the child itself: nothing is lost if we are killed
        start = output.tell()
        process = subprocess.Popen(
            words,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            close_fds=False,  # the child inherits the lock of the work folder
            preexec_fn=die_with_parent,
        )
    progress, tail = Progress(job), deque[str](maxlen=15)
    try:
        for line in _follow(log, start, process):
            tail.append(line.rstrip())
            progress.read(line)
            if SKIPPED in line:
                raise _out_of_memory(job, "on a batch, which fairseq would leave out from now on")
            if "Saved checkpoint" in line:
                candidates.collect()
                if candidates.out_of_patience:
                    say(job.label, "no better validation score for as long as patience: stopping")
                    return
        if process.wait():
            _explain(job, work, process.returncode, "\n".join(tail))
    finally:
        process.kill()
        process.wait()


def _follow(log: Path, start: int, process: subprocess.Popen[bytes]) -> Iterator[str]:
    """Yield the lines that `process` writes to `log`, from byte `start`, until it ends."""
    with log.open("rb") as file:
        file.seek(start)
        while True:
            ended = process.poll() is not None  # asked first, so that the last lines are read
            while line := file.readline():
                if not line.endswith(b"\n") and not ended:  # still being written
                    file.seek(-len(line), os.SEEK_CUR)
                    break
                yield line.decode("utf-8", errors="replace")
            if ended:
                return
            time.sleep(0.2)


def _explain(job: Job, work: Path, status: int, text: str) -> None:
    """Raise a UserError that says how the training ended, from the last words of its log."""
    # Where the disk is full, the log that would say so may be cut.
    if any(word in text for word in DISK_FULL) or shutil.disk_usage(work).free < 2**20:
        raise UserError(
            f"{job.label}: the disk is full: free some space and run the same command again; "
            "training goes on from its last checkpoint"
        )
    if "out of memory" in text.lower() or status == -signal.SIGKILL:
        raise _out_of_memory(job, f"or was killed (status {status})")
    raise UserError(f"{job.label}: fairseq-train failed (status {status}); it ended with\n{text}")


def _out_of_memory(job: Job, how: str) -> UserError:
    return UserError(
        f"{job.label}: fairseq-train ran out of memory {how}: lower batch_tokens (and raise "
        "accumulate by as much), then run again"
    )
