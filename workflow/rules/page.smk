"""The page of a run: its systems, the artifacts and claims of its papers, example sentences."""

from fastdecode.config.timed import without_tuned_over
from fastdecode.report.captions import captions


def page_files():
    """Return the page."""
    return [f"{REPORT}/index.html"]


def shown_systems(dataset):
    """Return (model, decoder) of the first seed of everything decoded in the reference tier."""
    return [
        (model, decoder)
        for model in CONFIG.selected()
        if (model.dataset, model.seed) == (dataset, CONFIG.run.seeds[0])
        for decoder in without_tuned_over(CONFIG, model.entry)
        if CONFIG.decoders[decoder].tier == "reference"
    ]


def named(files, *kinds):
    """Return the names of those files of the report that are of these kinds."""
    return [Path(path).name for path in files if Path(path).suffix[1:] in kinds]


def sentence_files():
    """Return example sentences of the first test split of every dataset that was decoded."""
    return [
        f"{REPORT}/sentences.{dataset}.{row.tests[0]}.csv"
        for dataset, row in CONFIG.datasets.items()
        if shown_systems(dataset)
    ]


def speed_tables():
    """Return the tables of speed as CSV."""
    return [
        path
        for path in speed_files()
        if Path(path).name.startswith("speed.") and path.endswith(".csv")
    ]


def possible_drawings():
    """Return the numbers of all figures that may be a drawing of a line."""
    return [
        f"{REPORT}/{name}.csv"
        for name, artifact in ARTIFACTS.items()
        if artifact.kind == "figure" and artifact.statistics
    ]


rule pick_sentences:
    input:
        translations=lambda w: [
            translations_file(model, w.split, decoder)
            for model, decoder in shown_systems(w.dataset)
        ],
        raw=lambda w: corpus_file(w, w.split, "target", ".raw"),
        drawings=possible_drawings(),
    output:
        f"{REPORT}/sentences.{{dataset}}.{{split}}.csv",
    localrule: True
    params:
        entries=lambda w: [
            f"{model.entry}/{decoder}" for model, decoder in shown_systems(w.dataset)
        ],
    message:
        "Picking example sentences of {wildcards.split} of {wildcards.dataset}"
    script:
        "../scripts/pick_sentences.py"


rule write_page:
    input:
        tidy=f"{REPORT}/measurements.csv",
        report=report_files(),
        artifacts=artifact_files(),
        claims=claim_files(),
        sentences=sentence_files(),
    output:
        report(
            f"{REPORT}/index.html", category="Page", labels={"what": "all on one page"}
        ),
    localrule: True
    params:
        name=CONFIG.run.name,
        splits=test_splits(),
        speedup_over=CONFIG.denominators(),
        papers=[
            {
                **paper.model_dump(include={"title", "authors", "year"}),
                "key": key,
                "judged": bool(claims_of(CONFIG, key)),
                "artifacts": {
                    name: artifact.model_dump()
                    for name, artifact in paper.artifacts.items()
                },
            }
            for key, paper in CONFIG.papers.items()
        ],
        speeds=named(speed_tables(), "csv") if CONFIG.selected() else [],
        sentences=named(sentence_files(), "csv"),
        languages={
            name: [
                CONFIG.corpora[row.corpus].source,
                CONFIG.corpora[row.corpus].target,
            ]
            for name, row in CONFIG.datasets.items()
        },
        figures=captions(named(report_files(), "svg")),
        files=["measurements.csv", *named(report_files(), "csv", "md", "tex")],
    message:
        "The page of this run"
    script:
        "../scripts/write_page.py"
