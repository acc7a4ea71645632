"""`fastdecode translate`: raw lines in, detokenised translations out, with a trained system."""

import argparse
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import cast

from fastdecode.commands.selection import Selection, add_selection, positive, select, threads
from fastdecode.devices import check_device
from fastdecode.errors import UserError
from fastdecode.files import decode_lines, read_lines
from fastdecode.progress import say, track
from fastdecode.translation import Translation

LABEL = "translate"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to `parser`."""
    parser.description = (
        "Translate raw lines with a trained system: each line of the input becomes a line of the\n"
        "output. Lines are UTF-8 and end at newline characters only."
    )
    parser.epilog = (
        "A batch is what can be read without waiting, at most --batch lines: files are read in\n"
        "full batches, and a line that is typed is translated at once.\n\n"
        "A line with too many tokens for the model becomes an empty line, is named on standard\n"
        "error, and makes the exit status 1.\n\n"
        "examples:\n"
        "  fastdecode translate --system transformer/transformer news.en > news.de\n"
        "  echo 'The old dog sleeps.' | fastdecode translate --system raw/transformer\n"
        "  fastdecode translate --system raw/transformer-big --decoder greedy-int8 \\\n"
        "      --configfile config/runs/multi30k.yaml --threads 1 --scores captions.de.gz"
    )
    parser.add_argument(
        "file",
        nargs="?",
        default="-",
        metavar="FILE",
        help="raw source lines, plain or .gz (default, or -: standard input)",
    )
    add_selection(parser)
    group = parser.add_argument_group("how it decodes")
    group.add_argument(
        "--decoder",
        metavar="NAME",
        help="how it searches (default: the run's first that fits, but no mere drafts)",
    )
    group.add_argument("--device", choices=("cpu", "cuda"), help="(default: the run's)")
    group.add_argument(
        "--threads", type=threads, metavar="N", help="CPU threads (default: all cores)"
    )
    group.add_argument(
        "--batch", type=positive, default=32, metavar="N", help="lines at a time (default: 32)"
    )
    group.add_argument(
        "--scores",
        action="store_true",
        help="begin each line with the translation's score and a tab; empty where it has none",
    )


def run(arguments: argparse.Namespace) -> None:
    """Translate the lines of a file or of standard input to standard output.

    Raises UserError on anything that `arguments` name and is not there, on input that is not UTF-8,
    and, at the end, if lines were too long to translate.
    """
    if Path(arguments.file).suffix in (".yaml", ".yml"):
        raise UserError(
            f"{arguments.file} would be translated: a run's file goes behind a --configfile of its "
            "own (a text of this name: from standard input)"
        )
    selection = select(arguments)
    source = open_input(arguments.file)
    if sys.stdout is None:
        raise UserError("standard output is closed: translations have nowhere to go")
    translator = Translator(selection, arguments)
    lines = source.lines
    if source.terminal:
        say(LABEL, "waiting for lines on standard input; Ctrl-D ends them")
    else:
        lines = track(lines, LABEL, "lines", source.total)
    for batch in gathered(lines, source.more, arguments.batch):
        for translation in translator(batch):
            score = "" if translation.score is None else f"{translation.score:.4f}"
            line = f"{score}\t{translation.text}" if arguments.scores else translation.text
            sys.stdout.buffer.write(f"{line}\n".encode())
        sys.stdout.buffer.flush()
    if translator.too_long:
        raise UserError(
            f"{translator.too_long} of {translator.lines} lines were too long to translate (see "
            "above): empty lines stand in their places"
        )


@dataclass(frozen=True)
class Input:
    """Raw lines to translate."""

    lines: Iterator[str]
    more: Callable[[], bool]  # whether the next line can be had without waiting
    total: int | None = None  # None: not known yet
    terminal: bool = False  # whether a person types them


def open_input(name: str) -> Input:
    """Open a file, or standard input if `name` is `-`. A plain file is read at once.

    Raises UserError if there is none to read, or if a plain file is not UTF-8.
    """
    if name == "-":
        if sys.stdin is None:
            raise UserError("standard input is closed: name a FILE, or pipe lines in")
        return stream(cast(BufferedReader, sys.stdin.buffer), "standard input", sys.stdin.isatty())
    path = Path(name)
    if path.is_dir():
        raise UserError(f"{path} is a folder: name a file of raw lines")
    try:
        if path.exists() and not path.is_file():  # a pipe, such as <(xzcat text.xz)
            return stream(path.open("rb"), name)
        lines = list(read_lines(path))
    except PermissionError:
        raise UserError(f"{path}: may not be read: change its permissions") from None
    return Input(iter(lines), lambda: True, len(lines))


def stream(file: BufferedReader, name: str, terminal: bool = False) -> Input:
    """Return the lines of a stream as they come; UserErrors call it `name`."""
    ready: deque[bytes] = deque()  # whole lines that were read and not handed out

    def raw() -> Iterator[bytes]:
        rest = b""
        while piece := file.read1(1 << 16):
            *whole, rest = (rest + piece).split(b"\n")
            ready.extend(whole)
            while ready:
                yield ready.popleft()
        if rest:  # a last line without its newline
            yield rest

    return Input(decode_lines(raw(), name), lambda: bool(ready), terminal=terminal)


def gathered(lines: Iterable[str], more: Callable[[], bool], most: int) -> Iterator[list[str]]:
    """Yield lines in batches of at most `most`; less than that only where `more` says no.

    What was read before a UserError is yielded before it is raised.
    """
    batch: list[str] = []
    try:
        for line in lines:
            batch.append(line)
            if len(batch) == most or not more():
                yield batch
                batch = []
    except UserError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


class Translator:
    """A loaded system with its decoder; it translates raw lines and counts them."""

    def __init__(self, selection: Selection, arguments: argparse.Namespace):
        """Load the system. Raises UserError if decoder, device and precision do not fit it."""
        run = selection.configuration.run
        device = arguments.device or run.device
        if device == "cpu" and run.precision in ("fp16", "bf16"):
            raise UserError(
                f"--device: the run's precision, {run.precision}, needs cuda: for cpu, add a "
                "--configfile with precision: fp32"
            )
        check_device(device)
        chosen = selection.decoder(arguments.decoder)
        if not arguments.decoder:
            say(LABEL, f"decoding with {chosen.name}; --decoder names another")
        import torch

        from fastdecode import decode
        from fastdecode.text import Text

        if arguments.threads:
            torch.set_num_threads(arguments.threads)
        system = decode.load_system(
            selection.checkpoints,
            selection.data,
            device,
            run.precision,
            chosen.assets,
            chosen.companions,
        )
        self._text = Text(**selection.text)
        decoder = system.decoder(chosen.family, chosen.row.model_dump(), self._text.target_text)
        self._longest = system.longest
        self._decode = partial(
            decode.decode_all,
            decoder,
            most_tokens=decode.MOST_TOKENS,
            label=LABEL,
            longest=self._longest,
        )
        self.lines = self.too_long = 0

    def __call__(self, lines: Sequence[str]) -> list[Translation]:
        """Translate lines; blank ones and those that are too long, which is said, become empty."""
        sentences = [self._text.source_tokens(line) for line in lines]
        first = self.lines + 1
        self.lines += len(lines)
        self.too_long += sum(len(sentence) > self._longest for sentence in sentences)
        return self._decode(sentences, first_line=first)
