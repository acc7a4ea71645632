"""Word numbers, as fairseq's dictionaries give them."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from fastdecode.errors import UserError
from fastdecode.files import read_lines

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")  # come first in every dictionary
UNKNOWN = SPECIAL.index("<unk>")


class Numbers(dict[str, int]):
    """The number of every word; that of `<unk>` for any other."""

    def __init__(self, words: Iterable[str]):
        """Number `words` in their order."""
        super().__init__((word, number) for number, word in enumerate(words))

    def __missing__(self, word: str) -> int:
        """Return the number of a word that is not in the dictionary."""
        return UNKNOWN


def read_dictionary(path: Path) -> list[str]:
    """Return the words of a `dict.<language>.txt` in fairseq's order, the special ones first.

    Raises UserError if the file is missing or a line is not a word and its count.
    """
    words = list(SPECIAL)
    for number, line in enumerate(read_lines(path), 1):
        word, _, count = line.rstrip().rpartition(" ")
        if not word or not count.isdecimal():
            raise UserError(
                f"{path}, line {number}: not a word and its count: {line!r}: binarise anew"
            )
        words.append(word)
    return words


def checksum(words: Iterable[str]) -> str:
    """Return the SHA-256 of words in their order: equal if and only if their numbers are."""
    return hashlib.sha256("\n".join(words).encode()).hexdigest()
