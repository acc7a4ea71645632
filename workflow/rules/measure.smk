"""Measuring: quality from a translations file, latency of all decoders in one process."""


def right_translations(wildcards):
    """Return the file of all right translations of a split, for a corpus that knows them."""
    if not corpus_of(wildcards).generate:
        return []
    name = CONFIG.datasets[wildcards.dataset].corpus
    return f"{RESULTS}/corpora/{name}/raw/{wildcards.split}.references.jsonl.gz"


rule measure_quality:
    input:
        translations=f"{MODEL}/{{split}}.{{decoder}}.jsonl.gz",
        raw=lambda w: corpus_file(w, w.split, "target", ".raw"),
        tokenised=lambda w: corpus_file(w, w.split, "target"),
        references=right_translations,
    output:
        f"{MODEL}/{{split}}.{{decoder}}.quality.json",
    params:
        language=lambda w: corpus_of(w).target,
        lowercase=lambda w: corpus_of(w).lowercase,
        seed=lambda w: corpus_of(w).seed,
    message:
        "Scoring {wildcards.split} of {wildcards.dataset}: {wildcards.target}/{wildcards.system} seed {wildcards.seed}, {wildcards.decoder}"
    script:
        "../scripts/measure_quality.py"


def timed_systems(wildcards):
    """Return the models of the first seed whose decoders are timed side by side."""
    first = CONFIG.run.seeds[0]
    return [
        model
        for model in CONFIG.selected()
        if model.dataset == wildcards.dataset and model.seed == first
    ]


# threads: workflow.cores, so that no other job runs beside a timing.
rule measure_latency:
    input:
        checkpoints=lambda w: [model_file(m, "checkpoint.pt") for m in timed_systems(w)],
        data=f"{RESULTS}/{{dataset}}/{RAW}/bin",
        codes=f"{RESULTS}/{{dataset}}/bpe/codes.source",
        lines=lambda w: corpus_file(w, w.split, "source", ".raw"),
    output:
        summary=f"{REPORT}/latency/{{dataset}}.{{split}}.json",
        samples=f"{REPORT}/latency/{{dataset}}.{{split}}.samples.csv",
    threads: workflow.cores
    resources:
        gpu=int(CONFIG.run.device == "cuda"),
    params:
        text=text_of,
        models=lambda w: [asdict(model) for model in timed_systems(w)],
        decoders=lambda w: {
            model.system: {
                name: CONFIG.decoders[name].model_dump()
                for name in CONFIG.decoders_of(model.system)
            }
            for model in timed_systems(w)
        },
        family=CONFIG.family_of,
        latency=CONFIG.run.latency.model_dump(),
        device=CONFIG.run.device,
    message:
        "Timing every decoder on {wildcards.split} of {wildcards.dataset}, one sentence at a time"
    script:
        "../scripts/measure_latency.py"
