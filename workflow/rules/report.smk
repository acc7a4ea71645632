"""From measurements to tables and figures, which are drawn from CSV files alone."""


def report_files():
    """Return every table and figure of the run."""
    files = [f"{REPORT}/learning_curves.{kind}" for kind in ("svg", "png")]
    files += [f"{REPORT}/data.{kind}" for kind in ("csv", "md", "tex")]
    for dataset, row in CONFIG.datasets.items():
        for split in row.tests:
            files += [
                f"{REPORT}/systems.{dataset}.{split}.{kind}" for kind in ("md", "tex")
            ]
    return files


def measured(name):
    """Return a file of every reported model."""
    return [model_file(model, name) for model in CONFIG.selected()]


def quality_files():
    """Return the quality of every reported model, test split and decoder."""
    return [
        model_file(model, f"{split}.{decoder}.quality.json")
        for model in CONFIG.selected()
        for split in CONFIG.datasets[model.dataset].tests
        for decoder in CONFIG.decoders_of(model.system)
    ]


def data_files():
    """Return (dataset, report of its corpus, BPE text by split) for every dataset."""
    return [
        (
            name,
            f"{RESULTS}/corpora/{row.corpus}/report.json",
            {
                split: [
                    f"{RESULTS}/{name}/bpe/{part}.{side}.gz"
                    for side in ("source", "target")
                ]
                for part, split in (("train", "train"), ("valid", row.valid))
            },
        )
        for name, row in CONFIG.datasets.items()
    ]


rule tabulate_data:
    input:
        [report for _, report, _ in data_files()],
        [path for _, _, bpe in data_files() for paths in bpe.values() for path in paths],
    output:
        csv=f"{REPORT}/data.csv",
        md=report(
            f"{REPORT}/data.md", category="Data", labels={"what": "sizes and cleaning"}
        ),
        tex=f"{REPORT}/data.tex",
    localrule: True
    params:
        datasets=data_files(),
    message:
        "Table of the data"
    script:
        "../scripts/tabulate_data.py"


rule gather_measurements:
    input:
        training=measured("train.json"),
        quality=quality_files(),
        latency=[
            f"{REPORT}/latency/{dataset}.{split}.json"
            for dataset, row in CONFIG.datasets.items()
            for split in row.tests
        ],
    output:
        f"{REPORT}/measurements.csv",
    localrule: True
    params:
        run=CONFIG.run.name,
    message:
        "Gathering all measurements"
    script:
        "../scripts/gather_measurements.py"


rule tabulate_systems:
    input:
        f"{REPORT}/measurements.csv",
    output:
        md=report(
            f"{REPORT}/systems.{{dataset}}.{{split}}.md",
            category="Systems",
            subcategory="{dataset}",
            labels={"split": "{split}", "what": "quality and latency"},
        ),
        tex=f"{REPORT}/systems.{{dataset}}.{{split}}.tex",
    localrule: True
    params:
        rows=[
            (*entry.split("/"), decoder)
            for entry in CONFIG.table_rows()
            for decoder in CONFIG.decoders_of(entry.split("/")[1])
        ],
        speedup_over=CONFIG.run.speedup_over.reference,
    message:
        "Table of systems: {wildcards.dataset}, {wildcards.split}"
    script:
        "../scripts/tabulate_systems.py"


rule draw_learning_curves:
    input:
        measured("curve.csv"),
    output:
        svg=report(
            f"{REPORT}/learning_curves.svg",
            category="Training",
            labels={"what": "learning curves"},
        ),
        png=f"{REPORT}/learning_curves.png",
    localrule: True
    params:
        labels=[
            " ".join(
                filter(
                    None,
                    [
                        model.dataset if len(CONFIG.datasets) > 1 else "",
                        f"{model.target}/{model.system}",
                        f"seed {model.seed}" if len(CONFIG.run.seeds) > 1 else "",
                    ],
                )
            )
            for model in CONFIG.selected()
        ],
    message:
        "Learning curves"
    script:
        "../scripts/draw_learning_curves.py"
