"""Which test lines are timed, and in which batches."""

from collections.abc import Sequence
from typing import NamedTuple

from fastdecode.config.run import Latency, Scenario
from fastdecode.errors import UserError


class Workload(NamedTuple):
    """What is timed: lines of a test set, cut into batches of every size."""

    lines: list[int]  # indices into the test set, in the order in which they are timed
    batches: dict[int, list[list[int]]]  # by batch size: all of `lines`, in their order
    left_out: list[int]  # batch sizes that so few lines do not fill


def workload(
    lengths: Sequence[int], longest: int, scenario: Scenario, settings: Latency
) -> Workload:
    """Choose lines and batches for a scenario.

    `lengths` are those of the test lines in BPE tokens; only lines of 1 to `longest` tokens are
    chosen, which is what every decoder can read. S1 has `settings.lines` batches of one line, in
    the order of the test set. Smax has `settings.batch_lines` lines, the longest first: so a batch
    has lines of like lengths, and a batch size that does not fit fails in its first batch. A last
    batch may be smaller.

    Raises UserError if there is no line to choose, or no batch size that they fill.
    """
    readable = [index for index, length in enumerate(lengths) if 0 < length <= longest]
    if lengths and not readable:
        raise UserError(
            f"latency: none of {len(lengths)} lines has between 1 and {longest} BPE tokens, which "
            "is what every decoder can read: time another split, or leave out the system that "
            "reads the fewest"
        )
    count = settings.lines if scenario == "S1" else settings.batch_lines
    chosen = stratified_sample([lengths[index] for index in readable], count)
    lines = [readable[index] for index in chosen]
    if scenario == "S1":
        return Workload(lines, {1: [[line] for line in lines]}, [])
    lines.sort(key=lambda line: -lengths[line])
    sizes = sorted(size for size in settings.batches if size <= len(lines))
    if not sizes:
        raise UserError(
            f"latency: {len(lines)} lines fill no batch of {min(settings.batches)}: "
            "set latency.batches to smaller ones, or latency.batch_lines to more"
        )
    return Workload(
        lines,
        {
            size: [lines[first : first + size] for first in range(0, len(lines), size)]
            for size in sizes
        },
        sorted(set(settings.batches) - set(sizes)),
    )


def stratified_sample(lengths: Sequence[int], count: int) -> list[int]:
    """Choose `count` lines whose lengths are spread as those of all lines; return their indices.

    The lines, sorted by length, are cut into `count` parts of equal size, and each part gives its
    middle line: no chance is involved. All lines are chosen if there are no more than `count`.
    """
    if count < 1:
        raise UserError(f"a sample of {count} lines: at least one is needed")
    if not lengths:
        raise UserError("no lines to take a sample of: the test set is empty")
    order = sorted(range(len(lengths)), key=lambda index: (lengths[index], index))
    return sorted(middles(order, count))


def middles(order: Sequence[int], count: int) -> list[int]:
    """Return the middle of each of `count` parts of equal size of `order`; all if it has fewer."""
    count = min(count, len(order))
    return [order[(2 * part + 1) * len(order) // (2 * count)] for part in range(count)]
