"""Byte-pair encoding with subword-nmt: learning merges, segmenting words, joining them again.

Sennrich, Haddow and Birch (2016). A codes file is what subword-nmt writes: a version line, then a
merge a line. No dropout, no vocabulary filter: fairseq's dictionary is the vocabulary.
"""

import io
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from subword_nmt import learn_bpe
from subword_nmt.apply_bpe import BPE

from fastdecode.corpus.pool import map_ordered
from fastdecode.errors import UserError
from fastdecode.files import count_lines, read_lines, write_aside, write_lines
from fastdecode.progress import say, track

MARK = "@@"  # ends every piece of a word but its last
RESERVED = frozenset({"<s>", "</s>", "<pad>"})  # begin, end and fill the lines of fairseq's models


def learn(sources: Sequence[Path], merges: int, codes: Path) -> None:
    """Learn `merges` merges from tokenised files together and write them to `codes`.

    There are fewer, and it says so, if no pair of pieces is left that occurs twice.

    Raises UserError if the files contain no word of two letters, or no pair of pieces twice.
    """
    names = ", ".join(map(str, sources))
    with write_aside(codes) as part:
        with part.open("w", encoding="utf-8", newline="\n") as file, _progress_lines():
            try:
                learn_bpe.learn_bpe(_lines(sources), file, merges)
            except ValueError as error:
                if "empty" not in str(error):  # max() of no pairs
                    raise
                raise UserError(f"{names}: no word of two letters to learn BPE from") from None
        reached = count_lines(part) - 1
        if not reached:
            raise UserError(f"{names}: no two pieces stand together twice: too little text for BPE")
    if reached < merges:
        say("bpe", f"{codes}: the text has only {reached:,} merges, {merges:,} were asked for")


def learn_sides(
    sources: Sequence[Path], merges: int, codes: Sequence[Path], *, joint: bool
) -> None:
    """Write the codes of each side, learnt from it alone or, equal ones, from both together.

    Raises UserError as learn does.
    """
    if not joint:
        for source, out in zip(sources, codes, strict=True):
            learn([source], merges, out)
        return
    first, *others = codes
    learn(sources, merges, first)
    for other in others:
        with write_aside(other) as part:
            shutil.copyfile(first, part)


def apply(codes: Path, text: Path, out: Path, processes: int = 1) -> None:
    """Segment the tokenised file `text` line by line into `out`.

    Raises UserError on a word that ends in `@@`: it could not be told from a piece of a word.
    """
    bpe = Bpe(codes)
    lines = track(_checked(text), "bpe", "lines")
    write_lines(out, (pieces for _, pieces in map_ordered(bpe.segment, lines, processes)))


class Bpe:
    """The segmentation that a codes file defines; words once segmented are remembered."""

    def __init__(self, codes: Path):
        """Read `codes`.

        Raises UserError if it is missing or no codes file.
        """
        text = "\n".join(read_lines(codes))
        if not text.startswith("#version"):
            raise UserError(f"{codes}: no BPE codes, the first line is not #version: …")
        if not codes.read_bytes().endswith(b"\n"):  # fewer merges would segment all text otherwise
            raise UserError(f"{codes}: the last line is cut: delete it and run again")
        try:
            self._bpe: Any = BPE(io.StringIO(text))
        except SystemExit:  # subword-nmt's way to refuse a line
            raise UserError(f"{codes}: a line is not a pair of pieces: learn it again") from None

    def segment(self, line: str) -> str:
        """Split the words of a tokenised line into pieces."""
        return str(self._bpe.segment(line))


def join(line: str) -> str:
    """Join pieces to words again; a piece that waits for more at the end of the line is ended."""
    return f"{line} ".replace(f"{MARK} ", "").rstrip()


@contextmanager
def _progress_lines() -> Iterator[None]:
    """Have a progress line where subword-nmt draws a progress bar over the merges."""
    bar = learn_bpe.tqdm
    learn_bpe.tqdm = lambda merges: track(merges, "bpe", "merges", total=len(merges))
    try:
        yield
    finally:
        learn_bpe.tqdm = bar


def _lines(sources: Iterable[Path]) -> Iterator[str]:
    for source in sources:
        yield from track(read_lines(source), "bpe", "lines")


def _checked(text: Path) -> Iterator[str]:
    for number, line in enumerate(read_lines(text), 1):
        if f"{MARK} " in line or line.endswith(MARK):
            raise UserError(
                f"{text}, line {number}: a word ends in {MARK}, BPE's own mark: "
                "is the text segmented already? Join it first"
            )
        if "<" in line and (marks := sorted(RESERVED & {*line.split(" ")})):
            raise UserError(
                f"{text}, line {number}: {marks[0]} is a mark of the models' own: write it "
                "otherwise, as with blanks in between, or leave the line out"
            )
        yield line
