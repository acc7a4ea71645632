"""How far a training is, read from its folder while it runs, after it was killed or at its end."""

from dataclasses import dataclass
from pathlib import Path

from fastdecode.train.curve import validations

WORK = "work-{}"  # holds what a resumed training needs, one for each setting that was begun


@dataclass(frozen=True)
class Standing:
    """A training, as far as it is."""

    trained: bool  # its checkpoint is there
    validations: int  # of which the log tells
    updates: int  # up to the last one
    bleu: float | None  # best on the validation set


def standing(folder: Path) -> Standing | None:
    """Return how far the training of the model in `folder` is; None: it was never begun.

    Where several settings were begun the one that was written to last counts.
    """
    trained = (folder / "checkpoint.pt").exists()
    logs = sorted(folder.glob(f"{WORK.format('*')}/train.log"), key=lambda log: log.stat().st_mtime)
    if not (trained or logs):
        return None
    found = validations(logs[-1]) if logs else {}
    scores = [float(one["valid_bleu"]) for one in found.values() if "valid_bleu" in one]
    return Standing(trained, len(found), max(found, default=0), max(scores, default=None))
