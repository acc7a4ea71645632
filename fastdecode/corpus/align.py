"""Word alignment of a parallel text with FastAlign, by systran-align.

It fits the model (see lexicon.py) with the settings its authors recommend: 5 iterations, a prior
for the diagonal whose tension is fitted, a Dirichlet prior on translations. It runs in one thread,
since its threads add up counts without taking turns and no two runs would agree.

systran-align fits both directions and writes their probabilities, but aligns with a fixed tension
and only returns symmetrised links; so the links are found here, with the fitted tension.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from fastdecode.corpus.aside import build_aside
from fastdecode.corpus.lexicon import Lexicon
from fastdecode.corpus.links import Link, format_links, grow_diag_final_and
from fastdecode.corpus.pool import map_ordered
from fastdecode.errors import UserError
from fastdecode.files import open_to_write, read_lines, read_pairs
from fastdecode.progress import say, track

BARS = "|||"  # stands between the sides in FastAlign's input, so not within one
PRUNE = -50  # drops a translation e^50 times less probable than the word's best: most of them are
FIT = f"""
import sys, systran_align
systran_align.generate_alignment_probabilities(
    *sys.argv[1:], verbose=True, beam_threshold={PRUNE},
    favor_diagonal=True, optimize_tension=True, variational_bayes=True,
)
"""

BothWays = Iterator[tuple[list[Link], list[Link]]]  # forward and backward links, a pair at a time


def align(source: Path, target: Path, out: Path, processes: int = 1) -> None:
    """Align two files of BPE pieces, line by line, into the folder `out`.

    It gets `forward.gz` (at most one link a target token), `backward.gz` (at most one a source
    token) and `symmetrised.gz` (grow-diag-final-and of them), in Pharaoh format: a line a pair,
    links sorted. A pair with an empty side, as of a sentence too long for the teacher to
    translate, has no links.

    Raises UserError if there is nothing to align, on sides of unequal length, and if systran-align
    fails.
    """
    with build_aside(out) as part, TemporaryDirectory(dir=part) as name:
        folder = Path(name)
        text = folder / "text"
        filled = _write_text(source, target, text)
        pairs = sum(filled)
        say("align", f"{pairs:,} pairs")
        if pairs < len(filled):
            say("align", f"{len(filled) - pairs:,} more have an empty side, and so no links")
        found = _find(text, folder, processes)
        _write_links(_spread(track(found, "align", "pairs", total=pairs), filled), part)


def _write_text(source: Path, target: Path, text: Path) -> bytearray:
    """Write the pairs with words on both sides in FastAlign's format.

    Returns whether each pair is one of them. FastAlign itself takes no other.
    """
    filled = bytearray()  # millions of pairs, a byte each
    with open_to_write(text) as file:
        for pair in track(read_pairs(source, target), "align", "pairs"):
            sides = [["|" if t == BARS else t for t in line.split()] for line in pair]
            filled.append(all(sides))
            if filled[-1]:
                file.write(f" {BARS} ".join(" ".join(tokens) for tokens in sides) + "\n")
    if not any(filled):
        raise UserError(f"{source}, {target}: no pair has words on both sides, nothing to align")
    return filled


def _spread(found: BothWays, filled: bytearray) -> BothWays:
    """Yield the links of all pairs: of those that are filled what was found, of others none."""
    places = iter(filled)
    for links in found:
        while not next(places):
            yield [], []
        yield links
    yield from (([], []) for _ in places)


def _find(text: Path, folder: Path, processes: int) -> BothWays:
    """Fit both directions, then find the best links under them."""
    tables = folder / "forward", folder / "backward"
    forward, backward = map(Lexicon, tables, _fitted(_fit(text, *tables)))

    def links(pair: tuple[list[str], list[str]]) -> tuple[list[Link], list[Link]]:
        source, target = pair
        back = [(i, j) for j, i in backward.links(target, source)]
        return forward.links(source, target), back

    return (found for _, found in map_ordered(links, _read_text(text), processes))


def _fit(text: Path, forward: Path, backward: Path) -> list[float]:
    """Write the tables of both directions; pass on the progress, return the tensions it says."""
    tensions: list[float] = []
    last = ""
    with subprocess.Popen(
        [sys.executable, "-c", FIT, str(text), str(forward), str(backward)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            last = line.strip() or last
            if match := re.match(r"ITERATION (\d+)", line):
                say("align", f"iteration {match[1]}")
            elif match := re.search(r"final tension: (\S+)", line):
                tensions.append(float(match[1]))
    if process.returncode:
        raise UserError(f"systran-align failed: {last}")
    return tensions


def _fitted(tensions: list[float]) -> tuple[float, float]:
    """Return the tensions fitted last; they are said after every iteration, forward ones first."""
    half, odd = divmod(len(tensions), 2)
    if odd or not half:
        raise UserError("systran-align does not say its tensions as expected: install 3.5.0")
    return tensions[half - 1], tensions[-1]


def _read_text(text: Path) -> Iterator[tuple[list[str], list[str]]]:
    for line in read_lines(text):
        source, target = line.split(f" {BARS} ")
        yield source.split(" "), target.split(" ")


def _write_links(found: BothWays, folder: Path) -> None:
    with (
        open_to_write(folder / "forward.gz") as one_way,
        open_to_write(folder / "backward.gz") as other_way,
        open_to_write(folder / "symmetrised.gz") as symmetrised,
    ):
        for forward, backward in found:
            one_way.write(format_links(sorted(forward)) + "\n")
            other_way.write(format_links(sorted(backward)) + "\n")
            symmetrised.write(format_links(grow_diag_final_and(forward, backward)) + "\n")
