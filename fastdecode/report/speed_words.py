"""What tables and figures say of rows of fastdecode.report.speed_numbers: marks, heads, bases."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from fastdecode.config.rows import UNTRAINED
from fastdecode.report.tables import APART, DISTURBED, MARKS, MEANINGS, RANDOM, of_both, only


def marks(row: Mapping[Any, Any]) -> str:
    """Return what the time of a row of speed_rows is marked with."""
    return _marks(row["latency_disturbed"], row["target"], row["differs"])


def ratio_marks(row: Mapping[Any, Any]) -> str:
    """Return what the speed-up of a row of speed_rows is marked with, which is of two times."""
    over = _marks(row["over_disturbed"], row["over"].partition("/")[0], row["over_differs"])
    return of_both(marks(row), over)


def _marks(disturbed: float, target: str, differs: float) -> str:
    holds = {DISTURBED: disturbed > 0, RANDOM: target == UNTRAINED, APART: differs > 0}
    return "".join(mark for mark in MARKS if holds[mark])


def described(rows: pd.DataFrame) -> str:
    """Return two lines for the head of a figure: what was measured, and on which device.

    `rows` are of speed_rows, or have such columns. † and ≠ are explained where some rows have them.

    Raises UserError if that differs between the rows.
    """
    names = ("dataset", "split", "seeds", "tier", "scenario", "device")
    dataset, split, seeds, tier, scenario, device = (only(rows, name) for name in names)
    precision = " and ".join(rows["precision"].unique())
    what = f"{dataset}, {split}, seed {seeds}: {tier} tier, {scenario}, {precision}"
    columns = {DISTURBED: "latency_disturbed", APART: "differs"}
    found = [mark for mark, name in columns.items() if name in rows and (rows[name] > 0).any()]
    said = "".join(f", {mark} {MEANINGS[mark]}" for mark in found)
    return f"{what}\n{device}{said}"


def threads_of(number: str) -> str:
    """Return a number of threads as a figure says it."""
    return f"{number} thread" + ("" if number == "1" else "s")


def over(tier: str, rows: pd.DataFrame) -> str:
    """Say what the speed-ups of a tier are over."""
    name = next((over for over in rows["over"] if over), "")
    if not name:
        return f"In the {tier} tier nothing was timed that speed-ups could be over."
    target, system, decoder = name.split("/")
    return f"Speed-ups in the {tier} tier are over {system} ({target}) with {decoder}."
