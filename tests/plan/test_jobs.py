"""The jobs of a run, from Snakemake's list of its files."""

from pathlib import Path

import pytest

from fastdecode.errors import UserError
from fastdecode.plan.jobs import Job, list_jobs, longest_chain


def test_the_longest_chain() -> None:
    first = Job("first", ("a",), (), False)
    left = Job("left", ("b",), ("a",), False)
    right = Job("right", ("c", "d"), ("a", "x"), False)
    last = Job("last", ("e",), ("d", "b"), False)
    seconds = {last: 1.0, left: 5.0, first: 2.0, right: 3.0}
    assert longest_chain(seconds) == (8.0, [first, left, last])
    assert longest_chain({}) == (0.0, [])


def test_jobs_that_are_left_and_what_they_wait_for(tmp_path: Path) -> None:
    snakefile = tmp_path / "Snakefile"
    snakefile.write_text(
        """
rule all:
    input: "both", "side"
rule first:
    output: "one", "two"
rule second:
    input: "one"
    output: "both"
rule third:
    output: "{place}de"
"""
    )
    (tmp_path / "side").touch()
    jobs = {job.rule: job for job in list_jobs(snakefile, [], tmp_path, 1)}
    assert jobs == {
        "first": Job("first", ("one", "two"), (), False),
        "second": Job("second", ("both",), ("one",), False),
        "third": Job("third", ("side",), (), True, wildcards={"place": "si"}),
    }


def test_a_training_has_taken_what_its_record_says(tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(
        'rule train_system:\n    output: "checkpoint.pt", "train.json"\n'
    )
    (tmp_path / "checkpoint.pt").touch()
    for seconds, taken in (("30.5", 30.5), ("null", None)):
        (tmp_path / "train.json").write_text(f'{{"seconds": {seconds}}}')
        (job,) = list_jobs(tmp_path / "Snakefile", [], tmp_path, 1)
        assert (job.done, job.taken) == (True, taken)


def test_an_ensemble_has_taken_no_time_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text('rule record_ensemble:\n    output: "train.json"\n')
    (tmp_path / "train.json").write_text('{"seconds": 30.5}')
    (job,) = list_jobs(tmp_path / "Snakefile", [], tmp_path, 1)
    assert (job.done, job.taken) == (True, None)


def test_snakemake_cannot_plan(tmp_path: Path) -> None:
    names = ("nobody makes this", "nor that")
    (tmp_path / "Snakefile").write_text(f"rule all:\n    input: {names}\n")
    with pytest.raises(UserError, match="plan this run: Missing input files") as error:
        list_jobs(tmp_path / "Snakefile", [], tmp_path, 1)
    assert all(name in str(error.value) for name in names) and "\n" not in str(error.value)
