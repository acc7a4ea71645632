"""Measuring: quality from translations files, speed and memory of all decoders side by side."""

from fastdecode.config.papers import trained
from fastdecode.config.timed import (
    SAMPLES,
    STAGES,
    SUMMARY,
    fewest,
    timed as timed_decoders,
    timing_file,
)
from fastdecode.families import check_statistic, compares_with_teacher
from fastdecode.provenance import cores


def right_translations(wildcards):
    """Return the file of all right translations of a split, for a corpus that knows them."""
    if not corpus_of(wildcards).generate:
        return []
    name = CONFIG.datasets[wildcards.dataset].corpus
    return f"{RESULTS}/corpora/{name}/raw/{wildcards.split}.references.jsonl.gz"


def more_translations(wildcards):
    """Return a file with more right translations of a split, and the split as it was read."""
    key = corpus_of(wildcards).references.get(wildcards.split)
    sides = [
        corpus_file(wildcards, wildcards.split, s, ".raw") for s in ("source", "target")
    ]
    return [f"{DOWNLOADS}/{key}", *sides] if key else []


rule measure_quality:
    input:
        translations=f"{MODEL}/{{split}}.{{decoder}}.jsonl.gz",
        raw=lambda w: corpus_file(w, w.split, "target", ".raw"),
        tokenised=lambda w: corpus_file(w, w.split, "target"),
        references=right_translations,
    output:
        f"{MODEL}/{{split}}.{{decoder}}.quality.json",
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        language=lambda w: corpus_of(w).target,
        lowercase=lambda w: corpus_of(w).lowercase,
        seed=lambda w: corpus_of(w).seed,
    message:
        "Scoring {wildcards.split} of {wildcards.dataset}: {wildcards.target}/{wildcards.system} seed {wildcards.seed}, {wildcards.decoder}"
    script:
        "../scripts/measure_quality.py"


def measured_family(wildcards):
    """Return the family of a system. Ends the run if it has no such statistic."""
    family = CONFIG.family_of[wildcards.system]
    with clear_errors():
        check_statistic(family, wildcards.statistic, wildcards.system)
    return family


def teacher_translations(wildcards):
    """Return the file of what the teacher of a distilled target makes of a split.

    Only if the statistic compares with it, if it is one model, no ensemble, and if it is there
    anyway: where its targets are given, it may not be, nor decoded as the run's teachers are.
    """
    teachers = CONFIG.teachers(wildcards.dataset, wildcards.target)
    family = CONFIG.family_of[wildcards.system]
    if len(teachers) != 1 or not compares_with_teacher(family, wildcards.statistic):
        return []
    given = CONFIG.run.given
    if f"{wildcards.dataset}/{wildcards.target}" in given.distilled and not (
        teachers[0] in CONFIG.selected() or str(teachers[0].folder) in given.models
    ):
        return []
    decoder = CONFIG.run.distill_decoder
    if not CONFIG.fits(decoder, teachers[0].system):  # another wrote what is given
        return []
    return model_file(teachers[0], f"{wildcards.split}.{decoder}.jsonl.gz")


def measured_with(wildcards):
    """Return the checkpoints of the systems that a statistic needs besides, by system."""
    return checkpoints_of(CONFIG.measured_with(model_of(wildcards)))


rule measure_statistic:
    input:
        checkpoint=f"{MODEL}/checkpoint.pt",
        assets=lambda w: asset_files(model_of(w)),
        companions=lambda w: list(measured_with(w).values()),
        data=f"{RESULTS}/{{dataset}}/{RAW}/bin",
        codes=[
            f"{RESULTS}/{{dataset}}/bpe/codes.{side}" for side in ("source", "target")
        ],
        source=lambda w: corpus_file(w, w.split, "source"),
        target=lambda w: corpus_file(w, w.split, "target"),
        teacher=teacher_translations,
        references=lambda w: right_translations(w) if w.statistic == "samples" else [],
        more=lambda w: more_translations(w) if w.statistic == "samples" else [],
    output:
        f"{MODEL}/{{split}}.{{statistic}}.statistic.json",
    wildcard_constraints:
        statistic="[a-z_]+",
    resources:
        mem_mb=growing(8000, 10),
        runtime=growing(120),
        gpu=int(CONFIG.run.device == "cuda"),
    params:
        family=measured_family,
        device=CONFIG.run.device,
        precision=CONFIG.run.precision,
        assets=lambda w: assets_of(model_of(w)),
        text=text_of,
        companions=measured_with,
        provenance=lambda w: provenance_of(w, precision=CONFIG.run.precision),
    message:
        "Measuring {wildcards.statistic} on {wildcards.split} of {wildcards.dataset}: {wildcards.target}/{wildcards.system} seed {wildcards.seed}"
    script:
        "../scripts/measure_statistic.py"


