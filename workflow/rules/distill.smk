"""Distillation: a teacher, or an ensemble, translates the training set in parts."""


def teacher_files(wildcards, name):
    """Return a file of every model that distils this target."""
    teachers = CONFIG.teachers(wildcards.dataset, wildcards.target)
    return [model_file(teacher, name) for teacher in teachers]


def shard_files(wildcards):
    """Return the parts of a distilled target."""
    count = CONFIG.datasets[wildcards.dataset].distill_shards
    folder = f"{RESULTS}/{wildcards.dataset}/{wildcards.target}/shards"
    return [f"{folder}/{shard}of{count}.gz" for shard in range(count)]


rule distill_shard:
    input:
        checkpoints=lambda w: teacher_files(w, "checkpoint.pt"),
        data=f"{RESULTS}/{{dataset}}/{RAW}/bin",
        source=f"{RESULTS}/{{dataset}}/bpe/train.source.gz",
    output:
        temp(f"{RESULTS}/{{dataset}}/{{target}}/shards/{{shard}}of{{shards}}.gz"),
    wildcard_constraints:
        shard=r"\d+",
        shards=r"\d+",
    priority: 1  # students wait for all of them, and raw models for none
    resources:
        mem_mb=growing(8000, 10),
        runtime=growing(60, 1),
        gpu=int(CONFIG.run.device == "cuda"),
        gpu_sharers=CONFIG.run.jobs_per_gpu,
    params:
        family=CONFIG.family_of[CONFIG.run.distill_decoder],
        decoder=CONFIG.decoders[CONFIG.run.distill_decoder].model_dump(),
        device=CONFIG.run.device,
        precision=CONFIG.run.precision,
    message:
        "Distilling {wildcards.dataset} with {wildcards.target}, part {wildcards.shard} (from 0) of {wildcards.shards}"
    script:
        "../scripts/distill_shard.py"


rule join_shards:
    input:
        shards=shard_files,
        checkpoints=lambda w: teacher_files(w, "checkpoint.pt"),
        source=f"{RESULTS}/{{dataset}}/bpe/train.source.gz",
    output:
        text=f"{RESULTS}/{{dataset}}/{{target}}/train.target.gz",
        provenance=f"{RESULTS}/{{dataset}}/{{target}}/provenance.json",
    localrule: True
    params:
        decoder=CONFIG.decoders[CONFIG.run.distill_decoder].model_dump(),
        decoder_name=CONFIG.run.distill_decoder,
        device=CONFIG.run.device,
    message:
        "Joining the parts of {wildcards.dataset} as {wildcards.target} distilled it"
    script:
        "../scripts/join_shards.py"
