"""What a dataset's BPE comes to: the vocabulary that it reached, and how long test lines are."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from fastdecode.corpus.bpe import Bpe
from fastdecode.errors import UserError
from fastdecode.files import count_lines, read_lines

SIDES = ("source", "target")


def measure_subwords(
    texts: Sequence[Path], codes: Sequence[Path], dictionaries: Sequence[Path]
) -> dict[str, Any]:
    """Return merges, vocabulary and mean length in BPE tokens by side, source first.

    `texts` are the tokenised sides of a split. The vocabulary counts the entries of fairseq's
    dictionary without its special symbols and without `madeupword…`, with which it fills up; merges
    are those found, which are fewer than asked for where the text is small. Lengths do not count
    `</s>`.

    Raises UserError on an empty text.
    """
    lengths = {
        side: lengths_of(*one)
        for side, one in zip(SIDES, zip(texts, codes, strict=True), strict=True)
    }
    return {
        "lines": len(lengths["source"]),
        "merges": {side: count_lines(path) - 1 for side, path in zip(SIDES, codes, strict=True)},
        "vocabulary": {
            side: sum(not line.startswith("madeupword") for line in read_lines(path))
            for side, path in zip(SIDES, dictionaries, strict=True)
        },
        "mean_length": {side: fmean(found) for side, found in lengths.items()},
    }


def lengths_of(text: Path, codes: Path) -> list[int]:
    """Return the length in BPE tokens of every line of a tokenised file, without `</s>`.

    Raises UserError if it is empty.
    """
    bpe = Bpe(codes)
    lengths = [len(bpe.segment(line).split()) for line in read_lines(text)]
    if not lengths:
        raise UserError(f"{text}: no lines to count BPE tokens of")
    return lengths
