"""The jobs of a run, as Snakemake lists them: finished ones too."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastdecode.errors import UserError
from fastdecode.files import read_json


@dataclass(frozen=True)
class Job:
    """One job."""

    rule: str
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    done: bool
    taken: float | None = None  # seconds, where it is done and somebody wrote them down
    wildcards: Mapping[str, str] = field(default_factory=dict, hash=False)


def list_jobs(
    snakefile: Path,
    configfiles: Sequence[Path],
    folder: Path,
    cores: int,
    config: Mapping[str, Any] | None = None,
) -> list[Job]:
    """Return the jobs of a run in `folder`: finished ones and those that Snakemake would run.

    `config` has settings over those of the files.

    Raises UserError if Snakemake cannot tell.
    """
    from snakemake.api import SnakemakeApi
    from snakemake.exceptions import RuleException, WorkflowError
    from snakemake.settings.enums import Quietness, RerunTrigger
    from snakemake.settings.types import (
        ConfigSettings,
        DAGSettings,
        OutputSettings,
        ResourceSettings,
    )

    triggers = {RerunTrigger.MTIME, RerunTrigger.INPUT, RerunTrigger.PARAMS}  # profiles/default
    try:
        with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
            run = api.workflow(
                resource_settings=ResourceSettings(cores=cores),
                config_settings=ConfigSettings(config or {}, configfiles=list(configfiles)),
                snakefile=snakefile,
                workdir=folder,
            )
            run.dag(DAGSettings(rerun_triggers=triggers))
            # Snakemake prints a DAG, its names or its files, but does not hand it out
            workflow = run._workflow
            workflow._prepare_dag(forceall=False, ignore_incomplete=True, lock_warn_only=True)
            workflow._build_dag()
            return [_read(job, workflow) for job in workflow.dag.jobs if job.output]
    except (RuleException, WorkflowError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"snakemake cannot plan this run: {reason}") from None


def _read(job: Any, workflow: Any) -> Job:
    outputs, done = tuple(map(str, job.output)), not workflow.dag.reason(job)
    trains = job.rule.name != "record_ensemble"  # whose seconds are those of other jobs
    taken = _taken(job.output, workflow.persistence) if done and trains else None
    inputs, wildcards = tuple(map(str, job.input)), dict(job.wildcards_dict)
    return Job(job.rule.name, outputs, inputs, done, taken, wildcards)


def _taken(outputs: Sequence[Any], persistence: Any) -> float | None:
    """Return a finished job's seconds; of a training that was killed, those before as well."""
    training = next((Path(path) for path in outputs if Path(path).name == "train.json"), None)
    if training:
        seconds = read_json(training).get("seconds")
        return float(seconds) if seconds else None  # untrained models have none
    record = persistence.metadata(outputs[0])
    if record is None or record.starttime is None or record.endtime is None:
        return None
    return float(record.endtime - record.starttime)


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
