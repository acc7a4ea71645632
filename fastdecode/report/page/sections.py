"""What a page says of papers: artifacts with their files and their provenance, and claims."""

from base64 import b64encode
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from fastdecode.config.functions import traits
from fastdecode.config.papers import Artifact
from fastdecode.provenance import short
from fastdecode.report.artifacts.beside import RUN_HERE, published_heading
from fastdecode.report.artifacts.caption import captioned
from fastdecode.report.artifacts.cells import CELLS
from fastdecode.report.artifacts.make import tabulate
from fastdecode.report.artifacts.points import POINTS, Line, line_of
from fastdecode.report.artifacts.sources import OURS
from fastdecode.report.claims.findings import FAILS, HOLDS, UNKNOWN
from fastdecode.report.claims.printed import findings, judgements, where
from fastdecode.report.page.named import named
from fastdecode.report.page.place import Place
from fastdecode.report.tables import NOTES, seeds_of

FORMATS = ("csv", "md", "tex", "svg", "pdf", "png", "html")
NAMES = {"md": "Markdown", "tex": "LaTeX", "html": "page"}
# What is said of the cells of ours, and in which columns of the CSV it stands.
PROVENANCE = {
    "systems": "what",
    "data": "dataset",
    "split": "split",
    "seeds": "seeds",
    "tier": "tier",
    "threads": "threads",
    "device": "device",
    "commit": "commit",
}
CLASSES = {HOLDS: "holds", FAILS: "fails", UNKNOWN: "unknown"}


@dataclass(frozen=True)
class Grid:
    """A table as it is shown: headings with the class of their columns, rows of text."""

    caption: str
    heads: tuple[tuple[str, str], ...]
    names: int  # how many columns, the first ones, name a row
    stays: int  # which of these stays in view while the table scrolls
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Shown:
    """One artifact on the page."""

    name: str
    title: str
    artifact: Artifact
    grid: Grid | None
    caption: str  # of a table: how ours was measured
    marks: str  # and what the marks behind its numbers mean
    picture: str  # data URI of a figure
    line: Line | None  # of a figure: the line that it is a drawing of
    provenance: tuple[tuple[str, str], ...]  # empty: nothing of it was run
    files: tuple[tuple[str, str], ...]  # kind, link


@dataclass(frozen=True)
class Verdict:
    """A claim on one dataset and in one tier."""

    kind: str
    verdict: str
    where: str
    why: str
    findings: tuple[tuple[str, str], ...]  # kind, text


@dataclass(frozen=True)
class Said:
    """A claim with its verdicts."""

    name: str
    statement: str
    reading: str
    rows: tuple[tuple[str, str], ...]  # key, what it is: of those that its findings name
    verdicts: tuple[Verdict, ...]


def show(paper: str, key: str, artifact: Artifact, place: Place) -> Shown:
    """Return an artifact of a paper, from its files. Raises UserError without them."""
    name = f"{paper}.{key}"
    csv = place.path(f"{name}.csv")
    table = tabulate(name, artifact, csv) if artifact.kind == "table" else None
    shown_apart = captioned(name, artifact, [])  # title, what was published, notes
    said = [one for one in (table.sentences if table else ()) if one not in shown_apart]
    marks = [one for one in said if one in NOTES.values()]
    frame = (CELLS if table else POINTS).read(csv)
    return Shown(
        name=name,
        title=f"{_numbered(key)}: {artifact.title}",
        artifact=artifact,
        grid=_grid(table.frame, artifact) if table else None,
        caption=" ".join(one for one in said if one not in marks),
        marks=" ".join(marks),
        picture="" if table else picture(place.path(f"{name}.svg")),
        line=None if table else line_of(frame),
        provenance=provenance(artifact, frame),
        files=files(name, place),
    )


def files(name: str, place: Place) -> tuple[tuple[str, str], ...]:
    """Return kind and link of what there is of a name."""
    return tuple(
        (NAMES.get(kind, kind.upper()), place.link(f"{name}.{kind}"))
        for kind in FORMATS
        if place.path(f"{name}.{kind}").is_file()
    )


