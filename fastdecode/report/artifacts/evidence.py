"""What of a run goes into one artifact."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.latency_numbers import read_samples


@dataclass(frozen=True)
class Part:
    """One dataset of the run, as the artifact needs it."""

    split: str
    """Where quality and statistics are measured."""
    timed: str
    """The split on which speed is measured: that one, if it is timed."""
    entries: Mapping[str, Mapping[str, str]]
    """Row or system of the artifact → tier → target/system/decoder, as far as the run has it."""
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """target/system → its architecture and training settings."""
    against: Sequence[str] = ()
    """target/system/decoder of the rows that BLEU is tested against; "": it was not run."""
    valid: str = ""
    """The validation split."""
    alternatives: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """target/system/decoder → all of which the one that is best on `valid` stands in its place."""
    comparisons: Sequence[Mapping[str, Any]] = ()
    """Tests of fastdecode.measure.significance, each with its `baseline`."""
    subwords: Mapping[str, Any] | None = None
    """The dataset's vocabulary and line lengths: a document of measure_subwords."""
    stages: Path | None = None
    """The stages of every timed sentence, reference tier, fewest threads."""
    samples: Mapping[str, Path] = field(default_factory=dict)
    """By tier: the times of every sentence timed alone, fewest threads."""


@dataclass(frozen=True)
class Curve:
    """The learning curve of one model."""

    dataset: str
    target: str
    system: str
    seed: int
    path: Path


@dataclass(frozen=True)
class Evidence:
    """Everything that an artifact may be made of."""

    artifact: Artifact
    tidy: pd.DataFrame
    parts: Mapping[str, Part]  # by dataset
    statistics: Sequence[Mapping[str, Any]] = ()  # documents of measure_statistic
    curves: Sequence[Curve] = ()

    def samples(self, dataset: str, tier: str) -> pd.DataFrame:
        """Return the times of every sentence timed alone, of a tier that the part has some of.

        Raises UserError if their file is missing or not of that kind.
        """
        return read_samples(self.parts[dataset].samples[tier])


def read_stages(path: Path) -> pd.DataFrame:
    """Read the stages of a timing. Raises UserError if the file is missing or not of that kind."""
    return read_samples(path, {"decoder", "repeat", "line", "tokens", "stage", "milliseconds"})
