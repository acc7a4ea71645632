"""A run's jobs with their costs, added up."""

from collections.abc import Mapping
from dataclasses import dataclass

from fastdecode.plan.costs import Cost
from fastdecode.plan.jobs import Job, longest_chain

HOUR, GIGABYTE = 3600.0, 1e9


@dataclass(frozen=True)
class Line:
    """The jobs of one rule."""

    rule: str
    jobs: int
    done: int
    seconds: float  # of the jobs that are left
    gpus: int  # of a job, at most
    taken: float  # seconds of the finished jobs that have a record of them
    estimated: float  # seconds that these jobs were estimated to take


@dataclass(frozen=True)
class Estimate:
    """What is left of a run; bytes are of the whole run."""

    lines: list[Line]
    cpu_seconds: float  # of jobs without a GPU
    gpu_seconds: float  # as many a second as a job has GPUs
    chain_seconds: float
    chain: list[str]
    kept: float  # bytes in the end
    peak: float  # bytes at most

    @property
    def jobs(self) -> int:
        """How many jobs the run has, finished ones too."""
        return sum(line.jobs for line in self.lines)

    @property
    def done(self) -> int:
        """How many of them are finished."""
        return sum(line.done for line in self.lines)


def estimate(costs: Mapping[Job, Cost], at_once: int) -> Estimate:
    """Add up the costs of a run of which `at_once` jobs run side by side."""
    rules: dict[str, list[Job]] = {}
    for job in costs:
        rules.setdefault(job.rule, []).append(job)
    left = {job: 0.0 if job.done else cost.seconds for job, cost in costs.items()}
    lines = [
        Line(
            rule,
            len(jobs),
            sum(job.done for job in jobs),
            sum(left[job] for job in jobs),
            max(costs[job].gpus for job in jobs),
            sum(job.taken or 0.0 for job in jobs),
            sum(costs[job].seconds for job in jobs if job.taken),
        )
        for rule, jobs in rules.items()
    ]
    chain_seconds, chain = longest_chain(left)
    kept = sum(cost.kept for cost in costs.values())
    # shards wait for each other, so all of one target are there at once
    shards = sum(cost.scratch for job, cost in costs.items() if job.rule == "distill_shard")
    others = (cost.scratch for job, cost in costs.items() if job.rule != "distill_shard")
    scratch = sorted(others, reverse=True)
    return Estimate(
        sorted(lines, key=lambda line: (-line.seconds, line.rule)),
        sum(seconds for job, seconds in left.items() if not costs[job].gpus),
        sum(seconds * costs[job].gpus for job, seconds in left.items()),
        chain_seconds,
        [job.rule for job in chain if left[job]],
        kept,
        kept + shards + sum(scratch[:at_once]),
    )


def printed(found: Estimate, machine: str, assumed: list[str], at_once: int) -> str:
    """Return the estimate as text."""
    width = max((len(line.rule) for line in found.lines), default=4)
    rows = [f"{'rule':{width}}  jobs  done  hours left  done in  estimated"]
    rows += [
        f"{line.rule:{width}} {line.jobs:5d} {line.done:5d}  {line.seconds / HOUR:10.2f}"
        f"{_beside(line)}{_on(line.gpus)}"
        for line in found.lines
    ]
    on_gpu = f"{found.gpu_seconds / HOUR:,.1f} GPU hours, " if found.gpu_seconds else ""
    total = sum(line.seconds for line in found.lines) / at_once
    return "\n".join(
        [
            *rows,
            "",
            f"{found.jobs:,} jobs, {found.done:,} of them done",
            *_checked(found),
            f"left to do    {on_gpu}{found.cpu_seconds / HOUR:,.1f} CPU hours (one core each)",
            f"at the least  {max(total, found.chain_seconds) / HOUR:,.1f} hours with {at_once} "
            f"side by side",
            f"longest chain {found.chain_seconds / HOUR:,.1f} hours: {_shortened(found.chain)}",
            f"disk          {found.peak / GIGABYTE:,.2f} GB at most, "
            f"{found.kept / GIGABYTE:,.2f} GB in the end",
            f"counted for   {machine}",
            *(f"assumed       {what}" for what in assumed),
        ]
    )


def _on(gpus: int) -> str:
    return f"  {gpus} GPUs" if gpus > 1 else "  GPU" * gpus


def _checked(found: Estimate) -> list[str]:
    """Return a line that holds the finished jobs to their estimate, if there are any."""
    taken = sum(line.taken for line in found.lines)
    if not taken:
        return []
    estimated = sum(line.estimated for line in found.lines)
    return [
        f"done in       {taken / HOUR:,.2f} hours, estimated {estimated / HOUR:,.2f} "
        f"(×{estimated / taken:.2f})"
    ]


def _beside(line: Line) -> str:
    """Return what the finished jobs of a rule took, beside their estimate."""
    if not line.taken:
        return f"  {'–':>7}  {'–':>9}"
    return f"  {line.taken / HOUR:7.2f}  {line.estimated / HOUR:9.2f}"


def _shortened(chain: list[str]) -> str:
    """Return the rules of a chain, equal neighbours counted."""
    parts: list[tuple[str, int]] = []
    for rule in chain:
        if parts and parts[-1][0] == rule:
            parts[-1] = rule, parts[-1][1] + 1
        else:
            parts.append((rule, 1))
    return " → ".join(rule if count == 1 else f"{count} {rule}" for rule, count in parts)
