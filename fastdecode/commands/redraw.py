"""`fastdecode redraw`: the tables and figures of papers anew, from their CSV files alone."""

import argparse
from pathlib import Path

from fastdecode.commands.selection import DEFINITIONS
from fastdecode.config.base import check, nearest, read_yaml
from fastdecode.config.papers import Artifact, Paper
from fastdecode.errors import UserError
from fastdecode.progress import track


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to `parser`."""
    parser.description = (
        "Write the tables and draw the figures of papers anew from their CSV files, such as\n"
        "lattice.table1.csv, with no model and no data: after a change of how they look."
    )
    parser.epilog = (
        "example:\n  fastdecode redraw docs/measurements/lattice/toy --out redrawn "
        "--only lattice.figure2"
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the CSV files are")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="ARTIFACT", help="these alone (default: all)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="where to write (default: beside the CSV files)"
    )
    parser.add_argument(
        "--papers",
        type=Path,
        default=DEFINITIONS / "papers",
        metavar="FOLDER",
        help="what the papers published (default: this project's config/papers)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Redraw what is there.

    Raises UserError if there is none, or none of a name that was asked for.
    """
    from fastdecode.report.artifacts.make import draw, print_page, print_table
    from fastdecode.report.canvas import FORMATS

    found = artifacts(arguments.folder, arguments.papers)
    for name in arguments.only:
        if name not in found:
            raise UserError(f"--only: no {name}.csv in {arguments.folder}{nearest(name, found)}")
    chosen = {name: found[name] for name in arguments.only or found}
    out = arguments.out or arguments.folder
    for name, artifact in track(chosen.items(), "redraw", "artifacts", len(chosen)):
        csv = arguments.folder / f"{name}.csv"
        if artifact.kind == "table":
            print_table(name, artifact, csv, out / f"{name}.md", out / f"{name}.tex")
        else:
            draw(name, artifact, csv, tuple(out / f"{name}.{kind}" for kind in FORMATS))
        if artifact.page:
            print_page(name, artifact, csv, out / f"{name}.html")
    print(f"redrew {len(chosen)} tables and figures into {out}")


def artifacts(folder: Path, papers: Path) -> dict[str, Artifact]:
    """Return the artifacts whose CSV files are in `folder`, in the papers' order.

    Raises UserError if there is none.
    """
    rows = {path.stem: check(Paper, read_yaml(path), str(path)) for path in papers.glob("*.yaml")}
    found = {
        f"{paper}.{name}": artifact
        for paper in sorted(rows)
        for name, artifact in rows[paper].artifacts.items()
        if (folder / f"{paper}.{name}.csv").is_file()
    }
    if not found:
        raise UserError(
            f"{folder}: no CSV file of a table or figure of {', '.join(sorted(rows))}: give a "
            "folder of results/report or of docs/measurements"
        )
    return found
