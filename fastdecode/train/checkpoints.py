"""Checkpoints: telling whole ones from damaged ones, keeping candidates, averaging them."""

import hashlib
import math
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any, Literal

import torch

import fastdecode.plugin  # noqa: F401  registers what a fairseq checkpoint may hold
from fastdecode.errors import UserError
from fastdecode.files import read_json, write_aside, write_json
from fastdecode.progress import say
from fastdecode.train.cpu_time import KEPT
from fastdecode.train.curve import COUNTED

Select = Literal["last", "bleu", "loss"]
LAST = "checkpoint_last.pt"
EPOCH_FILE = re.compile(r"^checkpoint(\d+|_\d+_\d+)\.pt$")


def is_whole(path: Path) -> bool:
    """Tell whether a checkpoint is complete: a zip archive whose every part has its checksum."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except Exception:  # zipfile stumbles over a damaged header in a dozen ways
        return False


def load(path: Path) -> dict[str, Any]:
    """Load a checkpoint on the CPU, weights only.

    Raises UserError if it is missing or damaged.
    """
    if not path.is_file():
        raise UserError(f"{path}: no such checkpoint")
    if not is_whole(path):
        raise UserError(
            f"{path}: the checkpoint is truncated or damaged: delete it and run again; "
            "training goes on from the last whole one"
        )
    state: dict[str, Any] = torch.load(path, map_location="cpu")
    return state


def save(state: dict[str, Any], path: Path) -> None:
    """Write a checkpoint so that it appears whole; equal states give equal bytes."""
    # Through a file handle: given a name, torch.save writes that name into the archive.
    with write_aside(path) as part, part.open("wb") as file:
        try:
            torch.save(state, file)
        except RuntimeError as error:  # after a failed write, closing the archive fails too
            raise error.__context__ or error from None


def updates_of(state: dict[str, Any]) -> int:
    """Return after how many updates fairseq saved this checkpoint."""
    return int(state["optimizer_history"][-1]["num_updates"])


def next_epoch(state: dict[str, Any]) -> int:
    """Return the epoch in which a training that is resumed from this checkpoint goes on."""
    return int(state["extra_state"]["train_iterator"]["epoch"])


def epoch_files(work: Path) -> list[Path]:
    """Return fairseq's own numbered checkpoints in `work`, oldest first."""

    def age(file: Path) -> tuple[float, float]:
        """Epoch and update: checkpoint_2_150.pt is from within epoch 2, checkpoint2.pt its end."""
        epoch, *update = re.findall(r"\d+", file.stem)
        return float(epoch), float(update[0]) if update else math.inf

    return sorted((f for f in work.glob("checkpoint*.pt") if EPOCH_FILE.match(f.name)), key=age)


def repair(work: Path, label: str) -> None:
    """Make sure that fairseq finds a whole checkpoint_last.pt, or none.

    fairseq copies it in place, so a kill can leave half of it, or none of the first. The newest
    whole numbered checkpoint then takes its place. What a kill left half written under another
    name is removed.
    """
    last = work / LAST
    for file in [*work.glob("*.tmp"), *work.rglob(".*.part"), work / "checkpoint_best.pt"]:
        file.unlink(missing_ok=True)
    for file in epoch_files(work):
        if not is_whole(file):
            file.unlink()
    if is_whole(last):
        return
    whole = epoch_files(work)
    if whole or last.exists():
        fault = "damaged" if last.exists() else "missing"
        say(label, f"{LAST} is {fault}: going on from {whole[-1].name if whole else 'the start'}")
    if whole:
        with write_aside(last) as part:  # in one step: another kill finds one of the two
            shutil.copyfile(whole[-1], part)
    else:
        last.unlink(missing_ok=True)


class Candidates:
    """The checkpoints that may be averaged in the end, without their optimiser state.

    They lie in `work/candidates/<updates>.pt`. Of those seen, the `count` best are kept: the last
    ones, or those of highest validation BLEU or lowest validation loss (the earlier one wins a
    tie, so a killed and resumed training keeps the same set). `work/seen.json` remembers all, with
    what `statistics` reads from them.
    """

    def __init__(self, work: Path, select: Select, count: int, patience: int | None = None):
        """Take stock of what an earlier, killed run left."""
        self._work, self._select, self._count = work, select, count
        self._patience = patience
        self._folder = work / "candidates"
        self._collected: set[str] = set()  # names of numbered files, which fairseq writes once
        self.seen = read_seen(work)
        self._kept = {int(file.stem) for file in self._folder.glob("*.pt")}

    def collect(self, newest: Path | None = None) -> None:
        """Take over fairseq's numbered checkpoints and `newest`, then remove what is not needed.

        The two newest numbered files stay: `repair` falls back on them. Once out of patience, no
        more are taken: fairseq goes on until it is stopped.
        """
        files = epoch_files(self._work)
        for file in [*files, *([newest] if newest else [])]:
            if self.out_of_patience:
                break
            if file.name in self._collected:
                continue
            state = load(file)
            updates = updates_of(state)
            if file != newest:
                self._collected.add(file.name)
            if updates in self.seen:
                continue
            save(_without_optimiser(state), self._folder / f"{updates:08d}.pt")
            self._kept.add(updates)
            self.seen[updates] = statistics(state)
            write_json(self._work / "seen.json", self.seen)
        for file in files[:-2]:
            file.unlink()
        for updates in self._kept - set(self.chosen()):
            self._kept.remove(updates)
            (self._folder / f"{updates:08d}.pt").unlink(missing_ok=True)

    @property
    def out_of_patience(self) -> bool:
        """Tell whether the best validation score is `patience` or more validations ago.

        fairseq's own early stopping forgets its count when a training is resumed.
        """
        if self._patience is None or not self.seen:
            return False
        sign = 1.0 if self._select == "loss" else -1.0
        scores = [sign * self.seen[update]["valid"] for update in sorted(self.seen)]
        return len(scores) - 1 - scores.index(min(scores)) >= self._patience

    def chosen(self) -> list[int]:
        """Return the update counts of the checkpoints to average, in order."""
        sign = {"last": 0.0, "bleu": -1.0, "loss": 1.0}[self._select]
        last = self._select == "last"
        ranked = sorted(
            self._kept & set(self.seen),
            key=lambda u: (sign * self.seen[u]["valid"], -u if last else u),
        )
        return sorted(ranked[: self._count])

    def paths(self) -> list[Path]:
        """Return the files of the checkpoints to average."""
        return [self._folder / f"{updates:08d}.pt" for updates in self.chosen()]


