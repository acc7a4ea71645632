"""Training, one rule for every system; and what is not trained, for timing alone."""


def training_minutes(wildcards):
    """Return how long a training may take: what its tokens take at a modest speed, but a day.

    The day is what clusters commonly allow. A training that needs longer is ended and started
    again, and goes on from its last checkpoint.
    """
    settings = CONFIG.training(wildcards.dataset, wildcards.system)
    if not settings.max_updates:
        return 24 * 60
    tokens = settings.max_updates * settings.accumulate * settings.batch_tokens
    a_minute = 60 * (10_000 if CONFIG.run.device == "cuda" else 500)
    return min(24 * 60, 60 + tokens // a_minute)


def training_threads(wildcards):
    """Return the threads of all processes of a training."""
    settings = CONFIG.training(wildcards.dataset, wildcards.system)
    return settings.threads * settings.gpus


# Of fastdecode.train.job.Job, whether or not it is trained.
MODEL_PARAMS = {
    "source": lambda w: corpus_of(w).source,
    "target": lambda w: corpus_of(w).target,
    "joint": lambda w: CONFIG.datasets[w.dataset].bpe.joint,
    "family": lambda w: CONFIG.family_of[w.system],
    "architecture": lambda w: asdict(CONFIG.architecture(w.dataset, w.system)),
    "options": lambda w: CONFIG.systems[w.system].options(),
    "training": lambda w: CONFIG.training(w.dataset, w.system).model_dump(),
}


rule train_system:
    input:
        data=f"{RESULTS}/{{dataset}}/{{target}}/bin",
        assets=lambda w: asset_files(model_of(w)),
        companions=lambda w: list(companions_of(model_of(w)).values()),
    output:
        checkpoint=f"{MODEL}/checkpoint.pt",
        curve=f"{MODEL}/curve.csv",
        record=f"{MODEL}/train.json",
    wildcard_constraints:
        system=any_of(CONFIG.recipes),
    threads: training_threads
    resources:
        # of every process; a training that goes on after a day has many attempts, and needs no more
        mem_mb=lambda w, attempt: (
            min(attempt, 3) * 8000 * CONFIG.training(w.dataset, w.system).gpus
        ),
        runtime=training_minutes,
        gpu=lambda w: (
            CONFIG.training(w.dataset, w.system).gpus
            if CONFIG.run.device == "cuda"
            else 0
        ),
        gpu_sharers=CONFIG.run.jobs_per_gpu,
    params:
        **MODEL_PARAMS,
        assets=lambda w: assets_of(model_of(w)),
        companions=lambda w: companions_of(model_of(w)),
        device=CONFIG.run.device,
        provenance=lambda w: provenance_of(w),
    message:
        "Training {wildcards.system} on {wildcards.target} targets of {wildcards.dataset}, seed {wildcards.seed}"
    script:
        "../scripts/train_system.py"


rule build_untrained:
    input:
        data=f"{RESULTS}/{{dataset}}/{RAW}/bin",
    output:
        checkpoint=f"{RESULTS}/{{dataset}}/{UNTRAINED}/{{system}}/seed{{seed}}/checkpoint.pt",
        record=f"{RESULTS}/{{dataset}}/{UNTRAINED}/{{system}}/seed{{seed}}/train.json",
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        **MODEL_PARAMS,
        provenance=lambda w: {
            "dataset": w.dataset,
            "target": UNTRAINED,
            "system": w.system,
            "seed": int(w.seed),
            "device": "cpu",
        },
    message:
        "Drawing random weights of {wildcards.system} for {wildcards.dataset}"
    script:
        "../scripts/build_untrained.py"


rule record_ensemble:
    input:
        lambda w: [
            model_file(model, "train.json") for model in CONFIG.members(model_of(w))
        ],
    output:
        f"{MODEL}/train.json",
    wildcard_constraints:
        system=any_of(CONFIG.ensembles),
    localrule: True
    params:
        provenance=lambda w: provenance_of(w),
    message:
        "Recording the ensemble {wildcards.system} of {wildcards.dataset}"
    script:
        "../scripts/record_ensemble.py"
