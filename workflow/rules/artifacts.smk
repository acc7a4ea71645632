"""Tables and figures of the papers: made of the run's measurements, published numbers beside."""

from itertools import chain

from fastdecode.config.artifacts import compared, curves, parts, statistics
from fastdecode.config.functions import traits

ARTIFACTS = {
    f"{paper}.{name}": artifact
    for paper, row in CONFIG.papers.items()
    for name, artifact in row.artifacts.items()
}


wildcard_constraints:
    artifact=any_of(ARTIFACTS),


def artifact_files():
    """Return every artifact of the run's papers."""
    kinds = {"table": ("csv", "md", "tex"), "figure": ("csv", "svg", "png", "pdf")}
    return [
        f"{REPORT}/{name}.{kind}"
        for name, artifact in ARTIFACTS.items()
        for kind in (*kinds[artifact.kind], *(("html",) if artifact.page else ()))
    ]


def wanted_figures(wildcards):
    """Return the same, and the claims. Ends the run if its `papers:` names none."""
    if not ARTIFACTS:
        raise SystemExit(
            "error: papers: names none: add --config papers=[lattice], or take a run of a paper, "
            "such as --configfile config/runs/toy-lattice.yaml"
        )
    return artifact_files() + claim_files()


# snakemake figures --config papers=[lattice]: one paper, of a run that may be about several
rule figures:
    input:
        wanted_figures,
    localrule: True
    message:
        "Tables and figures of the papers are there"


def statistic_files(artifact):
    """Return the statistics that an artifact is made of."""
    return [
        statistic_file(model, split, name)
        for model, split, name in statistics(CONFIG, artifact)
    ]


def made_of_files():
    """Return all that the run's tables and figures are made of: records, translations, numbers."""
    measured = measured_files()
    scored = [path.removesuffix(".quality.json") for path in measured["quality"]]
    counted = map(statistic_files, ARTIFACTS.values())
    texts = [f"{path}.jsonl.gz" for path in scored]
    return list(dict.fromkeys(chain(*measured.values(), texts, *counted)))


def timed_alone(dataset, tier):
    """Tell whether anything of a tier is timed one sentence at a time."""
    return "S1" in CONFIG.run.latency.scenarios and bool(timed(dataset, tier))


def stage_files(artifact):
    """Return the stages of every sentence timed alone by dataset, for what shows them."""
    threads = fewest_threads()
    return {
        dataset: timing_path(dataset, part["timed"], "reference", "S1", threads, STAGES)
        for dataset, part in parts(CONFIG, artifact).items()
        if traits(artifact.function).stages and timed_alone(dataset, "reference")
    }


def curve_models(wildcards):
    """Return the models whose learning curves an artifact shows."""
    return curves(CONFIG, ARTIFACTS[wildcards.artifact])


def subword_files(wildcards):
    """Return what the BPE of every dataset comes to, for an artifact that shows it."""
    artifact = ARTIFACTS[wildcards.artifact]
    return [
        f"{RESULTS}/{dataset}/bpe/{part['timed']}.subwords.json"
        for dataset, part in parts(CONFIG, artifact).items()
        if traits(artifact.function).subwords
    ]


def sample_files(artifact):
    """Return the times of every sentence timed alone, by dataset and tier, for what shows them."""
    threads = fewest_threads()
    return {
        dataset: {
            tier: timing_path(dataset, part["timed"], tier, "S1", threads, SAMPLES)
            for tier in artifact.tiers
            if traits(artifact.function).samples and timed_alone(dataset, tier)
        }
        for dataset, part in parts(CONFIG, artifact).items()
    }


def comparison_files(wildcards):
    """Return the tests of an artifact's rows against some of them, by dataset."""
    artifact = ARTIFACTS[wildcards.artifact]
    return [
        f"{REPORT}/significance/{wildcards.artifact}.{dataset}.{part['split']}.json"
        for dataset, part in parts(CONFIG, artifact).items()
        if any(part["against"])
    ]