def _grid(frame: pd.DataFrame, artifact: Artifact) -> Grid:
    published = set(map(published_heading, artifact.published.values()))
    return grid(frame, artifact.title, len(artifact.labels), published)


def grid(frame: pd.DataFrame, caption: str, names: int, published: Collection[str] = ()) -> Grid:
    """Return a table of text as it is shown; `names` columns, one at least, name its rows.

    `published` are the headings of what was published. What was run stands last, so that our
    numbers are beside them. Of several columns that name rows the one that tells most of them apart
    stays in view: all would leave no room for numbers on a phone.
    """
    frame = frame.iloc[:, sorted(range(frame.shape[1]), key=lambda i: frame.columns[i] == RUN_HERE)]
    classes = dict.fromkeys(published, "published") | {RUN_HERE: "here"}
    heads = [(str(head), classes.get(str(head), "")) for head in frame.columns]
    rows = [tuple(map(str, row)) for row in frame.to_numpy().tolist()]
    named = range(max(1, names))
    stays = max(named, key=lambda i: len({row[i] for row in rows}))
    return Grid(caption, tuple(heads), len(named), stays, tuple(rows))


def picture(svg: Path) -> str:
    """Return a figure as a data URI, so that names in one do not meet those in another."""
    return f"data:image/svg+xml;base64,{b64encode(svg.read_bytes()).decode()}"


def provenance(artifact: Artifact, frame: pd.DataFrame) -> tuple[tuple[str, str], ...]:
    """Return what was run for the numbers of ours, and how; nothing if there are none."""
    ours = frame[frame["source"] == OURS]
    if ours.empty:
        return ()
    found = {name: words(ours[column]) for name, column in PROVENANCE.items()}
    found["seeds"] = seeds_of(ours["seeds"])
    times = seeds_of(ours.loc[ours["tier"] != "", "seeds"])
    if times not in ("", found["seeds"]):
        found["seeds"] += f"; times of {times}"
    if traits(artifact.function).settings:
        found["from"] = "the configuration of this run"
    found["commit"] = commits(ours["commit"])
    return tuple((name, text) for name, text in found.items() if text)


def commits(column: "pd.Series[str]") -> str:
    """Return the first letters of all commits; a cell may have several, of as many seeds."""
    return ", ".join(dict.fromkeys(short(commit) for text in column for commit in text.split()))


def words(column: "pd.Series[str]") -> str:
    """Return all different texts of a column."""
    return ", ".join(filter(None, dict.fromkeys(column)))


def claims(frame: pd.DataFrame, artifacts: Mapping[str, Artifact]) -> list[Said]:
    """Return the claims of a paper, from lines of fastdecode.report.claims.printed."""
    found: dict[str, list[pd.DataFrame]] = {}
    for group in judgements(frame):
        found.setdefault(str(group["claim"].iloc[0]), []).append(group)
    return [
        Said(
            name=name,
            statement=str(groups[0]["statement"].iloc[0]),
            reading=str(groups[0]["reading"].iloc[0]),
            rows=named(pd.concat(groups), artifacts),
            verdicts=tuple(map(_verdict, groups)),
        )
        for name, groups in found.items()
    ]


def _verdict(group: pd.DataFrame) -> Verdict:
    first = group.iloc[0]
    return Verdict(
        kind=CLASSES[str(first["verdict"])],
        verdict=str(first["verdict"]),
        where=where(first),
        why=str(first["why"]),
        findings=tuple((CLASSES[kind], text) for kind, text in findings(group)),
    )


def tally(said: list[Said]) -> Mapping[str, int]:
    """Return how many verdicts there are of each kind."""
    verdicts = [one.verdict for claim in said for one in claim.verdicts]
    return {verdict: verdicts.count(verdict) for verdict in CLASSES}


def _numbered(key: str) -> str:
    """Return `Table 2a` for table2a; other names as they are."""
    for kind in ("table", "figure"):
        if key.startswith(kind) and key != kind:
            return f"{kind.capitalize()} {key.removeprefix(kind)}"
    return key.capitalize()
