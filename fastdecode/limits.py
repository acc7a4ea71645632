"""Between which lengths the translations of a batch have to stay."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import torch
from torch import Tensor

from fastdecode.errors import UserError


class Lengths:
    """Lengths that translations are held to, sentence by sentence.

    What decoding costs shows with random weights too, if a translation is as long as it would be:
    as its reference (untrained systems).
    """

    def __init__(self, pairs: Iterable[tuple[Sequence[str], int]]):
        """Take (source, length of its translation without `</s>`); of equal sources the first."""
        self._lengths: dict[tuple[str, ...], int] = {}
        for source, length in pairs:
            self._lengths.setdefault(tuple(source), length)

    def __getitem__(self, source: Sequence[str]) -> int:
        """Return the length of the translation of a source. Raises KeyError if it is not known."""
        return self._lengths[tuple(source)]


def exactly(length: int) -> dict[str, float]:
    """Return the keys of a decoder row whose translations have just so many tokens."""
    return {"min_len": length, "max_len_a": 0.0, "max_len_b": length}


class Limited(Protocol):
    """A decoder row that limits how long a translation may be."""

    @property
    def max_len_a(self) -> float:
        """Tokens of the translation for each of the source."""

    @property
    def max_len_b(self) -> int:
        """Tokens beyond those."""

    @property
    def min_len(self) -> int:
        """Tokens that it has to have."""


def limits(
    sources: Sequence[Sequence[str]], row: Limited, lengths: Lengths | None, longest: int
) -> Tensor:
    """Return (B): how many tokens without `</s>` the translations of `sources` may have at most.

    That is max_len_a · source length + max_len_b, where `</s>` counts to the source; with `lengths`
    it is just what they have to have. None is more than `longest`.

    Raises UserError where no translation may be as long as min_len asks.
    """
    if lengths is None:
        if row.min_len > longest:
            raise UserError(
                f"min_len: {row.min_len}, but this system writes {longest} tokens at most: lower it"
            )
        read = torch.tensor([len(source) + 1 for source in sources])
        most = (row.max_len_a * read.double() + row.max_len_b).long()
        return most.clamp(row.min_len, longest)
    return torch.tensor([lengths[source] for source in sources]).clamp(1, longest)
