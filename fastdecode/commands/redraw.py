"""`fastdecode redraw`: tables, figures and the page anew, from their CSV files alone."""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fastdecode.commands.selection import DEFINITIONS
from fastdecode.config.base import check, nearest, read_yaml
from fastdecode.config.papers import Artifact, Paper
from fastdecode.errors import UserError
from fastdecode.files import write_lines
from fastdecode.progress import track


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to `parser`."""
    parser.description = (
        "Write the tables and draw the figures of papers anew from their CSV files, such as\n"
        "lattice.table1.csv, and the other pictures of a run from theirs, such as\n"
        "learning_curves.csv (speed.*.csv gives pareto.*), with no model and no data: after a\n"
        "change of how they look. Where measurements.csv or measurements.csv.gz is among them,\n"
        "index.html shows all that is there on one page."
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
        help="these CSV files alone, without .csv, and no page (default: all)",
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
    folder, out = arguments.folder, arguments.out or arguments.folder
    papers = read_papers(arguments.papers)
    found = drawable(folder, papers)
    only = [name.removesuffix(".csv") for name in arguments.only]
    for name in only:
        _check_there(name, found, folder)
    chosen = {name: found[name] for name in only or found}
    drawn: dict[str, list[Path]] = {}
    failed = []
    for name, artifact in track(chosen.items(), "redraw", "files", len(chosen)):
        try:
            drawn[name] = _draw(name, artifact, folder, out)
        except UserError as error:  # the others are drawn all the same
            failed.append(str(error))
    done = [path.suffix for files in drawn.values() for path in files]
    said = f"redrawn into {out}: {done.count('.tex')} tables, {done.count('.svg')} figures"
    if not only:
        try:
            said += f"; {_page(folder, out, drawn, papers)}"
        except UserError as error:
            failed.append(str(error))
    print(said)
    if failed:
        raise UserError("; ".join(failed))


def _check_there(name: str, found: Iterable[str], folder: Path) -> None:
    """Raise UserError if `name` is none of the CSV files that were found."""
    from fastdecode.report.pictures import SPEED

    if name in found:
        return
    picture, *place = name.split(".")
    if picture == "pareto":  # the one picture that is called otherwise than its CSV file
        speed = ".".join([SPEED, *place[:-2], *place[-1:]])  # without the tier
        if speed in found:
            raise UserError(f"--only: {name} is drawn from {speed}.csv: take --only {speed}")
    raise UserError(f"--only: no {name}.csv in {folder}{nearest(name, found)}")


def _draw(name: str, artifact: Artifact | None, folder: Path, out: Path) -> list[Path]:
    """Draw what a CSV file has, and return the files."""
    from fastdecode.report.artifacts.make import draw, print_page, print_table
    from fastdecode.report.canvas import FORMATS
    from fastdecode.report.pictures import redraw

    csv = folder / f"{name}.csv"
    if artifact is None:
        return redraw(csv, out)
    if artifact.kind == "figure":
        pictures = tuple(out / f"{name}.{kind}" for kind in FORMATS)
        draw(name, artifact, csv, pictures)
        return list(pictures)
    files = [out / f"{name}.{kind}" for kind in ("md", "tex")]
    print_table(name, artifact, csv, *files)
    if artifact.page:
        files.append(out / f"{name}.html")
        print_page(name, artifact, csv, files[-1])
    return files


def _page(
    folder: Path, out: Path, drawn: Mapping[str, Sequence[Path]], papers: Mapping[str, Paper]
) -> str:
    """Write the page of what is in a folder, and say where; without measurements there is none."""
    from fastdecode.report.page.kept import MEASUREMENTS, kept, measurements
    from fastdecode.report.page.page import page

    if not measurements(folder):
        return f"no page, as {folder} has no {MEASUREMENTS[0]}"
    html = out / "index.html"
    report = kept(folder, out, drawn, papers, DEFINITIONS)
    write_lines(html, page(report).splitlines())
    return f"all of it on one page: {html}"


def read_papers(folder: Path) -> dict[str, Paper]:
    """Return the papers of a folder by their keys.

    Raises UserError if there is no such folder, or no paper in it.
    """
    if not folder.is_dir():
        raise UserError(f"--papers {folder}: no such folder")
    files = sorted(folder.glob("*.yaml"))
    if not files:
        raise UserError(f"--papers {folder}: no paper (*.yaml) in it")
    return {path.stem: check(Paper, read_yaml(path), str(path)) for path in files}


def drawable(folder: Path, papers: Mapping[str, Paper]) -> dict[str, Artifact | None]:
    """Return the artifacts whose CSV files are in `folder`, in the papers' order.

    After them come the pictures of the run, for which None stands: what they are is in their names.

    Raises UserError if there is neither, nor measurements for a page, or no such folder.
    """
    from fastdecode.report.page.kept import measurements
    from fastdecode.report.pictures import NAMES

    if folder.is_file():
        only = f", and --only {folder.stem}" if folder.suffix == ".csv" else ""
        raise UserError(f"{folder}: this is a file: name its folder, {folder.parent}{only}")
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder")
    found: dict[str, Artifact | None] = {
        f"{key}.{name}": artifact
        for key, paper in papers.items()
        for name, artifact in paper.artifacts.items()
        if (folder / f"{key}.{name}.csv").is_file()
    }
    for picture in NAMES:
        found |= {path.stem: None for path in sorted(folder.glob(f"{picture}.*csv"))}
    if not found and not measurements(folder):
        raise UserError(
            f"{folder}: no CSV file of a table or figure of {', '.join(papers)}, nor of a "
            "picture of a run: give a folder of results/report or of docs/measurements, and with "
            "--papers the folder of papers of your own"
        )
    return found