def _without_optimiser(state: dict[str, Any]) -> dict[str, Any]:
    """Return what fairseq needs to load a model for translation."""
    # The history grows with every resumption, and the scheduler's best score starts anew.
    last = {**state["optimizer_history"][-1], "lr_scheduler_state": {}}
    return {
        **{key: state[key] for key in ("args", "cfg", "model")},
        "optimizer_history": [last],
        "extra_state": {"train_iterator": state["extra_state"]["train_iterator"]},
    }


def statistics(state: dict[str, Any]) -> dict[str, float]:
    """Return what fairseq measured up to a checkpoint that it saved.

    `valid` is the validation score that selects checkpoints; `seconds` the time since training
    began, with validation and saving, without starting and without work that a kill lost;
    what is KEPT of the CPU time is of its last process. Losses
    (in bits), `tokens_per_second` and what is COUNTED are those of the epoch's steps so far.
    """
    extra = state["extra_state"]
    meters = {key: meter for _, key, _, meter in extra["metrics"]["train"]}
    losses = {key: meters[key] for key in ("loss", "nll_loss") if key in meters}
    return {
        "valid": float(extra["val_loss"]),
        "seconds": float(extra["previous_training_time"]),
        **{key: float(extra[key]) for key in KEPT if key in extra},
        **{f"train_{key}": float(meter["sum"] / meter["count"]) for key, meter in losses.items()},
        **{f"train_{key}": float(meters[key]["sum"]) for key in COUNTED if key in meters},
        "tokens_per_second": float(meters["wps"]["n"] / meters["train_wall"]["sum"]),
        "lr": float(meters["lr"]["val"]),
    }


def read_seen(work: Path) -> dict[int, dict[str, float]]:
    """Return the statistics of every checkpoint that was collected in `work`, by its updates."""
    file = work / "seen.json"
    return {int(key): value for key, value in read_json(file).items()} if file.exists() else {}


def forget_paths(state: dict[str, Any]) -> None:
    """Blank the paths that fairseq wrote into `state`: equal trainings give equal files."""
    cfg = state["cfg"]
    paths = {"data", "save_dir", "user_dir", "log_file", "assets", "companions"}
    for section in (cfg["checkpoint"], cfg["task"], cfg["common"], vars(cfg["model"])):
        section.update(dict.fromkeys(paths & set(section), ""))


def average(paths: list[Path]) -> dict[str, Any]:
    """Return the first checkpoint with the mean of all weights, summed in double precision.

    Tied weights are tied in it, even where a training on a GPU saved a copy for each name.
    """
    result = load(paths[0])
    weights = result["model"]
    owners: dict[object, str] = {}
    owner = {name: owners.setdefault(_identity(w), name) for name, w in weights.items()}
    total = {name: weights[name].double() for name in owners.values()}
    for path in paths[1:]:
        other = load(path)["model"]
        for name in total:
            total[name] += other[name]
    mean = {name: (value / len(paths)).to(weights[name].dtype) for name, value in total.items()}
    result["model"] = {name: mean[owner[name]] for name in weights}
    forget_paths(result)
    return result


def _identity(weight: torch.Tensor) -> object:
    """Return what tied weights have in common: for matrices their content, else their storage."""
    if weight.dim() < 2:
        return weight.data_ptr()
    return weight.shape, hashlib.sha256(weight.contiguous().numpy().tobytes()).digest()


def parameters(weights: dict[str, torch.Tensor]) -> int:
    """Count parameters, tied ones once, fairseq's markers of a format version not at all.

    Ties are told as in `average`, since a checkpoint from a GPU has a copy for each name.
    """
    sizes = {
        _identity(weight): weight.numel()
        for name, weight in weights.items()
        if not name.endswith(("version", "_float_tensor"))
    }
    return sum(sizes.values())
