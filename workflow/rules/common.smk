"""The configuration, and where things lie. Rules say what is made; this says what it is called."""

import os
import re
import sys
from dataclasses import asdict
from pathlib import Path

from fastdecode.config.arguments import changed_beside, check_arguments, stands_in
from fastdecode.config.base import read_yaml
from fastdecode.config.checks import check_fits, check_name
from fastdecode.config.given import check_untouched
from fastdecode.config.models import Model
from fastdecode.config.read import Configuration
from fastdecode.config.rows import RAW, UNTRAINED
from fastdecode.errors import clear_errors
from fastdecode.files import check_folder

RESULTS = "results"
MODEL = "results/{dataset}/{target}/{system}/seed{seed}"
REPORT = f"results/report/{config.get('name')}"

with clear_errors():
    called_from = os.environ.get("PWD", "")
    check_arguments(sys.argv, [Path(), Path(called_from), Path(workflow.basedir)])
    check_folder(Path(RESULTS))
    # Of two like keys Snakemake would take the last without a word. What is JSON may have tabs.
    for path in workflow.configfiles:
        if not str(path).endswith(".json"):
            read_yaml(Path(path))
    check_name(config, read_yaml(Path(workflow.basedir, "config/config.yaml")))
    CONFIG = Configuration(
        config,
        Path(workflow.basedir, "config"),
        stands_in(workflow.overwrite_configfiles, changed_beside(sys.argv)),
    )


def growing(base, rate=0):
    """Return a resource that grows by `rate` with every MB of input files, and with every attempt.

    Memory is in MB, time in minutes. These are what a cluster is asked for: generous, not measured.
    """

    def amount(wildcards, input, attempt):
        size = sum(Path(path).stat().st_size for path in input) / 1e6 if rate else 0
        return attempt * (base + round(rate * size))

    return amount


def seen(*paths):
    """Return size and time of files, as a parameter that nobody reads.

    A file that takes another's place with an older time, as mv and rsync -t do, has to be taken
    again, and Snakemake looks for newer ones alone. (A function of wildcards: Snakemake does not
    compare parameters that are made of inputs.)
    """
    there = [path for path in map(Path, paths) if path.exists()]
    stats = [(str(path), path.stat()) for path in there]
    return [(path, stat.st_size, int(stat.st_mtime)) for path, stat in stats]


def processes(wildcards, input):
    """Return how many processes work on lines of text: several, where there are many lines."""
    size = sum(Path(path).stat().st_size for path in input if Path(path).is_file())
    return 4 if size > 1e7 else 1


def any_of(names):
    """Return a regular expression that matches these names and no other."""
    return "|".join(sorted(map(re.escape, names))) or "none"


wildcard_constraints:
    corpus=any_of(CONFIG.corpora),
    dataset=any_of(CONFIG.datasets),
    target=any_of([RAW, *CONFIG.systems]),
    system=any_of(CONFIG.systems),
    decoder=any_of(CONFIG.decoders),
    side="source|target",
    split="[A-Za-z0-9_-]+",  # no dot: news.en-de.bpe4k is not the split bpe4k of news.en-de
    seed=r"\d+",


def model_file(model, name):
    """Return the path of a file of one model."""
    return f"{RESULTS}/{model.folder}/{name}"


def translations_file(model, split, decoder):
    """Return the path of the translations of a split."""
    return model_file(model, f"{split}.{decoder}.jsonl.gz")


def statistic_file(model, split, name):
    """Return the path of a statistic of a split."""
    return model_file(model, f"{split}.{name}.statistic.json")


def corpus_of(wildcards):
    """Return the corpus row of a dataset."""
    return CONFIG.corpora[CONFIG.datasets[wildcards.dataset].corpus]


def corpus_file(wildcards, split, side, kind=""):
    """Return the path of one side of a split: tokenised, or `kind=".raw"` as it was read."""
    corpus = corpus_of(wildcards)
    language = getattr(corpus, side)
    name = CONFIG.datasets[wildcards.dataset].corpus
    return f"{RESULTS}/corpora/{name}/{split}{kind}.{language}.gz"


def training_text(wildcards, side):
    """Return the BPE training text of a target side: raw, or what a teacher wrote."""
    if side == "source" or wildcards.target == RAW:
        return f"{RESULTS}/{wildcards.dataset}/bpe/train.{side}.gz"
    return f"{RESULTS}/{wildcards.dataset}/{wildcards.target}/train.target.gz"


def model_of(wildcards):
    """Return the model of which a file is made."""
    names = wildcards.dataset, wildcards.target, wildcards.system
    return Model(*names, int(wildcards.seed))


def assets_of(model, decoder=None):
    """Return the folder of what a model needs besides, to be trained or decoded, or None."""
    needed = CONFIG.assets(model.system, decoder)
    return f"{RESULTS}/{model.dataset}/{model.target}/{needed[0]}" if needed else None


def asset_files(model, decoder=None):
    """Return the files in that folder."""
    needed = CONFIG.assets(model.system, decoder)
    folder = assets_of(model, decoder)
    return [f"{folder}/{name}" for name in needed[1]] if needed else []


def checkpoints_of(models):
    """Return the checkpoints of models by system."""
    return {name: model_file(one, "checkpoint.pt") for name, one in models.items()}


def companions_of(model, decoder=None):
    """Return the checkpoints of what a model is trained or decoded with, by system."""
    return checkpoints_of(CONFIG.companions(model, decoder))


def provenance_of(wildcards, **more):
    """Return what names a model's result, for its provenance."""
    model = {
        "target": wildcards.target,
        "system": wildcards.system,
        "seed": int(wildcards.seed),
    }
    return {"dataset": wildcards.dataset, **model, "device": CONFIG.run.device, **more}
