"""From measurements to tables and figures, which are drawn from CSV files alone."""

from fastdecode.config.artifacts import also_scored
from fastdecode.report.captions import LATENCY_FIGURES


wildcard_constraints:
    tier="reference|optimised",
    scenario="S1|Smax",
    threads=r"all|\d+",
    figure=any_of(LATENCY_FIGURES),


def report_files():
    """Return every table and figure of the run; of quality and training if it trains anything."""
    files = [f"{REPORT}/data.{kind}" for kind in ("csv", "md", "tex")]
    return files + speed_files() + (trained_files() if CONFIG.selected() else [])


def trained_files():
    """Return the tables and figures that are about trained systems."""
    files = [
        f"{REPORT}/learning_curves.{kind}"
        for kind in ("csv", "svg", "png", "pdf")
        if CONFIG.with_curve()
    ]
    for dataset, row in CONFIG.datasets.items():
        for split in row.tests:
            files += [
                f"{REPORT}/systems.{dataset}.{split}.{kind}" for kind in ("md", "tex")
            ]
            files += [
                f"{REPORT}/significance.{dataset}.{split}.{kind}"
                for kind in ("csv", "md", "tex")
            ]
            files.append(f"{REPORT}/differences.{dataset}.{split}.csv")
    files += [
        f"{REPORT}/agreement.{dataset}.{split}.md"
        for dataset, split in test_splits()
        if twins(dataset)
    ]
    return files


def speed_files():
    """Return the tables and figures of speed: of the scenarios and tiers that are timed."""
    scenarios = CONFIG.run.latency.scenarios
    files = []
    for dataset, split in test_splits():
        files += [
            f"{REPORT}/speed.{dataset}.{split}.{scenario}.{kind}"
            for scenario in scenarios
            for kind in ("csv", "md", "tex")
            if timed(dataset)
        ]
        for tier, denominator in CONFIG.denominators().items():
            if not timed(dataset, tier):
                continue
            names = [f"{model.entry}/{name}" for model, name in timed(dataset, tier)]
            files += [
                f"{REPORT}/pareto.{dataset}.{split}.{tier}.{scenario}.{kind}"
                for scenario in scenarios
                for kind in ("svg", "png", "pdf")
                if timed(dataset, tier, untrained=False)
            ]
            files += [
                f"{REPORT}/{figure}.{dataset}.{split}.{tier}.threads{threads}.{kind}"
                for figure in LATENCY_FIGURES
                for threads in timed_threads()
                for kind in ("csv", "svg", "png", "pdf")
                if "S1" in scenarios
                and (figure != "speedup_distribution" or denominator in names)
            ]
    return files


def training_records():
    """Return what is on record of the training of every reported model."""
    return [model_file(model, "train.json") for model in CONFIG.selected()]


def untrained_records():
    """Return what is on record of the untrained models."""
    return [model_file(model, "train.json") for model in CONFIG.untrained()]


def quality_files():
    """Return the quality of every reported model, test split and decoder, and what artifacts ask."""
    wanted = [
        (model, split, decoder)
        for model in CONFIG.selected()
        for split in CONFIG.datasets[model.dataset].tests
        for decoder in CONFIG.decoders_of(model.entry)
    ]
    return [
        model_file(model, f"{split}.{decoder}.quality.json")
        for model, split, decoder in dict.fromkeys([*wanted, *also_scored(CONFIG)])
    ]


def measured_files():
    """Return what is on record of trainings, scores, times and so on, by what it is of."""
    return {
        "training": training_records() + untrained_records(),
        "quality": quality_files(),
        "latency": latency_files(),
        "memory": memory_files(),
        "agreement": agreement_files(),
    }


def agreement_files():
    """Return what says whether decoders that have to agree do."""
    return [
        f"{REPORT}/agreement/{dataset}.{split}.json"
        for dataset, split in test_splits()
        if twins(dataset)
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
        **measured_files(),
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
            for entry in CONFIG.run.systems
            for decoder in CONFIG.decoders_of(entry)
        ],
        others=len(CONFIG.left_out()),
        speedup_over=CONFIG.denominators(),
    message:
        "Table of systems: {wildcards.dataset}, {wildcards.split}"
    script:
        "../scripts/tabulate_systems.py"


