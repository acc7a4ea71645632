"""Sentences as padded batches: sources and blank slots, and where their padding is.

A source ends in `</s>`. Families that write all words at once read a whole frame as tokens, `<s>`
in front and `</s>` behind, and fill slots that have one.
"""

from collections.abc import Iterable, Sequence

import torch
from fairseq.data import Dictionary, data_utils
from torch import Tensor

FRAME = 2  # tokens


def end_sentences(
    sentences: Sequence[Sequence[str]], words: Dictionary, left_pad: bool = False
) -> Tensor:
    """Return the numbers of `sentences` with `</s>`, padded on the right or the left: (B, S)."""
    rows = [[*map(words.index, tokens), words.eos()] for tokens in sentences]
    return _padded(rows, words, left_pad)


def frame_sources(sources: Sequence[Sequence[str]], words: Dictionary) -> Tensor:
    """Return the numbers of the framed `sources`, padded on the right: (B, S)."""
    rows = [[words.bos(), *map(words.index, tokens), words.eos()] for tokens in sources]
    return _padded(rows, words)


def _padded(rows: list[list[int]], words: Dictionary, left_pad: bool = False) -> Tensor:
    padded: Tensor = data_utils.collate_tokens(
        [torch.tensor(row) for row in rows], words.pad(), left_pad=left_pad
    )
    return padded


def mask_of(padded: Tensor, words: Dictionary, lengths: Iterable[int]) -> Tensor | None:
    """Return (B, 1, 1, S), true where `padded` (B, S) has tokens; None where nothing is padded.

    Whether anything is, `lengths` say, of the rows or of what they are made from: the tensor may be
    on a GPU, which nobody waits for here.
    """
    return (padded != words.pad())[:, None, None] if len(set(lengths)) > 1 else None


def blank_slots(lengths: Tensor, words: Dictionary) -> Tensor:
    """Return slots to fill (B, T): `<s>`, `<unk>`s, `</s>` and padding.

    `lengths` (B) count the frame. A slot that nothing is known of holds `<unk>`, as in fairseq.
    """
    slot = torch.arange(int(lengths.max()), device=lengths.device)  # (T)
    last = lengths[:, None] - 1
    slots = torch.full((len(lengths), len(slot)), words.unk(), device=lengths.device)  # (B, T)
    slots.masked_fill_(slot > last, words.pad())
    slots.masked_fill_(slot == last, words.eos())
    slots[:, 0] = words.bos()
    return slots
