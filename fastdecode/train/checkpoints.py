"""Checkpoints: telling whole ones from damaged ones, keeping candidates, averaging them."""

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

Select = Literal["last", "bleu", "loss"]
LAST = "checkpoint_last.pt"
EPOCH_FILE = re.compile(r"^checkpoint(\d+|_\d+_\d+)\.pt$")


def is_whole(path: Path) -> bool:
    """Tell whether a checkpoint is complete: a zip archive whose every part has its checksum."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (OSError, zipfile.BadZipFile):
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
        torch.save(state, file)


def updates_of(state: dict[str, Any]) -> int:
    """Return after how many updates fairseq saved this checkpoint."""
    return int(state["optimizer_history"][-1]["num_updates"])


def epoch_files(work: Path) -> list[Path]:
    """Return fairseq's own numbered checkpoints in `work`, oldest first."""
    files = [f for f in work.glob("checkpoint*.pt") if EPOCH_FILE.match(f.name)]
    return sorted(files, key=lambda f: f.stat().st_mtime_ns)


def repair(work: Path, label: str) -> None:
    """Make sure that fairseq finds a whole checkpoint_last.pt, or none.

    fairseq copies it in place, so a kill can leave half of it. The newest whole numbered
    checkpoint then takes its place.
    """
    last = work / LAST
    for file in [*work.glob("*.tmp"), work / "checkpoint_best.pt"]:
        file.unlink(missing_ok=True)
    for file in epoch_files(work):
        if not is_whole(file):
            file.unlink()
    if not last.exists() or is_whole(last):
        return
    whole = epoch_files(work)
    say(label, f"{LAST} is damaged: going on from {whole[-1].name if whole else 'the start'}")
    last.unlink()
    if whole:
        with write_aside(last) as part:
            shutil.copyfile(whole[-1], part)


class Candidates:
    """The checkpoints that may be averaged in the end, without their optimiser state.

    They lie in `work/candidates/<updates>.pt`. Of those seen, the `count` best are kept: the last
    ones, or those of highest validation BLEU or lowest validation loss (the earlier one wins a
    tie, so a killed and resumed training keeps the same set). `work/seen.json` remembers all:
    validation score, and seconds spent in training steps up to there.
    """

    def __init__(self, work: Path, select: Select, count: int):
        """Take stock of what an earlier, killed run left."""
        self._work, self._select, self._count = work, select, count
        self._folder = work / "candidates"
        self.seen = _seen(work)
        self._kept = {int(file.stem) for file in self._folder.glob("*.pt")}

    def collect(self, newest: Path | None = None) -> None:
        """Take over fairseq's numbered checkpoints and `newest`, then remove what is not needed.

        The two newest numbered files stay: `repair` falls back on them.
        """
        files = epoch_files(self._work)
        for file in [*files, *([newest] if newest else [])]:
            state = load(file)
            updates = updates_of(state)
            if updates in self.seen:
                continue
            save(_without_optimiser(state), self._folder / f"{updates:08d}.pt")
            self._kept.add(updates)
            extra = state["extra_state"]
            self.seen[updates] = {
                "valid": float(extra["val_loss"]),
                "seconds": float(extra["previous_training_time"]),
            }
            write_json(self._work / "seen.json", self.seen)
        for file in files[:-2]:
            file.unlink()
        for updates in self._kept - set(self.chosen()):
            self._kept.remove(updates)
            (self._folder / f"{updates:08d}.pt").unlink(missing_ok=True)

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
    kept = {key: state[key] for key in ("args", "cfg", "model", "optimizer_history")}
    iterator = state["extra_state"]["train_iterator"]
    return {**kept, "extra_state": {"train_iterator": iterator}}


def _seen(work: Path) -> dict[int, dict[str, float]]:
    file = work / "seen.json"
    return {int(key): value for key, value in read_json(file).items()} if file.exists() else {}


def seconds(work: Path) -> dict[int, float]:
    """Return how long training had taken at each saved update, in seconds of training steps."""
    return {updates: seen["seconds"] for updates, seen in _seen(work).items()}


def forget_paths(state: dict[str, Any]) -> None:
    """Blank the paths that fairseq wrote into `state`: equal trainings give equal files."""
    cfg = state["cfg"]
    paths = {"data", "save_dir", "user_dir", "log_file"}
    for section in (cfg["checkpoint"], cfg["task"], cfg["common"], vars(cfg["model"])):
        section.update(dict.fromkeys(paths & set(section), ""))


def average(paths: list[Path]) -> dict[str, Any]:
    """Return the first checkpoint with the mean of all weights, summed in double precision.

    Tied weights stay tied.
    """
    result = load(paths[0])
    weights = result["model"]
    owners: dict[int, str] = {}
    owner = {name: owners.setdefault(w.data_ptr(), name) for name, w in weights.items()}
    total = {name: weights[name].double() for name in owners.values()}
    for path in paths[1:]:
        other = load(path)["model"]
        for name in total:
            total[name] += other[name].double()
    mean = {name: (value / len(paths)).to(weights[name].dtype) for name, value in total.items()}
    result["model"] = {name: mean[owner[name]] for name in weights}
    forget_paths(result)
    return result


def parameters(weights: dict[str, torch.Tensor]) -> int:
    """Count parameters, tied ones once, fairseq's markers of a format version not at all."""
    sizes = {
        weight.data_ptr(): weight.numel()
        for name, weight in weights.items()
        if not name.endswith(("version", "_float_tensor"))
    }
    return sum(sizes.values())
