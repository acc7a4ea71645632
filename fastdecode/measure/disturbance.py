"""What speaks against a timing: something else at work on the machine, or too few repeats."""

import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

DRIFT = 0.1  # the share by which the medians of repeats may differ on a quiet machine
OTHERS = 0.2  # cores that all other processes together may use: what an idle system comes to
REPEATS, WARMUP = 5, 20  # passes over the lines, and sentences before them, that a timing needs


class Usage(NamedTuple):
    """What had been used up to a moment, in seconds."""

    wall: float
    own: float  # CPU time of this process, all its threads
    machine: float | None  # CPU time of all processes on all cores; None where it is not known


def read_usage(stat: Path = Path("/proc/stat")) -> Usage:
    """Read the clocks of this process and of the machine.

    The machine's is the sum over all cores in Linux's /proc/stat, with the time that a hypervisor
    took away ("steal"). It counts in hundredths of a second: a second is enough for two digits.
    """
    return Usage(time.perf_counter(), time.process_time(), _busy(stat))


def _busy(stat: Path) -> float | None:
    try:
        with stat.open(encoding="ascii") as file:
            name, *ticks = file.readline().split()
        user, nice, system, _, _, irq, softirq, steal = map(int, ticks[:8])  # idle, iowait left out
    except (OSError, ValueError):
        return None
    if name != "cpu":
        return None
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def cores_of_others(turns: Iterable[tuple[Usage, Usage]]) -> float | None:
    """Return how many cores other processes used on average between the two ends of each turn.

    None where the machine's clock could not be read, or no time has passed.
    """
    wall = others = 0.0
    for before, after in turns:
        if before.machine is None or after.machine is None:
            return None
        wall += after.wall - before.wall
        others += (after.machine - before.machine) - (after.own - before.own)
    return max(others / wall, 0.0) if wall else None  # below 0: ticks are coarse


def disturbances(repeat_medians: Sequence[float], others: float | None, warmup: int) -> list[str]:
    """Return what speaks against a timing, such as `drift 14%`.

    Nothing does on a quiet machine after `warmup` sentences and as many repeats as it needs.
    """
    found = []
    least, most = min(repeat_medians), max(repeat_medians)
    if least > 0 and most > (1 + DRIFT) * least:
        found.append(f"drift {most / least - 1:.0%}")
    if others is not None and others > OTHERS:
        found.append(f"others used {others:.1f} cores")
    if len(repeat_medians) < REPEATS:
        found.append(f"{len(repeat_medians)} repeats")
    if warmup < WARMUP:
        found.append(f"{warmup} sentences of warm-up")
    return found
