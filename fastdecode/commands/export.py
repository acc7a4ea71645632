"""`fastdecode export`: a trained Transformer for a program that decodes with CTranslate2."""

import argparse
from pathlib import Path

from fastdecode.commands.selection import add_selection, select
from fastdecode.errors import UserError
from fastdecode.files import check_new
from fastdecode.progress import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to `parser`."""
    parser.description = (
        "Write a trained Transformer in CTranslate2's format: fp32 weights, which CTranslate2\n"
        "turns into other types when it opens them, and the vocabularies. It reads and writes\n"
        "BPE tokens."
    )
    parser.epilog = (
        "example:\n  fastdecode export --system transformer/transformer --out toy.ctranslate2"
    )
    add_selection(parser, ensembles=False)
    parser.add_argument(
        "--out", required=True, type=Path, metavar="FOLDER", help="a folder that does not exist yet"
    )


def run(arguments: argparse.Namespace) -> None:
    """Export the system that `arguments` name.

    Raises UserError if it is not trained, is no single Transformer, or the folder exists.
    """
    selection = select(arguments)
    if len(selection.checkpoints) > 1:
        raise UserError(
            f"--system: {selection.system} is an ensemble: CTranslate2 decodes one model"
        )
    if (family := selection.configuration.family_of[selection.system]) != "autoregressive":
        raise UserError(
            f"--system: CTranslate2 decodes a plain Transformer, and {selection.system} is of the "
            f"family {family}: take one of autoregressive"
        )
    check_new(arguments.out)
    selection.must_be_trained()
    from fastdecode.decode import load_system
    from fastdecode.families.autoregressive.export import export

    system = load_system(selection.checkpoints, selection.data, "cpu")
    export(system.models[0], system.source, system.target, arguments.out)
    say("export", f"wrote {arguments.out}; its BPE codes: {selection.codes / 'codes.source'}")
