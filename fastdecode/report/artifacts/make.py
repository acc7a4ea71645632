"""Opens the function of an artifact: a module below fastdecode/report.

A table's module has `cells(evidence)` and `printed(name, artifact, cells)`, one that is a page of
HTML, too, `page(name, artifact, cells)`; a figure's has `points(evidence)` and `draw(name,
artifact, points, pictures)`.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from fastdecode.config.functions import traits
from fastdecode.config.papers import Artifact
from fastdecode.errors import UserError
from fastdecode.files import write_lines
from fastdecode.report.artifacts.cells import CELLS
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.artifacts.sources import OURS
from fastdecode.report.canvas import canvas
from fastdecode.report.tables import Table
from fastdecode.report.written import write_table


def make(evidence: Evidence, out: Path) -> None:
    """Write the CSV of an artifact.

    Raises UserError if there is no such function, or if it makes a number that does not say where
    it is from.
    """
    module = _module(evidence.artifact)
    if evidence.artifact.kind == "table":
        sheet, frame = CELLS, module.cells(evidence)
    else:
        sheet, frame = POINTS, module.points(evidence)
    check_origin(evidence.artifact, frame)
    sheet.write(out, frame)


def check_origin(artifact: Artifact, frame: pd.DataFrame) -> None:
    """Raise UserError unless every number of ours says what was run, on which data, where and when.

    What was run is a system and its seeds, where is a device, when a commit; what is counted in the
    data was run on none.
    """
    if traits(artifact.function).settings:
        return
    ours = frame[frame["source"] == OURS]
    run = ours[ours["tier"] != ""] if traits(artifact.function).subwords else ours
    needed = {"commit": ours, "dataset": ours, "what": run, "seeds": run, "device": run}
    for column, cells in needed.items():
        unknown = cells[cells[column] == ""]
        if len(unknown):
            raise UserError(
                f"{artifact.title}: {len(unknown)} numbers of ours without `{column}`, the first "
                f"{unknown.iloc[0].to_dict()}: fastdecode/report/{artifact.function} has to say "
                "where they are from"
            )


def print_table(name: str, artifact: Artifact, csv: Path, md: Path, tex: Path) -> None:
    """Print the table of such a CSV, as Markdown and as LaTeX."""
    write_table(tabulate(name, artifact, csv), md, tex, f"tab:{name.replace('.', '-')}")


def print_page(name: str, artifact: Artifact, csv: Path, html: Path) -> None:
    """Print the page of such a CSV."""
    write_lines(html, page(name, artifact, csv).splitlines())


def tabulate(name: str, artifact: Artifact, csv: Path) -> Table:
    """Return the printed table of such a CSV."""
    table: Table = _module(artifact).printed(name, artifact, CELLS.read(csv))
    return table


def page(name: str, artifact: Artifact, csv: Path) -> str:
    """Return the page of such a CSV."""
    text: str = _module(artifact).page(name, artifact, CELLS.read(csv))
    return text


def draw(name: str, artifact: Artifact, csv: Path, pictures: tuple[Path, ...]) -> None:
    """Draw the figure of such a CSV: fastdecode.report.canvas.FORMATS are what it can be.

    Without any point the figure says that nothing of it was run.
    """
    points = POINTS.read(csv)
    if points.empty:
        with canvas(1.0, *pictures) as figure:
            head = f"{name}: {artifact.title}\nnothing of it was run in this configuration"
            figure.text(0.5, 0.5, head, ha="center", va="center")
        return
    _module(artifact).draw(name, artifact, points, pictures)


def _module(artifact: Artifact) -> Any:
    try:
        return import_module(f"fastdecode.report.{artifact.function}")
    except ModuleNotFoundError:
        raise UserError(
            f"{artifact.title}: fastdecode/report has no module {artifact.function}"
        ) from None
