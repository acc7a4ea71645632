"""Translating the test splits with every system and decoder."""


def text_of(wildcards):
    """Return what turns the dataset's raw lines into tokens: languages and conventions."""
    return corpus_of(wildcards).text


def checkpoints_to_decode(wildcards):
    """Return the checkpoints to decode. Ends the run if the decoder does not fit the system."""
    with clear_errors():
        check_fits(CONFIG, wildcards.decoder, wildcards.system, "decoder")
    members = CONFIG.members(model_of(wildcards))
    return [model_file(model, "checkpoint.pt") for model in members]


rule translate_split:
    input:
        checkpoints=checkpoints_to_decode,
        data=f"{RESULTS}/{{dataset}}/{RAW}/bin",
        codes=f"{RESULTS}/{{dataset}}/bpe/codes.source",
        lines=lambda w: corpus_file(w, w.split, "source", ".raw"),
        assets=lambda w: asset_files(model_of(w), w.decoder),
        companions=lambda w: list(companions_of(model_of(w), w.decoder).values()),
    output:
        f"{MODEL}/{{split}}.{{decoder}}.jsonl.gz",
    resources:
        mem_mb=growing(8000, 10),
        runtime=growing(120),
        gpu=int(CONFIG.run.device == "cuda"),
        gpu_sharers=CONFIG.run.jobs_per_gpu,
    params:
        text=text_of,
        family=lambda w: CONFIG.family_of[w.decoder],
        decoder=lambda w: CONFIG.decoders[w.decoder].model_dump(),
        device=CONFIG.run.device,
        precision=CONFIG.run.precision,
        assets=lambda w: assets_of(model_of(w), w.decoder),
        companions=lambda w: companions_of(model_of(w), w.decoder),
        provenance=lambda w: provenance_of(
            w, precision=CONFIG.decoders[w.decoder].precision(CONFIG.run.precision)
        ),
    message:
        "Translating {wildcards.split} of {wildcards.dataset}: {wildcards.target}/{wildcards.system} seed {wildcards.seed}, {wildcards.decoder}"
    script:
        "../scripts/translate_split.py"
