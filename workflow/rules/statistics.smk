"""Statistics of trained systems beside their translations, and of the BPE of a dataset."""

from fastdecode.families import check_statistic, compares_with_teacher


def more_translations(wildcards):
    """Return a file with more right translations of a split, and the split as it was read."""
    key = corpus_of(wildcards).references.get(wildcards.split)
    sides = [
        corpus_file(wildcards, wildcards.split, s, ".raw") for s in ("source", "target")
    ]
    return [f"{DOWNLOADS}/{key}", *sides] if key else []


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
    return translations_file(teachers[0], wildcards.split, decoder)


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
        gpu_sharers=CONFIG.run.jobs_per_gpu,
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
