"""Writes the page of a run from the files of its report alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from fastdecode.config.papers import Artifact
from fastdecode.config.rows import UNTRAINED
from fastdecode.report.artifacts.points import Line
from fastdecode.report.claims.printed import CAPTION, VERDICTS
from fastdecode.report.page import chart, sections
from fastdecode.report.page.place import Place
from fastdecode.report.page.sections import Grid, Shown
from fastdecode.report.page.sentences import alike
from fastdecode.report.sheet import read_csv
from fastdecode.report.speed_numbers import SPEEDS
from fastdecode.report.systems import systems_table
from fastdecode.report.templates import template
from fastdecode.report.tidy import TIDY

HERE = Path(__file__).parent
UNKNOWN = ("", "")  # so HTML has languages that nobody knows


@dataclass(frozen=True)
class PaperOf:
    """A paper of the run."""

    key: str
    title: str
    authors: Sequence[str]
    year: int
    artifacts: Mapping[str, Artifact]
    judged: bool = True  # its claims: else verdicts that lie there are of another run of this name


@dataclass(frozen=True)
class Report:
    """What the page of a run is made of."""

    name: str
    place: Place  # of all files that are named below
    splits: Sequence[tuple[str, str]]  # (dataset, split) of everything that is tested
    speedup_over: Mapping[str, str | None]  # the denominator of each tier
    measurements: str = "measurements.csv"
    papers: Sequence[PaperOf] = ()
    speeds: Sequence[str] = ()  # names of CSV files of fastdecode.report.speed_numbers
    sentences: Sequence[str] = ()  # names of CSV files of fastdecode.report.page.sentences
    languages: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Dataset → of its source and of its target, as HTML names them."""
    figures: Mapping[str, str] = field(default_factory=dict)  # name of an SVG → what it shows
    files: Sequence[str] = ()  # further ones that are linked


def page(report: Report) -> str:
    """Return the page as HTML. Raises UserError where a file is missing."""
    tidy = TIDY.read(report.place.path(report.measurements))
    papers = [_paper(paper, report.place) for paper in report.papers]
    drawings: dict[Line, list[tuple[str, Shown]]] = {}  # with the paper they are of
    for one in papers:
        for shown in one["artifacts"]:
            if shown.line:
                drawings.setdefault(shown.line, []).append((one["paper"].key, shown))
    examples = [one for name in report.sentences for one in _sentences(report, name, drawings)]
    return template(HERE / "page.html").render(
        report=report,
        style=Markup((HERE / "style.css").read_text(encoding="utf-8")),
        script=Markup((HERE / "page.js").read_text(encoding="utf-8")),
        facts=_facts(tidy),
        charts=_charts(report, tidy),
        size=(chart.WIDTH, chart.HEIGHT),
        hit=chart.HIT,
        frame=(chart.LEFT, chart.TOP, chart.WIDTH - chart.RIGHT, chart.HEIGHT - chart.BOTTOM),
        tables=_systems(report, tidy),
        figures=[
            (text, sections.picture(report.place.path(name)))
            for name, text in report.figures.items()
        ],
        papers=papers,
        claims_caption=CAPTION,
        sentences=examples,
        anchors={example["line"]: example["anchor"] for example in examples},
    )


def _facts(tidy: pd.DataFrame) -> list[tuple[str, str]]:
    """Return what was run, in a few words."""
    models = tidy[["dataset", "target", "system"]].drop_duplicates()
    trained = models[models["target"] != UNTRAINED]
    return [
        ("data", sections.words(tidy["dataset"])),
        ("families", sections.words(tidy["family"])),
        ("systems of trained weights", str(len(trained))),
        ("systems of random weights", str(len(models) - len(trained) or "")),
        ("seeds", sections.words(tidy["seed"])),
        *_devices(tidy),
        ("commit", sections.commits(tidy["commit"])),
    ]


def _devices(tidy: pd.DataFrame) -> list[tuple[str, str]]:
    """Return what everything ran on, in one line, or in one for each thing that was done."""
    if tidy["device"].replace("", None).nunique() <= 1:
        return [("device", sections.words(tidy["device"]))]
    training = tidy["metric"].str.startswith("train_")
    timing = tidy["metric"].str.startswith(("latency_", "throughput_", "memory_"))
    models = tidy[training & (tidy["device"] != "")]  # of a given model it may not be known
    models = models.drop_duplicates(["dataset", "target", "system", "seed"])
    counts = models["device"].value_counts(sort=False)
    trained = sections.words(models["device"])
    if len(counts) > 1:
        trained = ", ".join(f"{one} ({n} of {counts.sum()})" for one, n in counts.items())
    return [
        ("trained on", trained),
        ("translated and counted on", sections.words(tidy.loc[~training & ~timing, "device"])),
        ("timed on", sections.words(tidy.loc[timing, "device"])),
    ]


def _charts(report: Report, tidy: pd.DataFrame) -> list[chart.Chart]:
    frames = [SPEEDS.read(report.place.path(name)) for name in report.speeds]
    models = tidy[["target", "system", "family"]].drop_duplicates(["target", "system"])
    families = {
        (str(row["target"]), str(row["system"])): str(row["family"])
        for row in models.to_dict("records")
    }
    return [one for frame in frames for one in chart.charts(frame, families)]


def _systems(report: Report, tidy: pd.DataFrame) -> list[tuple[str, str, Grid]]:
    """Return, for every split that was scored, its title, its caption and the table of systems."""
    found = []
    for dataset, split in report.splits:
        here = tidy[(tidy["dataset"] == dataset) & (tidy["split"] == split)]
        if here.empty:
            continue
        table = systems_table(tidy, dataset, split, report.speedup_over)
        title = f"Systems on {dataset}, {split}"
        found.append((title, table.caption, sections.grid(_named(table.frame), title, names=1)))
    return found


def _named(systems: pd.DataFrame) -> pd.DataFrame:
    """Return the table of systems with target/system/decoder, as all else here, in one column."""
    parts = ["target", "system", "decoder"]
    numbers = systems.drop(columns=parts)
    numbers.insert(0, "system", systems[parts].agg("/".join, axis=1))
    return numbers


def _paper(paper: PaperOf, place: Place) -> dict[str, Any]:
    name = f"claims.{paper.key}"
    file = place.path(f"{name}.csv")
    judged = paper.judged and file.is_file()
    said = sections.claims(VERDICTS.read(file), paper.artifacts) if judged else []
    return {
        "paper": paper,
        "artifacts": [
            sections.show(paper.key, key, artifact, place)
            for key, artifact in paper.artifacts.items()
        ],
        "claims": said,
        "tally": sections.tally(said),
        "files": sections.files(name, place) if judged else (),
    }


def _sentences(
    report: Report, name: str, drawings: Mapping[Line, Sequence[tuple[str, Shown]]]
) -> list[dict[str, Any]]:
    """Return the examples of a dataset: source, reference, what decoders wrote, drawings."""
    frame = read_csv(report.place.path(name), dtype=str, keep_default_na=False)
    examples = []
    for (dataset, split, number), group in frame.groupby(["dataset", "split", "line"], sort=False):
        line, first = (str(dataset), str(split), str(number)), group.iloc[0]
        examples.append(
            {
                "line": line,
                "anchor": ".".join(("sentences", *line)),
                "source": first["source"],
                "reference": first["reference"],
                "written": alike(group["what"], group["text"]),
                "languages": report.languages.get(first["dataset"], UNKNOWN),
                "drawings": drawings.get(line, []),
            }
        )
    return examples
