"""The command line: `fastdecode COMMAND …`. A command is a module of this package, named as it is.

It has `add_arguments(parser)` and `run(arguments)`, and imports what is heavy inside `run` only.
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from types import FrameType

from fastdecode import __version__
from fastdecode.errors import INTERRUPTED, clear_errors

COMMANDS = {
    "translate": "translate lines with a trained system",
    "export": "write a trained Transformer in CTranslate2's format",
    "compare": "test whether one translation is better than another",
    "show": "list what there is: runs, datasets, systems, decoders, tables and figures, models",
    "plan": "estimate what a run will cost before it is launched",
    "narrow": "write a run of no more than some tables and figures need",
    "redraw": "write tables, figures and the page of a run anew from CSV files",
    "benchmark": "time engines on random weights, with nothing trained",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command that `arguments` name (default: those of this process)."""
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # as behind nohup
        signal.signal(signal.SIGINT, _interrupt)
    try:
        with clear_errors():
            parsed = _parser(sys.argv[1:] if arguments is None else arguments)
            parsed.run(parsed)
            if sys.stdout:  # what is left of the output, while a closed pipe can still be caught
                sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the last flush
        sys.exit(141)


def _interrupt(_signal: int, frame: FrameType | None) -> None:
    """End at Ctrl-C, after cleaning up; at once while PyTorch is imported, which would abort."""
    while frame:
        if "importlib" in frame.f_code.co_filename:
            os._exit(INTERRUPTED)
        frame = frame.f_back
    raise KeyboardInterrupt


def _parser(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command line; of all commands only the one asked for is imported."""
    parser = argparse.ArgumentParser(
        prog="fastdecode",
        description="Translate with what the workflow has trained, and do what needs no "
        "workflow. Training and measuring a run are the workflow's: see README.md.",
        epilog="fastdecode COMMAND --help explains a command.",
    )
    parser.add_argument("--version", action="version", version=f"fastdecode {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=summary,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,  # Snakemake's --config is no short --configfile
        )
        if name in arguments[:1]:
            module = import_module(f"{__name__}.{name}")
            module.add_arguments(command)
            command.set_defaults(run=module.run, parser=command)
    parsed, rest = parser.parse_known_args(arguments)
    if rest:  # told with the usage of the command, not of all
        runs = any(word.endswith(".yaml") for word in rest)
        hint = ": a run is named by --configfile, before each of its files" if runs else ""
        getattr(parsed, "parser", parser).error(f"unrecognized arguments: {' '.join(rest)}{hint}")
    return parsed
