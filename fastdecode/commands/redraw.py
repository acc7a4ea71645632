"""`fastdecode redraw`: tables and figures anew, from their CSV files alone."""

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
        "lattice.table1.csv, and the other pictures of a run from theirs, such as\n"
        "learning_curves.csv (speed.*.csv gives pareto.*), with no model and no data: after a\n"
        "change of how they look."
    )
    parser.epilog = (
        "example:\n  fastdecode redraw docs/measurements/lattice/toy --out redrawn "
        "--only lattice.figure2"
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the CSV files are")
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="NAME",
        help="these CSV files alone, without .csv (default: all)",
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

    Raises UserError if there is none, or none of a name that was asked for, and after all others
    if files cannot be used.
    """
    from fastdecode.report.artifacts.make import draw, print_page, print_table
    from fastdecode.report.canvas import FORMATS
    from fastdecode.report.pictures import redraw

    found = drawable(arguments.folder, arguments.papers)
    for name in arguments.only:
        if name not in found:
            raise UserError(f"--only: no {name}.csv in {arguments.folder}{nearest(name, found)}")
    chosen = {name: found[name] for name in arguments.only or found}
    out = arguments.out or arguments.folder
    tables, figures, failed = 0, 0, []
    for name, artifact in track(chosen.items(), "redraw", "files", len(chosen)):
        csv = arguments.folder / f"{name}.csv"
        try:
            if artifact is None:
                figures += redraw(csv, out)
            elif artifact.kind == "table":
                print_table(name, artifact, csv, out / f"{name}.md", out / f"{name}.tex")
                tables += 1
            else:
                draw(name, artifact, csv, tuple(out / f"{name}.{kind}" for kind in FORMATS))
                figures += 1
            if artifact and artifact.page:
                print_page(name, artifact, csv, out / f"{name}.html")
        except UserError as error:  # the others are drawn all the same
            failed.append(str(error))
    print(f"redrawn into {out}: {tables} tables, {figures} figures")
    if failed:
        raise UserError("; ".join(failed))


def drawable(folder: Path, papers: Path) -> dict[str, Artifact | None]:
    """Return the artifacts whose CSV files are in `folder`, in the papers' order.

    After them come the pictures of the run, for which None stands: what they are is in their names.

    Raises UserError if there is neither, or no such folder.
    """
    from fastdecode.report.pictures import NAMES

    for place, option in ((folder, ""), (papers, "--papers ")):
        if not place.is_dir():
            raise UserError(f"{option}{place}: no such folder")
    rows = {path.stem: check(Paper, read_yaml(path), str(path)) for path in papers.glob("*.yaml")}
    found: dict[str, Artifact | None] = {
        f"{paper}.{name}": artifact
        for paper in sorted(rows)
        for name, artifact in rows[paper].artifacts.items()
        if (folder / f"{paper}.{name}.csv").is_file()
    }
    for picture in NAMES:
        found |= {path.stem: None for path in sorted(folder.glob(f"{picture}.*csv"))}
    if not found:
        raise UserError(
            f"{folder}: no CSV file of a table or figure of {', '.join(sorted(rows))}, nor of a "
            "picture of a run: give a folder of results/report or of docs/measurements"
        )
    return found
