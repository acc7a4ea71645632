"""Word alignment of the training text, raw and distilled."""


def alignment_errors():
    """Return the error of the links of every generated corpus, whose true ones are known."""
    return [
        f"{RESULTS}/{dataset}/{RAW}/align/error.json"
        for dataset, row in CONFIG.datasets.items()
        if CONFIG.corpora[row.corpus].generate
    ]


rule align_words:
    input:
        source=f"{RESULTS}/{{dataset}}/bpe/train.source.gz",
        target=lambda w: training_text(w, "target"),
    output:
        multiext(
            f"{RESULTS}/{{dataset}}/{{target}}/align/",
            "forward.gz",
            "backward.gz",
            "symmetrised.gz",
        ),
    threads: processes
    resources:
        mem_mb=growing(2000, 40),
        runtime=growing(30, 1),
    message:
        "Aligning {wildcards.dataset} with {wildcards.target} targets by FastAlign"
    script:
        "../scripts/align_words.py"


rule measure_alignment:
    input:
        links=multiext(
            f"{RESULTS}/{{dataset}}/{RAW}/align/",
            "forward.gz",
            "backward.gz",
            "symmetrised.gz",
        ),
        source=f"{RESULTS}/{{dataset}}/bpe/train.source.gz",
        target=f"{RESULTS}/{{dataset}}/bpe/train.target.gz",
        gold=lambda w: (
            f"{RESULTS}/corpora/{CONFIG.datasets[w.dataset].corpus}/raw/train.links.gz"
        ),
        kept=lambda w: f"{RESULTS}/corpora/{CONFIG.datasets[w.dataset].corpus}/train.kept.gz",
    output:
        f"{RESULTS}/{{dataset}}/{RAW}/align/error.json",
    localrule: True
    message:
        "Comparing alignments of {wildcards.dataset} with the true links"
    script:
        "../scripts/measure_alignment.py"