rule compare_rows:
    input:
        translations=lambda w: [
            translations_file(model, w.split, decoder)
            for model, decoder in compared(CONFIG, ARTIFACTS[w.artifact], w.dataset)
        ],
        raw=lambda w: corpus_file(w, w.split, "target", ".raw"),
    output:
        f"{REPORT}/significance/{{artifact}}.{{dataset}}.{{split}}.json",
    resources:
        mem_mb=growing(4000),
        runtime=growing(120),
    params:
        baselines=lambda w: [
            entry
            for entry in parts(CONFIG, ARTIFACTS[w.artifact])[w.dataset]["against"]
            if entry
        ],
        language=lambda w: corpus_of(w).target,
        lowercase=lambda w: corpus_of(w).lowercase,
    message:
        "Testing the rows of {wildcards.artifact} on {wildcards.split} of {wildcards.dataset}"
    script:
        "../scripts/compare_quality.py"


def labelled(wildcards):
    """Return what a report says about an artifact."""
    return {"artifact": wildcards.artifact.partition(".")[2]}


rule make_artifact:
    input:
        tidy=f"{REPORT}/measurements.csv",
        statistics=lambda w: statistic_files(ARTIFACTS[w.artifact]),
        comparisons=comparison_files,
        stages=lambda w: list(stage_files(ARTIFACTS[w.artifact]).values()),
        curves=lambda w: [model_file(model, "curve.csv") for model in curve_models(w)],
        subwords=subword_files,
        samples=lambda w: [
            path
            for files in sample_files(ARTIFACTS[w.artifact]).values()
            for path in files.values()
        ],
    output:
        f"{REPORT}/{{artifact}}.csv",
    localrule: True
    params:
        artifact=lambda w: ARTIFACTS[w.artifact].model_dump(),
        parts=lambda w: parts(CONFIG, ARTIFACTS[w.artifact]),
        stages=lambda w: stage_files(ARTIFACTS[w.artifact]),
        curves=lambda w: [asdict(model) for model in curve_models(w)],
        samples=lambda w: sample_files(ARTIFACTS[w.artifact]),
    message:
        "Numbers of {wildcards.artifact}"
    script:
        "../scripts/make_artifact.py"


rule tabulate_artifact:
    input:
        f"{REPORT}/{{artifact}}.csv",
    output:
        md=report(
            f"{REPORT}/{{artifact}}.md",
            category=lambda w: f"Paper: {w.artifact.partition('.')[0]}",
            labels=labelled,
        ),
        tex=f"{REPORT}/{{artifact}}.tex",
    localrule: True
    params:
        artifact=lambda w: ARTIFACTS[w.artifact].model_dump(),
    message:
        "Table {wildcards.artifact}"
    script:
        "../scripts/tabulate_artifact.py"


rule print_page:
    input:
        f"{REPORT}/{{artifact}}.csv",
    output:
        report(
            f"{REPORT}/{{artifact}}.html",
            category=lambda w: f"Paper: {w.artifact.partition('.')[0]}",
            labels=labelled,
        ),
    localrule: True
    params:
        artifact=lambda w: ARTIFACTS[w.artifact].model_dump(),
    message:
        "Page of table {wildcards.artifact}"
    script:
        "../scripts/print_page.py"


rule draw_artifact:
    input:
        f"{REPORT}/{{artifact}}.csv",
    output:
        svg=report(
            f"{REPORT}/{{artifact}}.svg",
            category=lambda w: f"Paper: {w.artifact.partition('.')[0]}",
            labels=labelled,
        ),
        png=f"{REPORT}/{{artifact}}.png",
        pdf=f"{REPORT}/{{artifact}}.pdf",
    localrule: True
    params:
        artifact=lambda w: ARTIFACTS[w.artifact].model_dump(),
    message:
        "Figure {wildcards.artifact}"
    script:
        "../scripts/draw_artifact.py"
