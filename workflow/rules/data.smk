"""From downloads to binarised data: fetch, extract, tokenise and clean, BPE, binarise."""

from fastdecode.config.corpora import DOWNLOADS


rule fetch_download:
    output:
        f"{DOWNLOADS}/{{key}}",
    wildcard_constraints:
        key=any_of(CONFIG.downloads),
    localrule: True
    params:
        # read by nobody: bytes that have to be others are a reason to fetch again
        expected=lambda w: CONFIG.downloads[w.key].model_dump(
            include={"bytes", "sha256"}
        ),
    message:
        "Fetching {wildcards.key}"
    script:
        "../scripts/fetch_download.py"


# A file that is missing is said at once: where its text was extracted before, Snakemake would go on
# with that.
with clear_errors():
    for name, corpus in CONFIG.corpora.items():
        corpus.check_files(CONFIG.file_of("corpora", name))

# What of a corpus decides none of its text: it is for estimates and statistics alone.
ELSEWHERE = {"pairs", "words", "references"}


def own_files(corpus):
    """Return a parameter that nobody reads, if a corpus has files of the user's own: see `seen`."""
    if not any(map(corpus.paths, corpus.splits)):
        return {}
    return {"seen": lambda w: seen(*corpus.paths(w.split))}


# One pair of rules a corpus, because file names carry its two languages.
for name, corpus in CONFIG.corpora.items():

    rule:
        name:
            f"extract_{name}"
        input:
            lambda w, corpus=corpus: [
                *(f"{DOWNLOADS}/{key}" for key in corpus.downloads(w.split)),
                *map(str, corpus.paths(w.split)),
            ],
        output:
            source=f"{RESULTS}/corpora/{name}/raw/{{split}}.{corpus.source}.gz",
            target=f"{RESULTS}/corpora/{name}/raw/{{split}}.{corpus.target}.gz",
        wildcard_constraints:
            split=any_of(corpus.splits),
        resources:
            mem_mb=growing(2000, 2),
            runtime=growing(30, 0.1),
        params:
            **own_files(corpus),
            corpus=corpus.model_dump(mode="json", exclude={*ELSEWHERE, "clean"}),
        message:
            f"Extracting {{wildcards.split}} of {name}"
        script:
            "../scripts/extract_split.py"

    rule:
        name:
            f"prepare_{name}"
        input:
            [
                f"{RESULTS}/corpora/{name}/raw/{split}.{language}.gz"
                for split in corpus.split_names
                if split not in corpus.holdout
                for language in (corpus.source, corpus.target)
            ],
        output:
            text=[
                f"{RESULTS}/corpora/{name}/{split}.{language}.gz"
                for split in corpus.split_names
                for language in (corpus.source, corpus.target)
            ],
            raw=[
                f"{RESULTS}/corpora/{name}/{split}.raw.{language}.gz"
                for split in corpus.split_names
                if split != "train"
                for language in (corpus.source, corpus.target)
            ],
            kept=f"{RESULTS}/corpora/{name}/train.kept.gz",
            report=f"{RESULTS}/corpora/{name}/report.json",
        threads: 2
        resources:
            mem_mb=growing(2000, 20),
            runtime=growing(30, 0.5),
        params:
            corpus=corpus.model_dump(mode="json", exclude=ELSEWHERE),
        message:
            f"Tokenising and cleaning {name}"
        script:
            "../scripts/prepare_corpus.py"


rule generate_toy:
    output:
        multiext(
            f"{RESULTS}/corpora/{{corpus}}/raw/train", ".en.gz", ".de.gz", ".links.gz"
        ),
        multiext(
            f"{RESULTS}/corpora/{{corpus}}/raw/valid",
            ".en.gz",
            ".de.gz",
            ".links.gz",
            ".references.jsonl.gz",
        ),
        multiext(
            f"{RESULTS}/corpora/{{corpus}}/raw/test",
            ".en.gz",
            ".de.gz",
            ".links.gz",
            ".references.jsonl.gz",
        ),
    wildcard_constraints:
        corpus=any_of(name for name, row in CONFIG.corpora.items() if row.generate),
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        seed=lambda w: CONFIG.corpora[w.corpus].seed,
    message:
        "Writing the toy corpus"
    script:
        "../scripts/generate_toy.py"


rule learn_bpe:
    input:
        source=lambda w: corpus_file(w, "train", "source"),
        target=lambda w: corpus_file(w, "train", "target"),
    output:
        source=f"{RESULTS}/{{dataset}}/bpe/codes.source",
        target=f"{RESULTS}/{{dataset}}/bpe/codes.target",
    resources:
        mem_mb=growing(2000, 20),
        runtime=growing(30, 0.5),
    params:
        bpe=lambda w: CONFIG.datasets[w.dataset].bpe.model_dump(),
    message:
        "Learning BPE on {wildcards.dataset}"
    script:
        "../scripts/learn_bpe.py"


rule apply_bpe:
    input:
        text=lambda w: corpus_file(
            w, {"valid": CONFIG.datasets[w.dataset].valid}.get(w.part, w.part), w.side
        ),
        codes=f"{RESULTS}/{{dataset}}/bpe/codes.{{side}}",
    output:
        f"{RESULTS}/{{dataset}}/bpe/{{part}}.{{side}}.gz",
    wildcard_constraints:
        part="train|valid",
    threads: processes
    resources:
        mem_mb=growing(2000, 5),
        runtime=growing(30, 0.3),
    message:
        "Applying BPE to the {wildcards.side} of {wildcards.part} of {wildcards.dataset}"
    script:
        "../scripts/apply_bpe.py"


# A distilled target shares the dictionaries of the raw one.
rule binarise_dataset:
    input:
        train=lambda w: [training_text(w, side) for side in ("source", "target")],
        valid=[
            f"{RESULTS}/{{dataset}}/bpe/valid.{side}.gz"
            for side in ("source", "target")
        ],
        dictionaries=lambda w: (
            [] if w.target == RAW else f"{RESULTS}/{w.dataset}/{RAW}/bin"
        ),
    output:
        directory(f"{RESULTS}/{{dataset}}/{{target}}/bin"),
    threads: processes
    resources:
        mem_mb=growing(2000, 10),
        runtime=growing(30, 0.2),
    params:
        source=lambda w: corpus_of(w).source,
        target=lambda w: corpus_of(w).target,
        joint=lambda w: CONFIG.datasets[w.dataset].bpe.joint,
    message:
        "Binarising {wildcards.dataset} with {wildcards.target} targets"
    script:
        "../scripts/binarise_dataset.py"
