"""Learning curves, read from fairseq's JSON log; a killed and resumed training gives one curve."""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fastdecode.files import open_to_write, read_lines

COLUMNS = [
    *("epoch", "update", "train_loss", "train_nll_loss", "valid_loss", "valid_nll_loss"),
    *("valid_bleu", "tokens_per_second", "seconds", "lr"),
]
RECORD = re.compile(r"\| INFO \| (train|valid|train_inner) \| (\{.*\})$")


def parse(line: str) -> tuple[str, dict[str, Any]] | None:
    """Return (kind, statistics) of a log line that carries them, else None."""
    match = RECORD.search(line)
    if not match:
        return None
    try:
        return match[1], json.loads(match[2])
    except json.JSONDecodeError:  # the line was being written when the process was killed
        return None


def records(log: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (kind, statistics) of every line of a log that carries them."""
    if log.exists():
        for line in read_lines(log):
            if record := parse(line):
                yield record


def curve(log: Path, seconds: Mapping[int, float]) -> list[dict[str, float]]:
    """Return one row a validation, in order of updates, with the columns `COLUMNS`.

    An epoch trained twice, since a kill lost its checkpoint, counts once: the later record wins.
    `seconds` gives the time spent in training steps up to each update, without validation and
    saving; fairseq's log rounds it too much for short epochs.
    """
    train: dict[int, dict[str, Any]] = {}
    valid: dict[int, dict[str, Any]] = {}
    for kind, values in records(log):
        if kind == "train":
            train[int(values["train_num_updates"])] = values
        elif kind == "valid":
            valid[int(values["valid_num_updates"])] = values
    rows = []
    for update in sorted(valid):
        here = valid[update]
        past = [u for u in sorted(train) if u <= update]
        # fairseq logs an epoch's training after its validation: both carry the same update count.
        latest = train[past[-1]] if past else {}
        rows.append(
            {
                "epoch": float(here["epoch"]),
                "update": float(update),
                "train_loss": _number(latest, "train_loss"),
                "train_nll_loss": _number(latest, "train_nll_loss"),
                "valid_loss": _number(here, "valid_loss"),
                "valid_nll_loss": _number(here, "valid_nll_loss"),
                "valid_bleu": _number(here, "valid_bleu"),
                "tokens_per_second": _number(latest, "train_wps"),
                "seconds": seconds.get(update, float("nan")),
                "lr": _number(latest, "train_lr"),
            }
        )
    return rows


def _number(values: dict[str, Any], key: str) -> float:
    return float(values.get(key, "nan"))


def write_curve(rows: list[dict[str, float]], path: Path) -> None:
    """Write a learning curve as CSV."""
    with open_to_write(path) as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {key: "" if row[key] != row[key] else f"{row[key]:.8g}" for key in COLUMNS}
            )
