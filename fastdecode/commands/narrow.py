"""`fastdecode narrow`: a run of no more than some tables and figures need."""

import argparse
import shlex
from pathlib import Path

import yaml

from fastdecode.commands.selection import DEFINITIONS, add_configfile, read_run
from fastdecode.config.base import merge
from fastdecode.errors import UserError
from fastdecode.files import write_lines
from fastdecode.progress import say

WIDTH = 100  # of a line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to `parser`."""
    parser.description = (
        "Write a run that trains, decodes and times no more than some tables and figures of a\n"
        "larger one need, to merge over that one. Its report has a folder of its own; what is\n"
        "trained is shared."
    )
    parser.epilog = (
        "example:\n  fastdecode narrow dag.figure7 --configfile config/runs/toy-dag.yaml "
        "--out figure7.yaml\n  snakemake figures --configfile config/runs/toy-dag.yaml figure7.yaml"
    )
    parser.add_argument(
        "artifacts",
        nargs="+",
        metavar="ARTIFACT",
        help="such as lattice.table1, or a paper: all that the run has of it",
    )
    add_configfile(parser, several=True)
    parser.add_argument(
        "--out",
        required=True,
        type=Path,
        metavar="FILE",
        help="where to write; its name is the run's, too",
    )


def run(arguments: argparse.Namespace) -> None:
    """Write the run.

    Raises UserError if the configuration is wrong, or has nothing of what was asked for.
    """
    from fastdecode.config.narrow import narrowed
    from fastdecode.config.read import Configuration

    files, out = arguments.configfile, arguments.out
    if out.suffix != ".yaml":
        raise UserError(f"--out: {out}: call it {out.with_suffix('.yaml').name}")
    if out.exists():
        raise UserError(f"--out: {out} exists: take another name")
    whole = read_run(files)
    config = Configuration(whole | {"papers": arguments.artifacts}, DEFINITIONS)
    if out.stem == config.run.name:
        raise UserError(
            f"--out: {out}: {out.stem} is the name of the run to narrow, whose report this one's "
            "would write over: take another name"
        )
    values = {"name": out.stem, **narrowed(config)}
    narrow = Configuration(merge(whole, values), DEFINITIONS)
    text = yaml.safe_dump(values, sort_keys=False, default_flow_style=None, width=WIDTH)
    command = shlex.join(["snakemake", "figures", "--configfile", *map(str, [*files, out])])
    head = [
        f"# What {', '.join(arguments.artifacts)} needs of {config.run.name}:",
        f"#   {command}",
    ]
    write_lines(out, [*head, *text.splitlines()])
    models = [len(one.models()) for one in (narrow, config)]
    say("narrow", f"wrote {out}: {models[0]} trainings of the {models[1]} of {config.run.name}")
