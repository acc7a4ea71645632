"""The jobs of a run, as Snakemake lists them: finished ones too."""

import csv
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fastdecode.errors import UserError

# Rules whose outputs share a folder and nothing else in their names.
ONE_FOLDER = {
    *("align_words", "build_untrained", "build_kenlm", "count_lattice", "take_model"),
    *("take_distilled", "train_system", "learn_bpe", "join_shards"),
}
# What outputs of one job differ in at the end of their names.
ENDINGS = {
    *("gz", "json", "jsonl", "csv", "md", "tex", "svg", "png", "html", "samples", "stages"),
    *("source", "target", "raw"),
}


@dataclass(frozen=True)
class Job:
    """One job."""

    rule: str
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    done: bool


def list_jobs(command: Sequence[str], folder: Path) -> list[Job]:
    """Return the jobs that `snakemake` would run with the arguments `command`, and finished ones.

    Raises UserError with Snakemake's last line if it fails.
    """
    call = [sys.executable, "-m", "snakemake", "--detailed-summary", "--nolock", *command]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise UserError(f"snakemake cannot plan this run: {said[-1] if said else 'no reason'}")
    return parse(done.stdout.splitlines())


def parse(lines: Iterable[str]) -> list[Job]:
    """Read `snakemake --detailed-summary`, which has a line for each output file.

    Lines of one rule, with the same inputs and names that differ in their endings, are one job.
    """
    files: dict[tuple[str, str, str], list[Mapping[str, str]]] = {}
    for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
        inputs = row["input-file(s)"]
        name = _common(row["rule"], row["output_file"])
        files.setdefault((row["rule"], inputs, name), []).append(row)
    return [
        Job(
            rule,
            tuple(row["output_file"] for row in rows),
            tuple(filter(None, inputs.split(","))),
            all(row["plan"] == "no update" for row in rows),
        )
        for (rule, inputs, _), rows in files.items()
    ]


def _common(rule: str, output: str) -> str:
    """Return what the outputs of one job have in common."""
    path = Path(output)
    if rule in ONE_FOLDER or rule.startswith(("prepare_", "generate_")):
        return str(path.parent)
    parts = path.name.split(".")
    if rule.startswith("extract_"):  # a split in two languages
        return str(path.with_name(parts[0]))
    while len(parts) > 1 and parts[-1] in ENDINGS:
        parts.pop()
    return str(path.with_name(".".join(parts)))


def longest_chain(seconds: Mapping[Job, float]) -> tuple[float, list[Job]]:
    """Return the seconds of the longest chain of jobs that wait for each other, and its jobs."""
    maker = {output: job for job in seconds for output in job.outputs}
    best: dict[Job, tuple[float, Job | None]] = {}

    for job in _in_order(seconds, maker):
        before = [maker[path] for path in job.inputs if path in maker]
        last = max(before, key=lambda other: best[other][0], default=None)
        best[job] = seconds[job] + (best[last][0] if last else 0.0), last
    if not best:
        return 0.0, []
    end: Job | None = max(best, key=lambda job: best[job][0])
    total, chain = best[end][0] if end else 0.0, []
    while end:
        chain.append(end)
        end = best[end][1]
    return total, chain[::-1]


def _in_order(jobs: Iterable[Job], maker: Mapping[str, Job]) -> list[Job]:
    """Return the jobs so that each comes after those whose outputs it reads."""
    ordered: dict[Job, None] = {}
    for start in jobs:
        stack = [start]
        while stack:
            job = stack[-1]
            waiting = [maker[path] for path in job.inputs if path in maker]
            waiting = [other for other in waiting if other not in ordered]
            if waiting:
                stack += waiting
            else:
                ordered.setdefault(stack.pop())
    return list(ordered)
