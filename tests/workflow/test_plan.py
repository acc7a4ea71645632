"""A plan counts the jobs that Snakemake would run, and knows which are done."""

import os
import re
import subprocess
from collections import Counter

import pytest

from fastdecode.commands import main
from fastdecode.plan.jobs import list_jobs
from tests.workflow.conftest import ROOT, Workplace

STATS = re.compile(r"^(\S+) +(\d+)$", re.MULTILINE)


def test_the_jobs_of_a_plan_are_snakemakes(workplace: Workplace) -> None:
    call = workplace.command()
    jobs = list_jobs(ROOT / "Snakefile", [workplace.folder / "run.yaml"], workplace.folder, 2)
    dry = subprocess.run(
        [*call[: call.index("--")], "-n"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    stats = dry.stdout[dry.stdout.rindex("Job stats") :]
    wanted = {rule: int(count) for rule, count in STATS.findall(stats)}
    assert wanted.pop("total") == len(jobs) + wanted.pop("all")
    assert Counter(job.rule for job in jobs) == wanted
    assert not any(job.done for job in jobs)


def test_a_plan_of_a_finished_run(
    finished: Workplace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    run = str(finished.folder / "run.yaml")
    main(["plan", "--configfile", run, "--folder", str(finished.folder), "--jobs", "2"])
    said = capsys.readouterr().out
    counts = re.search(r"(\d+) jobs, (\d+) of them done", said)
    assert counts and counts[1] == counts[2] != "0"
    assert re.search(r"longest chain 0\.0 hours", said)
    assert re.search(r"done in       0\.\d\d hours, estimated 0\.\d\d \(×", said)
    assert re.search(r"this machine \(cpu: .*\), [\d,]+ GFLOP/s", said)