rule tabulate_significance:
    input:
        f"{REPORT}/significance/{{dataset}}.{{split}}.json",
    output:
        csv=f"{REPORT}/significance.{{dataset}}.{{split}}.csv",
        md=report(
            f"{REPORT}/significance.{{dataset}}.{{split}}.md",
            category="Systems",
            subcategory="{dataset}",
            labels={"split": "{split}", "what": "significance of BLEU differences"},
        ),
        tex=f"{REPORT}/significance.{{dataset}}.{{split}}.tex",
    localrule: True
    message:
        "Table of paired tests: {wildcards.dataset}, {wildcards.split}"
    script:
        "../scripts/tabulate_significance.py"


rule tabulate_speed:
    input:
        f"{REPORT}/measurements.csv",
    output:
        csv=f"{REPORT}/speed.{{dataset}}.{{split}}.{{scenario}}.csv",
        md=report(
            f"{REPORT}/speed.{{dataset}}.{{split}}.{{scenario}}.md",
            category="Speed",
            subcategory="{dataset}",
            labels={"split": "{split}", "what": "speed and memory, {scenario}"},
        ),
        tex=f"{REPORT}/speed.{{dataset}}.{{split}}.{{scenario}}.tex",
    localrule: True
    params:
        speedup_over=CONFIG.denominators(),
    message:
        "Table of speed: {wildcards.dataset}, {wildcards.split}, {wildcards.scenario}"
    script:
        "../scripts/tabulate_speed.py"


rule draw_pareto:
    input:
        f"{REPORT}/speed.{{dataset}}.{{split}}.{{scenario}}.csv",
    output:
        svg=report(
            f"{REPORT}/pareto.{{dataset}}.{{split}}.{{tier}}.{{scenario}}.svg",
            category="Speed",
            subcategory="{dataset}",
            labels={
                "split": "{split}",
                "what": "BLEU and speed, {tier} tier, {scenario}",
            },
        ),
        png=f"{REPORT}/pareto.{{dataset}}.{{split}}.{{tier}}.{{scenario}}.png",
        pdf=f"{REPORT}/pareto.{{dataset}}.{{split}}.{{tier}}.{{scenario}}.pdf",
    localrule: True
    message:
        "BLEU and speed: {wildcards.dataset}, {wildcards.split}, {wildcards.tier} tier, {wildcards.scenario}"
    script:
        "../scripts/draw_pareto.py"


rule draw_latency:
    input:
        tidy=f"{REPORT}/measurements.csv",
        samples=timing_path(
            "{dataset}", "{split}", "{tier}", "S1", "{threads}", SAMPLES
        ),
    output:
        csv=f"{REPORT}/{{figure}}.{{dataset}}.{{split}}.{{tier}}.threads{{threads}}.csv",
        svg=report(
            f"{REPORT}/{{figure}}.{{dataset}}.{{split}}.{{tier}}.threads{{threads}}.svg",
            category="Speed",
            subcategory="{dataset}",
            labels=lambda w: {
                "split": w.split,
                "what": f"{LATENCY_FIGURES[w.figure]}, {w.tier} tier, threads: {w.threads}",
            },
        ),
        png=f"{REPORT}/{{figure}}.{{dataset}}.{{split}}.{{tier}}.threads{{threads}}.png",
        pdf=f"{REPORT}/{{figure}}.{{dataset}}.{{split}}.{{tier}}.threads{{threads}}.pdf",
    localrule: True
    params:
        denominator=lambda w: CONFIG.denominators()[w.tier],
    message:
        "Figure {wildcards.figure}: {wildcards.dataset}, {wildcards.split}, {wildcards.tier} tier, threads: {wildcards.threads}"
    script:
        "../scripts/draw_latency.py"


rule draw_learning_curves:
    input:
        curves=[model_file(model, "curve.csv") for model in CONFIG.with_curve()],
        records=[model_file(model, "train.json") for model in CONFIG.with_curve()],
    output:
        csv=f"{REPORT}/learning_curves.csv",
        svg=report(
            f"{REPORT}/learning_curves.svg",
            category="Training",
            labels={"what": "learning curves"},
        ),
        png=f"{REPORT}/learning_curves.png",
        pdf=f"{REPORT}/learning_curves.pdf",
    localrule: True
    message:
        "Learning curves"
    script:
        "../scripts/draw_learning_curves.py"