rule measure_subwords:
    input:
        texts=lambda w: [corpus_file(w, w.split, side) for side in ("source", "target")],
        codes=[
            f"{RESULTS}/{{dataset}}/bpe/codes.{side}" for side in ("source", "target")
        ],
        data=f"{RESULTS}/{{dataset}}/{RAW}/bin",
    output:
        f"{RESULTS}/{{dataset}}/bpe/{{split}}.subwords.json",
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        corpus=lambda w: CONFIG.datasets[w.dataset].corpus,
        languages=lambda w: {
            side: getattr(corpus_of(w), side) for side in ("source", "target")
        },
        merges=lambda w: CONFIG.datasets[w.dataset].bpe.merges,
    message:
        "Counting subwords in {wildcards.split} of {wildcards.dataset}"
    script:
        "../scripts/measure_subwords.py"


def translated(wildcards):
    """Return the translations of a split by every reported model and decoder."""
    return [
        model_file(model, f"{wildcards.split}.{decoder}.jsonl.gz")
        for model in CONFIG.selected()
        if model.dataset == wildcards.dataset
        for decoder in CONFIG.decoders_of(model.entry)
    ]


rule compare_quality:
    input:
        translations=translated,
        raw=lambda w: corpus_file(w, w.split, "target", ".raw"),
    output:
        f"{REPORT}/significance/{{dataset}}.{{split}}.json",
    resources:
        mem_mb=growing(4000),
        runtime=growing(120),
    params:
        baselines=[CONFIG.run.speedup_over.reference],
        language=lambda w: corpus_of(w).target,
        lowercase=lambda w: corpus_of(w).lowercase,
    message:
        "Testing the quality of every system on {wildcards.split} of {wildcards.dataset} against {params.baselines}"
    script:
        "../scripts/compare_quality.py"


def twins(dataset):
    """Return (model, decoder, model and decoder that have to write the same).

    These are the naive twin of an optimised decoder and, of a lossless one, the search of another
    model that it repeats.
    """
    decoded = [
        (model, decoder)
        for model in CONFIG.selected()
        if model.dataset == dataset
        for decoder in CONFIG.decoders_of(model.entry)
    ]
    pairs = []
    for model, decoder in decoded:
        if twin := CONFIG.twin(decoder, model.entry):
            pairs.append((model, decoder, model, twin))
        if repeated := CONFIG.repeated(decoder, model):
            pairs.append((model, decoder, *repeated))
    return pairs


rule compare_twins:
    input:
        translations=lambda w: [
            model_file(model, f"{w.split}.{decoder}.jsonl.gz")
            for model, decoder, *_ in twins(w.dataset)
        ],
        twins=lambda w: [
            model_file(model, f"{w.split}.{twin}.jsonl.gz")
            for *_, model, twin in twins(w.dataset)
        ],
    output:
        json=f"{REPORT}/agreement/{{dataset}}.{{split}}.json",
        md=report(
            f"{REPORT}/agreement.{{dataset}}.{{split}}.md",
            category="Speed",
            subcategory="{dataset}",
            labels={"split": "{split}", "what": "decoders that have to agree"},
        ),
    localrule: True
    message:
        "Comparing decoders that have to agree on {wildcards.split} of {wildcards.dataset}"
    script:
        "../scripts/compare_twins.py"


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
    chosen = [str(count) for count in CONFIG.run.latency.threads]
    if CONFIG.run.device == "cuda":
        return chosen[:1]
    # "all" is left out where it would be a number that is measured anyway
    return [count for count in chosen if count != "all" or str(cores()) not in chosen]


def fewest_threads():
    """Return the least of them, which tables and figures of single sentences are about."""
    return fewest(timed_threads(), cores())


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
        f"{REPORT}/machine.json",
    threads: workflow.cores
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
        slurm_extra="--exclusive",
        gpu=int(CONFIG.run.device == "cuda"),
    params:
        device=CONFIG.run.device,
        threads=timed_threads(),
    message:
        "Measuring the memory bandwidth and matrix throughput of this machine"
    script:
        "../scripts/measure_machine.py"


rule measure_latency:
    input:
        checkpoints=lambda w: checkpoints(timed(w.dataset, w.tier)),
        data=f"{RESULTS}/{{dataset}}/{RAW}/bin",
        codes=f"{RESULTS}/{{dataset}}/bpe/codes.source",
        lines=lambda w: corpus_file(w, w.split, "source", ".raw"),
        references=reference_files,
        machine=f"{REPORT}/machine.json",
    output:
        summary=timing_path(*TIMING, SUMMARY),
        samples=timing_path(*TIMING, SAMPLES),
        stages=timing_path(*TIMING, STAGES),
    threads: workflow.cores
    resources:
        mem_mb=growing(8000, 10),
        runtime=growing(240),
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
        mem_mb=growing(8000, 10),
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
