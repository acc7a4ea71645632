"""The language model of the dag family's beam search, over the BPE tokens of a target side."""

from fastdecode.families.dag.ngrams import KENLM


rule build_kenlm:
    output:
        directory(f"{RESULTS}/tools/kenlm"),
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        version=KENLM,
    message:
        "Building KenLM's lmplz and build_binary, unless they are on PATH"
    script:
        "../scripts/build_kenlm.py"


rule estimate_language_model:
    input:
        text=lambda w: training_text(w, "target"),
        tools=f"{RESULTS}/tools/kenlm",
    output:
        f"{RESULTS}/{{dataset}}/{{target}}/lm/5gram.binary",
    resources:
        mem_mb=growing(4000, 60),
        runtime=growing(60, 0.5),
    message:
        "Estimating a 5-gram model of {wildcards.dataset} with {wildcards.target} targets"
    script:
        "../scripts/estimate_language_model.py"
