"""Train one model to its end through fairseq-train, from wherever an earlier run was killed."""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fastdecode.devices import check_device
from fastdecode.errors import UserError
from fastdecode.files import read_json, write_aside, write_json
from fastdecode.progress import say
from fastdecode.provenance import commit, cores, of_cores
from fastdecode.train import checkpoints
from fastdecode.train.curve import curve, write_curve
from fastdecode.train.job import Job
from fastdecode.train.standing import WORK
from fastdecode.train.supervision import run_fairseq

COMMITS = "commits.json"  # in the work folder: the code that trained, as it changed
PROVENANCE = "provenance.json"  # there too: of the process that trained last


def train(job: Job, out: Path, provenance: dict[str, Any]) -> None:
    """Train, average the chosen checkpoints, and write three files into the folder `out`.

    `checkpoint.pt` (as fairseq loads it), `curve.csv` (one row a validation) and `train.json`.
    The work folder `out/work-<hash of the settings>` holds what a resumed run needs; when all is
    written, the averaged checkpoint, the log and small records are left of it. A different setting
    starts in a folder of its own. `provenance` is recorded if anything is trained: what a finished
    training is put together from again, by other code or elsewhere, keeps that of its training.

    Raises UserError if fairseq-train fails, with its last lines, and if somebody removed records.
    """
    check_device(job.device)
    if job.settings.threads > cores():
        threads, here = job.settings.threads, of_cores(cores())
        say(job.label, f"training.threads: {threads} is more than the {here} here: take fewer")
    work = out / WORK.format(job.key())
    work.mkdir(parents=True, exist_ok=True)
    with _alone(work):
        _empty_for_other_data(work, job)
        averaged = work / "averaged.pt"
        if not checkpoints.is_whole(averaged):
            _forget_what_is_lost(work, job)
            candidates = _train_to_the_end(job, work, provenance)
            state = checkpoints.average(candidates.paths())
            checkpoints.save(state | {"averaged_updates": candidates.chosen()}, averaged)
        elif _commits(work)[-1:] != [commit()]:
            say(
                job.label,
                f"trained already, by commit {''.join(_commits(work)[-1:]) or 'unknown'}: if what "
                f"is trained has changed since, delete {work} and run again",
            )
        _remove_checkpoints(work, keep=averaged)
        state = checkpoints.load(averaged)
        rows = curve(_log(work), checkpoints.read_seen(work))
        write_curve(rows, out / "curve.csv")
        noted = work / PROVENANCE  # an earlier version noted none
        write_json(
            out / "train.json",
            {
                "provenance": read_json(noted) if noted.exists() else provenance,
                "family": job.family,
                "layers": job.architecture.layers,
                "parameters": checkpoints.parameters(state["model"]),
                "commits": _commits(work),
                "averaged_updates": state["averaged_updates"],
                "updates": int(rows[-1]["update"]),
                "epochs": int(rows[-1]["epoch"]),
                "seconds": rows[-1]["seconds"],
                "architecture": asdict(job.architecture),
                "training": job.settings.model_dump(),
                "arguments": job.arguments(),
            },
        )
        _link(averaged, out / "checkpoint.pt")
    updates, warmup = int(rows[-1]["update"]), job.settings.warmup_updates
    if updates < warmup:
        say(
            job.label,
            f"ended after {updates:,} updates, before the learning rate was at its highest "
            f"(warmup_updates: {warmup:,}): lower that, train longer, or take smaller batches",
        )
    say(job.label, f"done: {len(state['averaged_updates'])} checkpoints averaged")


def _log(work: Path) -> Path:
    """Return the log of a training; raise UserError if it or the list of checkpoints is gone."""
    log = work / "train.log"
    if not (log.exists() and checkpoints.read_seen(work)):
        raise UserError(f"{work}: the records of its training are gone: delete it and run again")
    return log


