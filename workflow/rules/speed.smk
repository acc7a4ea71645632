"""Speed and memory of all decoders, side by side, and the machine that they run on."""

from fastdecode.config.papers import trained
from fastdecode.config.timed import (
    SAMPLES,
    STAGES,
    SUMMARY,
    fewest,
    stages_of,
    timed as timed_decoders,
    timing_file,
    timing_minutes,
)
from fastdecode.provenance import cores


def timed(dataset, tier=None, untrained=True):
    """Return (model, decoder) of all that is timed, with or without what is untrained."""
    return [
        (model, name)
        for model, name in timed_decoders(CONFIG, dataset, tier)
        if untrained or trained(model.entry)
    ]


def entries_of(decoders):
    """Return decoders that are timed, as fastdecode.measure.timing.Entry takes them."""
    return [
        {
            "target": model.target,
            "system": model.system,
            "seed": model.seed,
            "decoder": name,
            "tier": CONFIG.decoders[name].tier,
            "precision": CONFIG.decoders[name].precision(CONFIG.run.precision),
            "family": CONFIG.family_of[name],
            "settings": CONFIG.decoders[name].model_dump(),
            "checkpoint": model_file(model, "checkpoint.pt"),
            "assets": assets_of(model, name),
            "companions": companions_of(model, name),
            "trained": trained(model.entry),
        }
        for model, name in decoders
    ]


def checkpoints(decoders):
    """Return the checkpoints of timed decoders and what they need besides, each once."""
    files = [
        path
        for model, name in decoders
        for path in (
            model_file(model, "checkpoint.pt"),
            *companions_of(model, name).values(),
            *asset_files(model, name),
        )
    ]
    return list(dict.fromkeys(files))


def timed_threads():
    """Return the numbers of threads that are measured, as file names have them."""
    chosen = [str(count) for count in CONFIG.run.timed_threads]
    # "all" is left out where it would be a number that is measured anyway
    return [count for count in chosen if count != "all" or str(cores()) not in chosen]


def fewest_threads():
    """Return the least of them, which tables and figures of single sentences are about."""
    return fewest(timed_threads())


def test_splits():
    """Return (dataset, split) of everything that is tested."""
    return [
        (name, split) for name, row in CONFIG.datasets.items() for split in row.tests
    ]


TIMING = "{dataset}", "{split}", "{tier}", "{scenario}", "{threads}"  # as wildcards


def timing_path(*timing):
    """Return the path of a file of a timing: see fastdecode.config.timed.timing_file."""
    return f"{REPORT}/{timing_file(*timing)}"


def latency_files():
    """Return the timings of the run: of each tier that it decodes in."""
    return [
        timing_path(dataset, split, tier, scenario, threads, SUMMARY)
        for dataset, split in test_splits()
        for tier in ("reference", "optimised")
        if timed(dataset, tier)
        for scenario in CONFIG.run.latency.scenarios
        for threads in timed_threads()
    ]


def memory_files():
    """Return the memory measurements of the run: of what it trains."""
    return [
        f"{REPORT}/memory/{dataset}.{split}.json"
        for dataset, split in test_splits()
        if timed(dataset, untrained=False)
    ]


def reference_files(wildcards):
    """Return the target side of a split and its codes, for untrained systems."""
    decoders = timed(wildcards.dataset, wildcards.tier)
    if all(trained(model.entry) for model, _ in decoders):
        return []
    codes = f"{RESULTS}/{wildcards.dataset}/bpe/codes.target"
    return [corpus_file(wildcards, wildcards.split, "target"), codes]


# threads: workflow.cores, so that no other job runs beside a timing; slurm_extra, so that none of
# anybody's runs on its node of a cluster.
rule measure_machine:
    output:
        f"{REPORT}/machine.threads{{threads}}.json",
    threads: workflow.cores
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
        slurm_extra="--exclusive",
        gpu=int(CONFIG.run.device == "cuda"),
    params:
        device=CONFIG.run.device,
    message:
        "Measuring the memory bandwidth and matrix throughput of this machine, threads: {wildcards.threads}"
    script:
        "../scripts/measure_machine.py"


rule measure_latency:
    input:
        checkpoints=lambda w: checkpoints(timed(w.dataset, w.tier)),
        data=f"{RESULTS}/{{dataset}}/{RAW}/bin",
        codes=f"{RESULTS}/{{dataset}}/bpe/codes.source",
        lines=lambda w: corpus_file(w, w.split, "source", ".raw"),
        references=reference_files,
        machine=f"{REPORT}/machine.threads{{threads}}.json",
    output:
        summary=timing_path(*TIMING, SUMMARY),
        samples=timing_path(*TIMING, SAMPLES),
        stages=timing_path(*TIMING, STAGES),
    threads: workflow.cores
    resources:
        mem_mb=growing(8000, 3),
        runtime=lambda w, attempt: (
            attempt * timing_minutes(CONFIG, w.dataset, w.tier, w.scenario)
        ),
        slurm_extra="--exclusive",
        gpu=int(CONFIG.run.device == "cuda"),
    params:
        text=text_of,
        entries=lambda w: entries_of(timed(w.dataset, w.tier)),
        latency=lambda w: CONFIG.run.latency.of(w.scenario),
        device=CONFIG.run.device,
        precision=CONFIG.run.precision,
    message:
        "Timing the {wildcards.tier} tier on {wildcards.split} of {wildcards.dataset}: {wildcards.scenario}, threads: {wildcards.threads}"
    script:
        "../scripts/measure_latency.py"


rule measure_memory:
    input:
        checkpoints=lambda w: checkpoints(timed(w.dataset, untrained=False)),
        data=f"{RESULTS}/{{dataset}}/{RAW}/bin",
        codes=f"{RESULTS}/{{dataset}}/bpe/codes.source",
        lines=lambda w: corpus_file(w, w.split, "source", ".raw"),
    output:
        f"{REPORT}/memory/{{dataset}}.{{split}}.json",
    resources:
        mem_mb=growing(8000, 3),
        runtime=growing(240),
        gpu=int(CONFIG.run.device == "cuda"),
    params:
        text=text_of,
        entries=lambda w: entries_of(timed(w.dataset, untrained=False)),
        latency=CONFIG.run.latency.model_dump(exclude={"threads", "repeats", "warmup"}),
        device=CONFIG.run.device,
        precision=CONFIG.run.precision,
    message:
        "Measuring the memory that every decoder takes on {wildcards.split} of {wildcards.dataset}"
    script:
        "../scripts/measure_memory.py"
