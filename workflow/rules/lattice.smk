"""The count tables of the lattice family, and how long its translations are."""


# A distilled target shares the dictionaries of the raw one.
rule count_lattice:
    input:
        source=f"{RESULTS}/{{dataset}}/bpe/train.source.gz",
        target=lambda w: training_text(w, "target"),
        links=f"{RESULTS}/{{dataset}}/{{target}}/align/symmetrised.gz",
        dictionaries=f"{RESULTS}/{{dataset}}/{RAW}/bin",
    output:
        tables=directory(f"{RESULTS}/{{dataset}}/{{target}}/counts/tables"),
        lengths=f"{RESULTS}/{{dataset}}/{{target}}/counts/lengths.json",
    resources:
        mem_mb=growing(2000, 40),
        runtime=growing(30, 0.5),
    params:
        source=lambda w: corpus_of(w).source,
        target=lambda w: corpus_of(w).target,
    message:
        "Counting the lattice tables of {wildcards.dataset} with {wildcards.target} targets"
    script:
        "../scripts/count_lattice.py"
