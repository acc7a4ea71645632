"""What one training needs to know, and the hash of what decides its result."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastdecode.config.models import Architecture
from fastdecode.config.rows import Training
from fastdecode.families import training_arguments
from fastdecode.train import command

# Settings that decide the result and that fairseq's options do not say, or say only in part.
UNTOLD = {"average", "gpus", "patience", "select", "threads"}


@dataclass(frozen=True)
class Job:
    """What one training needs to know."""

    label: str
    family: str
    data: Path  # folder of fairseq-preprocess
    source: str
    target: str
    joint: bool
    architecture: Architecture
    settings: Training
    seed: int
    device: str

    options: Mapping[str, Any] = field(default_factory=dict)  # the row of the system
    assets: Path | None = None  # folder of what the family needs besides
    companions: Mapping[str, Path] = field(default_factory=dict)  # checkpoints by system
    nodes: int = 1  # of a SLURM job, which share the training's processes evenly

    def arguments(self) -> list[str]:
        """Return fairseq's options but for paths."""
        return [
            *training_arguments(self.family)(self),
            *command.training_arguments(self.settings, self.device, self.seed),
        ]

    def key(self) -> str:
        """Return a hash of all that decides the result but the data; it names the work folder.

        Work folders of earlier versions stay valid: a setting that is new to this project changes
        the key only where it reaches fairseq's command line. Companions are data: another
        checkpoint of theirs empties the folder.
        """
        decisive = [*self.arguments(), self.settings.model_dump(include=UNTOLD)]
        return hashlib.sha256(json.dumps(decisive).encode()).hexdigest()[:12]
