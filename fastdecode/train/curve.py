"""Learning curves, read from fairseq's JSON log; a killed and resumed training gives one curve."""

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastdecode.files import open_to_write

# Targets since the epoch began that were longer than their slots or graph, and left out, and those
# whose sum over paths was made anew in log space; families that have none do not count them.
COUNTED = ("infeasible", "recomputed")
COLUMNS = [
    "epoch",
    "update",
    "train_loss",
    "train_nll_loss",
    "valid_loss",
    "valid_nll_loss",
    "valid_bleu",
    "tokens_per_second",
    "seconds",
    "cpu_seconds",
    "lr",
    *(f"train_{name}" for name in COUNTED),
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


def validations(log: Path) -> dict[int, dict[str, Any]]:
    """Return the statistics of every validation in a log, by its updates; later records win."""
    found: dict[int, dict[str, Any]] = {}
    # Not read_lines: a kill may have cut a line in the middle of a character.
    with log.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            record = parse(line)
            if record and record[0] == "valid":
                found[int(record[1]["valid_num_updates"])] = record[1]
    return found


def curve(log: Path, seen: Mapping[int, Mapping[str, float]]) -> list[dict[str, float]]:
    """Return one row a validation, in order of updates, with the columns `COLUMNS`.

    An epoch trained twice, since a kill lost its checkpoint, counts once: the later record wins.
    `seen` holds the statistics of the checkpoints saved after each validation (see
    `fastdecode.train.checkpoints.statistics`); a validation without one is left out.
    """
    rows = []
    of_cpu = _cpu_seconds(seen)
    for update, logged in sorted(validations(log).items()):
        if update in seen:
            known = {**seen[update], **logged, "update": update, "cpu_seconds": of_cpu[update]}
            rows.append({column: float(known.get(column, "nan")) for column in COLUMNS})
    return rows


def _cpu_seconds(seen: Mapping[int, Mapping[str, float]]) -> dict[int, float]:
    """Return the CPU time of a training up to each checkpoint: of all processes that it had.

    A process knows its own. It is nan from a checkpoint on that an earlier version saved, which
    kept none.
    """
    spent: dict[float, float] = {}  # of every process, up to its last checkpoint
    found = {}
    for update in sorted(seen):
        nothing = float("nan")
        spent[seen[update].get("process", nothing)] = seen[update].get("cpu_seconds", nothing)
        found[update] = sum(spent.values())
    return found


def write_curve(rows: list[dict[str, float]], path: Path) -> None:
    """Write a learning curve as CSV."""
    with open_to_write(path) as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {key: "" if row[key] != row[key] else f"{row[key]:.8g}" for key in COLUMNS}
            )
