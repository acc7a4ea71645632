"""Target sentences in the order in which they are written, and back.

A step writes `size` tokens, so a translation is folded into groups of that size, one slot to each
token (Imamura and Sumita 2020, section 3.2). With n tokens y1 … yn:

    bidirectional   y1 yn  y2 yn-1  …    from both ends to the middle
    pairs-l2r       y1 y2  y3 y4    …    two neighbours at a time
    pairs-r2l       yn yn-1  …           the same from the end
    r2l             yn  yn-1  …          one at a time

What is left of the last group are ends of decoding (EOD), one at least: `</s>` stands for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar, get_args

import torch
import torch.nn.functional as F
from torch import Tensor

from fastdecode.families.bidirectional.rows import Order, Start

T = TypeVar("T")


@dataclass(frozen=True)
class Fold:
    """An order of writing."""

    order: Order = "bidirectional"
    start: Start = "bos-eos"
    """What stands before the first pair; before single tokens it is `</s>`, as in fairseq."""

    def __post_init__(self) -> None:
        """Refuse what is no order: else it would be taken for another one."""
        if self.order not in get_args(Order) or self.start not in get_args(Start):
            raise ValueError(f"there is no order {self.order!r} with start {self.start!r}")

    @property
    def size(self) -> int:
        """How many tokens a step writes."""
        return 1 if self.order == "r2l" else 2

    def first(self, bos: int, eos: int) -> tuple[int, ...]:
        """Return the tokens that decoding starts from, `size` of them."""
        if self.size == 1:
            return (eos,)
        return (bos, eos) if self.start == "bos-eos" else (bos, bos)

    def slots(self, length: int) -> int:
        """Return how many slots `length` tokens take, EODs counted."""
        return self.size * (length // self.size + 1)

    def columns(self, lengths: Tensor, blank: int) -> Tensor:
        """Return (B, T): the place in its sentence, from 0, of what each slot holds.

        `lengths` (B) count no `</s>`. An EOD is at the place behind the last token, where `</s>`
        stands; a slot behind the EODs is at the place `blank`.
        """
        n = lengths[:, None]
        slot = torch.arange(self.slots(int(lengths.max())), device=lengths.device)  # (T)
        if self.order == "bidirectional":
            place = (slot // 2).where(slot % 2 == 0, n - 1 - slot // 2)
        elif self.order == "pairs-l2r":
            place = slot.expand(len(lengths), -1)
        else:
            place = n - 1 - slot
        end = self.size * (n // self.size + 1)
        return place.where(slot < n, n).masked_fill(slot >= end, blank)

    def fold(self, target: Tensor, pad: int) -> Tensor:
        """Fold sentences (B, n + 1), each with its `</s>`, padded on the right: (B, T)."""
        columns = self.columns((target != pad).sum(1) - 1, blank=target.shape[1])
        return F.pad(target, (0, 1), value=pad).gather(1, columns)

    def inputs(self, folded: Tensor, first: Sequence[int], pad: int) -> Tensor:
        """Return what the decoder sees while it learns to write `folded` (B, T).

        That is the group before, and `first` before the first group.
        """
        start = folded.new_tensor(first).expand(len(folded), -1)
        before = torch.cat([start, folded[:, : -self.size]], dim=1)
        return before.masked_fill(folded == pad, pad)

    def restore(self, words: Sequence[T]) -> list[T]:
        """Return words as they are read; `words` are in the order of writing, without EODs."""
        if self.order == "bidirectional":
            return [*words[0::2], *words[1::2][::-1]]
        return list(words) if self.order == "pairs-l2r" else list(words[::-1])
