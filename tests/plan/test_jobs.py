"""The jobs of a run, from Snakemake's list of its files."""

from pathlib import Path

import pytest

from fastdecode.errors import UserError
from fastdecode.plan.jobs import Job, list_jobs, longest_chain, parse

HEAD = "output_file\tdate\trule\tlog-file(s)\tinput-file(s)\tshellcmd\tstatus\tplan"


def line(rule: str, output: str, inputs: str = "", plan: str = "update pending") -> str:
    return f"results/{output}\t-\t{rule}\t\t{inputs}\t-\tok\t{plan}"


def test_outputs_of_one_job_are_one_job() -> None:
    seed = "d/raw/s/seed1"
    jobs = parse(
        [
            HEAD,
            line("train_system", f"{seed}/checkpoint.pt", "results/bin"),
            line("train_system", f"{seed}/train.json", "results/bin"),
            line("train_system", "d/raw/s/seed2/checkpoint.pt", "results/bin"),
            line("draw_artifact", "report/r/dag.figure2.svg", "results/a.csv", "no update"),
            line("draw_artifact", "report/r/dag.figure2.png", "results/a.csv", "no update"),
            line("measure_latency", "report/r/latency/d.test.reference.S1.threads1.json"),
            line("measure_latency", "report/r/latency/d.test.reference.S1.threads1.stages.csv"),
            line("measure_latency", "report/r/latency/d.test.reference.S1.threadsall.json"),
            line("translate_split", f"{seed}/test.beam5.jsonl.gz", "results/c"),
            line("translate_split", f"{seed}/test.beam50.jsonl.gz", "results/c"),
            line("extract_x", "corpora/x/raw/test.de.gz"),
            line("extract_x", "corpora/x/raw/test.en.gz"),
            line("extract_x", "corpora/x/raw/valid.en.gz"),
            line("prepare_x", "corpora/x/test.en.gz"),
            line("prepare_x", "corpora/x/report.json"),
        ]
    )
    counts = [(job.rule, len(job.outputs), job.done) for job in jobs]
    assert counts == [
        ("train_system", 2, False),
        ("train_system", 1, False),
        ("draw_artifact", 2, True),
        ("measure_latency", 2, False),
        ("measure_latency", 1, False),
        ("translate_split", 1, False),
        ("translate_split", 1, False),
        ("extract_x", 2, False),
        ("extract_x", 1, False),
        ("prepare_x", 2, False),
    ]


def test_the_longest_chain() -> None:
    first = Job("first", ("a",), (), False)
    left = Job("left", ("b",), ("a",), False)
    right = Job("right", ("c", "d"), ("a", "x"), False)
    last = Job("last", ("e",), ("d", "b"), False)
    seconds = {last: 1.0, left: 5.0, first: 2.0, right: 3.0}
    assert longest_chain(seconds) == (8.0, [first, left, last])
    assert longest_chain({}) == (0.0, [])


def test_snakemake_cannot_plan(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="snakemake cannot plan this run: "):
        list_jobs(["-s", "none", "--cores", "1"], tmp_path)
