"""Sources and blank slots with a frame: `<s>` in front, `</s>` behind.

Families that write all words at once read the frame as tokens, and fill slots that have one.
"""

from collections.abc import Sequence

import torch
from fairseq.data import Dictionary, data_utils
from torch import Tensor

FRAME = 2  # tokens


def frame_sources(sources: Sequence[Sequence[str]], words: Dictionary) -> Tensor:
    """Return the numbers of the framed `sources`, padded on the right: (B, S)."""
    rows = [
        torch.tensor([words.bos(), *map(words.index, tokens), words.eos()]) for tokens in sources
    ]
    padded: Tensor = data_utils.collate_tokens(rows, words.pad())
    return padded


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
