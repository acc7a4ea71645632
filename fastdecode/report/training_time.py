"""By which clock the time of trainings is told."""

from collections.abc import Iterable, Sequence

import pandas as pd

from fastdecode.provenance import is_cpu

PASSED, OF_CPU = "seconds", "cpu_seconds"  # columns of learning curves, cumulative


def clock(curves: Sequence[pd.DataFrame], devices: Iterable[str]) -> str:
    """Return the column of learning curves that the time of training is read from.

    Where all were trained on CPUs, and know, it is the seconds that these spent: pauses and waiting
    for a core that others have are not in them. Else it is the seconds that passed.
    """
    known = all(OF_CPU in curve and curve[OF_CPU].notna().all() for curve in curves)
    return OF_CPU if known and all(map(is_cpu, devices)) else PASSED


def words(column: str) -> str:
    """Return what follows the name of a unit of time, by such a clock."""
    return ", CPU time" if column == OF_CPU else ""
