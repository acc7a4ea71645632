"""Claims of the papers: judged from the cells of their tables and figures."""

from functools import cache

from fastdecode.config.artifacts import statistics
from fastdecode.config.resampled import (
    LINE_STATISTICS,
    RESAMPLED,
    claims_of,
    decided_by,
    judged,
    resampled,
)


wildcard_constraints:
    paper=any_of(CONFIG.papers),


def claim_files():
    """Return the verdicts on the claims of the run's papers."""
    return [
        f"{REPORT}/claims.{paper}.{kind}"
        for paper in CONFIG.papers
        for kind in ("csv", "md")
        if claims_of(CONFIG, paper)
    ]


@cache
def resampled_of(paper):
    """Return what claims of a paper resample: see fastdecode.config.resampled."""
    return resampled(CONFIG, paper)


def resamples_of(wildcards):
    """Return the models and decoders whose translations are resampled in one file."""
    where = wildcards.dataset, wildcards.split, wildcards.metric
    return resampled_of(wildcards.paper)[where]


def resample_files(paper):
    """Return the resamples that claims of a paper need, by dataset, split and metric."""
    return {
        where: f"{REPORT}/claims/{paper}.{'.'.join(where)}.csv"
        for where in resampled_of(paper)
    }


def statistics_of(paper):
    """Return the statistics of single lines that claims of a paper are about."""
    artifacts = [CONFIG.papers[paper].artifacts[name] for name in judged(CONFIG, paper)]
    files = [
        statistic_file(model, split, name)
        for artifact in artifacts
        for model, split, name in statistics(CONFIG, artifact)
        if name in LINE_STATISTICS
    ]
    return list(dict.fromkeys(files))  # two artifacts may be of one


def clocked_files():
    """Return the raw samples of all timings with the fewest threads: see clocked.Timing."""
    return {
        (dataset, split, tier, scenario): timing_path(
            dataset, split, tier, scenario, fewest_threads(), SAMPLES
        )
        for dataset, split in test_splits()
        for tier in ("reference", "optimised")
        for scenario in CONFIG.run.latency.scenarios
        if timed(dataset, tier)
    }


rule resample_quality:
    input:
        translations=lambda w: [
            translations_file(model, w.split, decoder)
            for model, decoder in resamples_of(w)
        ],
        raw=lambda w: corpus_file(w, w.split, "target", ".raw"),
        tokenised=lambda w: corpus_file(w, w.split, "target"),
    output:
        f"{REPORT}/claims/{{paper}}.{{dataset}}.{{split}}.{{metric}}.csv",
    wildcard_constraints:
        metric=any_of(RESAMPLED),
    resources:
        mem_mb=growing(4000),
        runtime=growing(120),
    params:
        entries=lambda w: [
            f"{model.entry}/{decoder}" for model, decoder in resamples_of(w)
        ],
        drawn_as=lambda w: [
            decided_by(CONFIG, model, decoder) for model, decoder in resamples_of(w)
        ],
        language=lambda w: corpus_of(w).target,
        lowercase=lambda w: corpus_of(w).lowercase,
    message:
        "Resampling {wildcards.metric} that {wildcards.paper} claims, {wildcards.split} of {wildcards.dataset}"
    script:
        "../scripts/resample_quality.py"


rule judge_claims:
    input:
        cells=lambda w: [
            f"{REPORT}/{w.paper}.{name}.csv" for name in judged(CONFIG, w.paper)
        ],
        scores=lambda w: list(resample_files(w.paper).values()),
        statistics=lambda w: statistics_of(w.paper),
        times=list(clocked_files().values()),
        stages=[str(stages_of(Path(path))) for path in clocked_files().values()],
    output:
        csv=f"{REPORT}/claims.{{paper}}.csv",
        md=report(
            f"{REPORT}/claims.{{paper}}.md",
            category="Paper: {paper}",
            labels={"artifact": "claims"},
        ),
    localrule: True
    params:
        claims=lambda w: {
            name: claim.model_dump()
            for name, claim in claims_of(CONFIG, w.paper).items()
        },
        # all of the paper: a claim on two tables is not told by the one that the run has
        artifacts=lambda w: {
            name: artifact.model_dump()
            for name, artifact in CONFIG.whole_papers[w.paper].artifacts.items()
        },
        cells=lambda w: {
            name: f"{REPORT}/{w.paper}.{name}.csv" for name in judged(CONFIG, w.paper)
        },
        scores=lambda w: resample_files(w.paper),
        times=lambda w: clocked_files(),
    message:
        "Judging the claims of {wildcards.paper}"
    script:
        "../scripts/judge_claims.py"
