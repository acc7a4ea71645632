"""Quality from translations files: scores, tests of differences, and what has to agree."""

from fastdecode.config.resampled import decided_by


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


def decoded(dataset):
    """Return every reported model with every decoder of it."""
    return [
        (model, decoder)
        for model in CONFIG.selected()
        if model.dataset == dataset
        for decoder in CONFIG.decoders_of(model.entry)
    ]


def translated(wildcards):
    """Return the translations of a split by every reported model and decoder."""
    return [
        translations_file(model, wildcards.split, decoder)
        for model, decoder in decoded(wildcards.dataset)
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


rule compare_decoders:
    input:
        translations=translated,
        raw=lambda w: corpus_file(w, w.split, "target", ".raw"),
    output:
        f"{REPORT}/differences.{{dataset}}.{{split}}.csv",
    resources:
        mem_mb=growing(4000),
        runtime=growing(120),
    params:
        entries=lambda w: [
            f"{model.entry}/{decoder}" for model, decoder in decoded(w.dataset)
        ],
        drawn_as=lambda w: [
            decided_by(CONFIG, model, decoder) for model, decoder in decoded(w.dataset)
        ],
        language=lambda w: corpus_of(w).target,
        lowercase=lambda w: corpus_of(w).lowercase,
    message:
        "Differences in BLEU between any two decoders, {wildcards.split} of {wildcards.dataset}"
    script:
        "../scripts/compare_decoders.py"


def twins(dataset):
    """Return (model, decoder, model and decoder that have to write the same).

    These are the naive twin of an optimised decoder and, of a lossless one, the search of another
    model that it repeats.
    """
    pairs = []
    for model, decoder in decoded(dataset):
        if twin := CONFIG.twin(decoder, model.entry):
            pairs.append((model, decoder, model, twin))
        if repeated := CONFIG.repeated(decoder, model):
            pairs.append((model, decoder, *repeated))
    return pairs


rule compare_twins:
    input:
        translations=lambda w: [
            translations_file(model, w.split, decoder)
            for model, decoder, *_ in twins(w.dataset)
        ],
        twins=lambda w: [
            translations_file(model, w.split, twin)
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