def _empty_for_other_data(work: Path, job: Job) -> None:
    """Empty the work folder if it was filled from other data than the job's.

    Companions are data, and what is said of assets: validation, which selects, decodes with them.
    """
    files = sorted(f for f in job.data.iterdir() if f.suffix in {".bin", ".idx", ".txt"})
    digest = hashlib.sha256()
    for file in (*files, *(path for _, path in sorted(job.companions.items()))):
        digest.update(file.read_bytes())
    for file in sorted(job.assets.rglob("*.json")) if job.assets else []:
        said = {key: value for key, value in read_json(file).items() if key != "provenance"}
        digest.update(json.dumps(said, sort_keys=True).encode())
    stamp = work / "data.sha256"
    if stamp.exists() and stamp.read_text() == digest.hexdigest():
        return
    _remove_checkpoints(work, keep=None)
    _remove_records(work)
    with write_aside(stamp) as part:  # last, and whole: a kill before it empties the folder again
        part.write_text(digest.hexdigest())


def _forget_what_is_lost(work: Path, job: Job) -> None:
    """Remove the records of a training of which no checkpoint is left to go on from.

    That is a finished one whose average was damaged, maybe through its other name, checkpoint.pt.
    With the records of its checkpoints those of the next training would not be collected.
    """
    left = (work / checkpoints.LAST).exists() or checkpoints.epoch_files(work)
    if left or not checkpoints.read_seen(work):
        return
    say(job.label, f"no checkpoint in {work} is whole: training from the beginning")
    _remove_checkpoints(work, keep=None)
    _remove_records(work)


@contextmanager
def _alone(work: Path) -> Iterator[None]:
    """Hold the work folder, also for fairseq-train, which inherits the lock and may outlive us.

    Raises UserError if another process trains here.
    """
    with (work / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"{work}: another process is training here: wait for it, or end it, and run again"
            ) from None
        os.set_inheritable(lock.fileno(), True)
        yield


def _train_to_the_end(job: Job, work: Path, provenance: dict[str, Any]) -> checkpoints.Candidates:
    """Train until fairseq or patience says stop; return the checkpoints to average."""
    checkpoints.repair(work, job.label)
    settings = job.settings
    candidates = checkpoints.Candidates(work, settings.select, settings.average, settings.patience)
    candidates.collect()
    if not (candidates.out_of_patience or _is_over(job, work)):
        write_json(work / PROVENANCE, provenance)
        _note_commit(job, work)
        run_fairseq(job, work, candidates)
    candidates.collect(newest=work / checkpoints.LAST)
    return candidates


def _is_over(job: Job, work: Path) -> bool:
    """Tell whether the last update or epoch is done.

    fairseq, resumed there, would add one more update, or do nothing, and be noted as its trainer.
    """
    last, settings = work / checkpoints.LAST, job.settings
    if not last.exists():
        return False
    state = checkpoints.load(last)
    if settings.max_epochs and checkpoints.next_epoch(state) > settings.max_epochs:
        return True
    return bool(settings.max_updates and checkpoints.updates_of(state) >= settings.max_updates)


def _note_commit(job: Job, work: Path) -> None:
    """Write down which code trains, and say so where other code has begun: no hash knows of it."""
    before, now = _commits(work), commit()
    if not before and (work / checkpoints.LAST).exists():
        before = ["unknown"]  # an earlier version of this code trained, which did not note it
    if before[-1:] != [now]:
        write_json(work / COMMITS, [*before, now])
        if before:
            say(
                job.label,
                f"last trained by commit {before[-1]}, goes on with {now}: if what is trained has "
                f"changed in between, stop, delete {work} and run again",
            )


def _commits(work: Path) -> list[str]:
    noted = work / COMMITS
    commits: list[str] = read_json(noted) if noted.exists() else []
    return commits


def _link(kept: Path, out: Path) -> None:
    """Give `kept` the second name `out`: if the job is killed and `out` deleted, `kept` remains."""
    with write_aside(out) as part:
        try:
            part.hardlink_to(kept)
        except OSError:  # a file system without hard links
            shutil.copyfile(kept, part)
        os.utime(part)  # newer than its inputs, as Snakemake expects


def _remove_records(work: Path) -> None:
    """Remove what is remembered of a training, the data it was with excepted."""
    for name in ("seen.json", "train.log", COMMITS, PROVENANCE):
        (work / name).unlink(missing_ok=True)


def _remove_checkpoints(work: Path, keep: Path | None) -> None:
    """Remove what a finished training no longer needs."""
    for file in work.glob("*.pt"):
        if file != keep:
            file.unlink()
    shutil.rmtree(work / "candidates", ignore_errors=True)
