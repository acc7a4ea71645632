"""`fastdecode narrow`: a run of no more than some tables and figures need."""

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from pydantic import TypeAdapter, ValidationError

from fastdecode.commands.selection import DEFINITIONS, add_configfile, read_layers, read_run
from fastdecode.config.arguments import stands_in
from fastdecode.config.base import merge, read_yaml
from fastdecode.config.rows import Name
from fastdecode.errors import UserError
from fastdecode.files import write_lines
from fastdecode.progress import say

if TYPE_CHECKING:
    from fastdecode.config.read import Configuration

WIDTH = 100  # of a line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to `parser`."""
    parser.description = (
        "Write a run that trains, decodes and times no more than some tables and figures of a\n"
        "larger one need. Its report has a folder of its own; what is trained is shared."
    )
    parser.epilog = (
        "example:\n  fastdecode narrow dag.figure7 --configfile config/runs/toy-dag.yaml "
        "--out figure7.yaml\n  snakemake figures --configfile figure7.yaml"
    )
    parser.add_argument(
        "artifacts",
        nargs="*",
        metavar="ARTIFACT",
        help="such as lattice.table1, or a paper: all that the run has of it",
    )
    add_configfile(parser, several=True)
    parser.add_argument(
        "--out",
        required=True,
        type=Path,
        metavar="FILE",
        help="where to write, a name of its own .yaml: that is the run's, too",
    )


def run(arguments: argparse.Namespace) -> None:
    """Write the run.

    Raises UserError if the configuration is wrong, or has nothing of what was asked for.
    """
    from fastdecode.config.narrow import check_same, narrowed
    from fastdecode.config.read import Configuration

    files, out = arguments.configfile, arguments.out
    if not arguments.artifacts:
        raise UserError(
            "for which tables and figures? Name them first, as in `fastdecode narrow dag.figure7 "
            "--configfile …`: what stands behind --configfile is taken for a file"
        )
    whole = read_run(files)
    _check_name(out, whole["name"])
    where = stands_in(files)
    config = Configuration(whole | {"papers": arguments.artifacts}, DEFINITIONS, where)
    values = {**read_layers(files), "name": out.stem, **narrowed(config)}
    narrow = Configuration(merge(read_run([]), values), DEFINITIONS)
    check_same(config, narrow)
    if not any(values["given"].values()):
        del values["given"]
    text = yaml.safe_dump(values, sort_keys=False, default_flow_style=None, width=WIDTH)
    about = f"# What {', '.join(arguments.artifacts)} needs of {config.run.name}:"
    command = f"#   {shlex.join(['snakemake', 'figures', '--configfile', str(out)])}"
    write_lines(out, [about, command, *text.splitlines()])
    few, every = (_trainings(one) for one in (narrow, config))
    say("narrow", f"wrote {out}: {few} trainings of the {every} of {config.run.name}")


def _check_name(out: Path, run: str) -> None:
    """Raise UserError if a file cannot be called so, or its run's report would be another's."""
    if out.suffix != ".yaml" or out.stem.startswith("."):
        raise UserError(f"--out: {out}: take a name of its own that ends in .yaml")
    try:
        TypeAdapter(Name).validate_python(out.stem)
    except ValidationError as error:
        raise UserError(
            f'--out: {out}: "{out.stem}" would be the name of the run: {error.errors()[0]["msg"]}'
        ) from None
    if out.exists():
        raise UserError(f"--out: {out} exists: take another name")
    runs = map(read_yaml, (DEFINITIONS / "runs").glob("*.yaml"))
    others = (other.get("name") for other in runs if isinstance(other, Mapping))
    if out.stem in {run, read_yaml(DEFINITIONS / "config.yaml")["name"], *others}:
        raise UserError(
            f"--out: {out}: a run is called {out.stem}, whose report this one's would write over: "
            "take another name"
        )


def _trainings(config: "Configuration") -> int:
    """Return how many models a run trains: those that are given it does not."""
    return sum(str(model.folder) not in config.run.given.models for model in config.models())
