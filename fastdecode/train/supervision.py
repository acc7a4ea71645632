"""fairseq-train as a process: started, its log followed while it runs, and why it ended said."""

import json
import os
import re
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
LEFT_OUT = re.compile(r"([\d,]+) samples have invalid sizes and will be skipped")
DISK_FULL = ("No space left on device", "Errno 28", "Disk quota exceeded", "Errno 122")

# By what stands in the last lines of a log.
CAUSES = {
    ("lengths should not exceed max_tokens", "The dataset is empty"): (
        "a sentence is longer than batch_tokens ({tokens:,}): raise it"
    ),
    ("no greater than buffer length", "buffer is smaller than requested size"): (
        "the data in {data} are damaged: delete that folder and run again"
    ),
    ("File too large", "Errno 27"): (
        "no file may be as large here, by the file system or `ulimit -f`: raise that limit and run "
        "again; training goes on from its last checkpoint"
    ),
    # StopIteration: the hooks of fairseq's NanDetector, of a model that returns no tensor
    ("nan_detector", "FloatingPointError", "StopIteration"): (
        "the loss is no number any more: lower lr, or raise warmup_updates, and run again"
    ),
}


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
    progress, tail, left_out = Progress(job), deque[str](maxlen=15), set[str]()
    try:
        for line in _follow(log, start, process):
            tail.append(line.rstrip())
            progress.read(line)
            if SKIPPED in line:
                raise _out_of_memory(job, "on a batch, which fairseq would leave out from now on")
            if (skipped := LEFT_OUT.search(line)) and skipped[1] not in left_out:
                left_out.add(skipped[1])  # fairseq says it again for every epoch
                say(
                    job.label,
                    f"{skipped[1]} pairs, of training or of validation, are left out: they are "
                    f"longer than batch_tokens ({job.settings.batch_tokens:,}) or than the model "
                    "reads",
                )
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
    for words, why in CAUSES.items():
        if any(word in text for word in words):
            raise UserError(
                f"{job.label}: {why.format(data=job.data, tokens=job.settings.batch_tokens)} "
                f"({work / 'train.log'} has fairseq's own words)"
            )
    raise UserError(f"{job.label}: fairseq-train failed (status {status}); it ended with\n{text}")


def _out_of_memory(job: Job, how: str) -> UserError:
    return UserError(
        f"{job.label}: fairseq-train ran out of memory {how}: lower batch_tokens (and raise "
        "accumulate by as much), then run again"
    )
