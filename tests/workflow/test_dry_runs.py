"""Every ready run builds its jobs: quickly, without network, data or mirror folder."""

import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import yaml

from fastdecode.config.base import merge
from fastdecode.config.read import Configuration

ROOT = Path(__file__).parents[2]
DEFAULT = ROOT / "config/config.yaml"
RUNS = sorted(file.stem for file in (ROOT / "config/runs").glob("*.yaml"))
PAPERS = ("lattice", "bidirectional", "aggressive", "dag")


@dataclass(frozen=True)
class DryRun:
    """The jobs a dry run announces, by rule; a processor's time for it; all that it says."""

    jobs: dict[str, int]
    seconds: float
    said: str


DryRunner = Callable[..., DryRun]


def files(name: str) -> list[Path]:
    return [DEFAULT] if name == "default" else [DEFAULT, ROOT / f"config/runs/{name}.yaml"]


def processor_time() -> float:
    """Return the seconds that ended child processes had of a core, whatever else is going on."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture(scope="module")
def dry_run(tmp_path_factory: pytest.TempPathFactory) -> DryRunner:
    """Runs snakemake -n in an empty folder: dry_run(run, "key=value", …, file="…"), each once."""

    @cache
    def run(name: str, *overrides: str, file: str = "all") -> DryRun:
        command = [
            *(sys.executable, "-m", "snakemake", file, "-n", "-s", str(ROOT / "Snakefile")),
            *("--directory", str(tmp_path_factory.mktemp(name))),
            *("--quiet", "host"),  # with the reason of each job
            *("--configfile", *map(str, files(name))),
            *(("--config", *overrides) if overrides else ()),
        ]
        start = processor_time()
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        seconds = processor_time() - start
        assert done.returncode == 0, done.stdout
        counts = re.findall(r"^(\S+) +(\d+)$", done.stdout, re.MULTILINE)
        return DryRun({rule: int(count) for rule, count in counts}, seconds, done.stdout)

    return run


@pytest.mark.parametrize("name", ["default", *RUNS])
def test_a_run_trains_each_of_its_models_once(dry_run: DryRunner, name: str) -> None:
    jobs = dry_run(name).jobs
    values = merge(*(yaml.safe_load(file.read_text(encoding="utf-8")) for file in files(name)))
    configuration = Configuration(values, ROOT / "config")
    trained, untrained = configuration.models(), configuration.untrained()
    assert jobs.get("train_system", 0) == len(trained)
    assert jobs.get("build_untrained", 0) == len(untrained)
    assert trained or untrained
    assert jobs["total"] == sum(jobs.values()) - jobs["total"]


def test_the_jobs_of_all_four_papers_are_found_within_a_minute(dry_run: DryRunner) -> None:
    assert sum(dry_run(paper).seconds for paper in PAPERS) < 60


def test_a_missing_mirror_folder_does_not_disturb_a_dry_run(dry_run: DryRunner) -> None:
    assert dry_run("news", "mirror=/no/such/folder").jobs == dry_run("news").jobs


def test_figures_come_with_their_claims(dry_run: DryRunner) -> None:
    jobs = dry_run("toy-dag", "papers=[dag.table1]", file="figures").jobs
    assert jobs["make_artifact"] == jobs["judge_claims"] == 1
    jobs = dry_run("toy-dag", "papers=[dag]", file="figures").jobs  # every one of a paper
    artifacts = yaml.safe_load((ROOT / "config/papers/dag.yaml").read_text())["artifacts"]
    assert jobs["make_artifact"] == len(artifacts) > 15 and jobs["judge_claims"] == 1
    with pytest.raises(AssertionError, match="error: papers: names none: add --config papers="):
        dry_run("multi30k", file="figures")


def test_lines_that_are_drawn_are_among_the_example_sentences(dry_run: DryRunner) -> None:
    jobs = dry_run("default", file="results/report/toy/sentences.toy.test.csv").jobs
    assert jobs["make_artifact"] == jobs["measure_statistic"] == 4
    jobs = dry_run("multi30k", file="results/report/multi30k/index.html").jobs
    assert "make_artifact" not in jobs and jobs["pick_sentences"] == 1


def test_figures_of_single_sentences_are_of_the_fewest_threads(dry_run: DryRunner) -> None:
    figure = "results/report/toy-aggressive/aggressive.figure4.csv"
    said = dry_run("toy-aggressive", "latency={lines: 20, threads: [2, 1]}", file=figure).said
    reasons = {line for line in said.splitlines() if f"Missing output files: {figure}" in line}
    (inputs,) = reasons  # said for the job, with the inputs that others make
    assert "S1.threads1.samples.csv" in inputs and "S1.threads2.samples.csv" not in inputs


def test_text_is_aligned_where_candidates_are_counted(dry_run: DryRunner) -> None:
    assert dry_run("toy-lattice").jobs["align_words"] == 2  # raw and distilled
    assert "align_words" not in dry_run("multi30k").jobs


def test_the_name_of_a_dataset_may_begin_with_that_of_another(dry_run: DryRunner) -> None:
    jobs = dry_run("news", "datasets=[news.en-de,news.en-de.bpe4k]").jobs
    assert jobs["train_system"] == 2 * dry_run("news").jobs["train_system"]


def test_a_verifier_that_the_run_does_not_list_is_trained_too(dry_run: DryRunner) -> None:
    jobs = dry_run(
        "toy-aggressive",
        "systems=[raw/transformer-big,transformer-big/gad]",
        "decoders=[beam5,beam5-optimised,gad-strict]",
        "speedup_over={reference: raw/transformer-big/beam5, "
        "optimised: raw/transformer-big/beam5-optimised}",
    ).jobs
    assert jobs["train_system"] == 3
    assert jobs["translate_split"] == 3


def test_what_is_given_as_translations_alone_is_not_timed(
    dry_run: DryRunner, tmp_path: Path
) -> None:
    (tmp_path / "test.lattice-k64.txt").touch()
    jobs = dry_run(
        *("toy-lattice", "systems=[raw/lattice]", "decoders=[lattice-k64]"),
        "speedup_over={reference: raw/lattice/lattice-k64}",
        f"given={{translations: {{toy.long/raw/lattice/seed1: {tmp_path}}}}}",
        file="results/report/toy-lattice/lattice.figure4.csv",  # made of times
    ).jobs
    assert jobs["make_artifact"] == jobs["take_translations"] == 1
    assert not {"measure_latency", "measure_memory", "train_system"} & set(jobs)


def test_what_single_sentences_take_is_left_out_where_they_are_not_timed(
    dry_run: DryRunner,
) -> None:
    jobs = dry_run(
        *("toy-lattice", "systems=[raw/lattice]", "decoders=[lattice-k64]"),
        "speedup_over={reference: raw/lattice/lattice-k64}",
        "latency={scenarios: [Smax], threads: [1]}",
        file="results/report/toy-lattice/lattice.figure4.csv",
    ).jobs
    assert (jobs["make_artifact"], jobs["measure_latency"]) == (1, 1)  # of batches alone


def test_a_run_of_single_sentences_alone_asks_nothing_of_batches(dry_run: DryRunner) -> None:
    single = "latency={scenarios: [S1], threads: [1], batches: [32], batch_lines: 8}"
    jobs = dry_run("toy-families", single).jobs
    assert jobs["measure_latency"] == 2


def test_a_tier_of_random_weights_alone_is_on_no_front(dry_run: DryRunner) -> None:
    run = (
        "systems=[raw/transformer,untrained/transformer]",
        "decoders=[beam5,{untrained/transformer: [greedy-optimised]}]",
        "speedup_over={reference: raw/transformer/beam5}",
        "latency={scenarios: [S1], threads: [1]}",
        "papers=[]",
    )
    jobs = dry_run("toy-families", *run).jobs
    assert (jobs["measure_latency"], jobs["draw_pareto"]) == (2, 1)


def test_a_statistic_waits_for_the_teacher_only_if_it_compares_with_it(dry_run: DryRunner) -> None:
    folder = "results/toy.long/transformer-big/lattice/seed1"
    recall, ranks = (
        dry_run("toy-lattice", file=f"{folder}/valid.{name}.statistic.json").jobs
        for name in ("recall", "ranks")
    )
    assert recall["translate_split"] == 1
    assert "translate_split" not in ranks
    assert recall["train_system"] == ranks["train_system"] == 2


def test_a_statistic_has_no_teacher_trained_whose_targets_are_given(
    dry_run: DryRunner, tmp_path: Path
) -> None:
    (tmp_path / "distilled").touch()
    given = f"given={{distilled: {{toy.long/transformer-big: {tmp_path / 'distilled'}}}}}"
    recall = "results/toy.long/transformer-big/lattice/seed1/valid.recall.statistic.json"
    alone, reported = (
        dry_run(
            *("toy-lattice", given, "decoders=[beam5,lattice-k64]"),
            f"systems=[{system},transformer-big/lattice]",
            f"speedup_over={{reference: {system}/beam5}}",
            file=recall,
        ).jobs
        for system in ("raw/transformer", "raw/transformer-big")
    )
    assert alone["train_system"] == 1 and "translate_split" not in alone
    assert reported["train_system"] == 2 and reported["translate_split"] == 1
    other = given.replace("transformer-big", "dag-lambda4")  # which beam5 does not decode
    jobs = dry_run(
        *("toy-lattice", other, "decoders=[beam5,dag-greedy,lattice-k64]"),
        "systems=[raw/transformer,raw/dag-lambda4,dag-lambda4/lattice]",
        "speedup_over={reference: raw/transformer/beam5}",
        file=recall.replace("transformer-big", "dag-lambda4"),
    ).jobs
    assert jobs["train_system"] == 1 and "translate_split" not in jobs


def test_a_system_is_decoded_with_the_decoders_that_are_for_it(dry_run: DryRunner) -> None:
    everything = dry_run(
        *("multi30k-aggressive", "decoders=[beam5,beam5-optimised,greedy,gad-strict,gad-pp]")
    ).jobs
    chosen = dry_run(
        "multi30k-aggressive",
        'decoders=[beam5,"*/transformer":[beam5-optimised,greedy],"*/gad-k10":[gad-strict]]',
    ).jobs
    splits = 2
    assert everything["translate_split"] == splits * (3 + 3 + 2)
    assert chosen["translate_split"] == chosen["measure_quality"] == splits * (1 + 3 + 1)
