"""What a run times, and what the files of timings are called."""

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from fastdecode.config.models import Model
from fastdecode.config.run import Scenario

if TYPE_CHECKING:
    from fastdecode.config.read import Configuration

# Sentences, a mean of decoders at base size, alone and in batches: modest, to ask a cluster for
# enough, and not measured.
A_MINUTE = {"cuda": {"S1": 600, "Smax": 30_000}, "cpu": {"S1": 120, "Smax": 600}}
BEGINS, DAY = 240, 24 * 60  # minutes; in those before it begins all models are loaded, too
SUMMARY, SAMPLES, STAGES = "json", "samples.csv", "stages.csv"  # the three files of one timing


def tuned_over(config: "Configuration", entry: str) -> set[str]:
    """Return the decoders that another one of the same entry, target/system, is tuned over.

    They differ from that one in weights alone and take the same time. The artifacts are all of the
    run's papers, so that what is timed does not hang on which of them are drawn.
    """
    run = config.decoders_of(entry)
    return {
        name
        for paper in config.whole_papers.values()
        for artifact in paper.artifacts.values()
        for decoder, others in artifact.tuned.items()
        if decoder in run
        for name in others
    }


def without_tuned_over(config: "Configuration", entry: str) -> list[str]:
    """Return the decoders of an entry in the run's order, but for those that one is tuned over."""
    left_out = tuned_over(config, entry)
    return [name for name in config.decoders_of(entry) if name not in left_out]


def timed(
    config: "Configuration", dataset: str, tier: str | None = None
) -> list[tuple[Model, str]]:
    """Return (model, decoder) of all that is timed on a dataset, in one tier or in both.

    These are models of the first seed of which there is more than translations, and untrained ones;
    no ensembles, which nobody decodes for speed.
    """
    seed = config.run.seeds[0]
    first = (
        model
        for model in config.selected()
        if model.seed == seed and config.at_hand(model) and model.system not in config.ensembles
    )
    return [
        (model, name)
        for model in (*first, *config.untrained())
        if model.dataset == dataset
        for name in without_tuned_over(config, model.entry)
        if tier in (None, config.decoders[name].tier)
    ]


def timing_minutes(config: "Configuration", dataset: str, tier: str, scenario: Scenario) -> int:
    """Return how long a timing may take: its sentences at a modest speed, but a day.

    It is for a cluster to know, which ends what takes longer; a timing then begins anew.
    """
    latency, on_gpu = config.run.latency, config.run.device == "cuda"
    alone = scenario == "S1"
    lines = latency.lines if alone else latency.batch_lines * len(latency.batches)
    passes = latency.repeats + 1
    if on_gpu:  # all lines warm up, and stages are timed apart: in batches once
        passes += 1 + (latency.repeats if alone else 1)
    sentences = len(timed(config, dataset, tier)) * (latency.warmup + lines * passes)
    return min(DAY, BEGINS + sentences // A_MINUTE[config.run.device][scenario])


def timing_file(dataset: str, split: str, tier: str, scenario: str, threads: str, kind: str) -> str:
    """Return the path of a file of a timing below the report of its run; `kind` is of those above.

    What names the timing may be wildcards.
    """
    return f"latency/{dataset}.{split}.{tier}.{scenario}.threads{threads}.{kind}"


def stages_of(samples: Path) -> Path:
    """Return where the stages of the timing lie whose samples these are, compressed as they are."""
    return samples.with_name(samples.name.replace(f".{SAMPLES}", f".{STAGES}"))


def fewest(threads: Sequence[str]) -> str:
    """Return the least of some numbers of threads, as file names have them.

    None is greater than `all`, which are the cores of the machine that times: another one, maybe.
    """
    return min(threads, key=lambda count: inf if count == "all" else int(count))
