"""One sentence at a time on a GPU: the passes over its slots are recorded.

See transformer/recording.py. All that a pass takes is in one recording: what slots begin with, the
decoder, and the likeliest words.
"""

from collections.abc import Callable
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from fastdecode.families.parallel.networks import Encoded, Fast
from fastdecode.transformer.graphs import pad_source
from fastdecode.transformer.recording import Recorded, up

Ask = Callable[[Tensor], tuple[Tensor, ...]]


class GraphedFast(Fast):
    """The twin of Fast; it answers what was asked of a batch as Fast does."""

    def __init__(self, model: Any):
        """Take the weights of `model`; raises UserError on parts that are not built here."""
        super().__init__(model)
        self._recorded: dict[object, Recorded[tuple[Tensor, ...]]] = {}  # by what is asked

    def likeliest(
        self, slots: Tensor, encoded: Encoded, asked: Tensor, banned: tuple[int, ...] = ()
    ) -> tuple[Tensor, Tensor]:
        """See Network. The answer is overwritten by the next one."""
        if len(encoded.tokens) > 1:
            return super().likeliest(slots, encoded, asked, banned)
        key = "likeliest", encoded.rows, banned
        scores, words = self._answer(key, lambda x: self._all_likeliest(x, banned), slots, encoded)
        return scores, words

    def scores(self, slots: Tensor, encoded: Encoded, banned: tuple[int, ...] = ()) -> Tensor:
        """See Network. The answer is overwritten by the next one."""
        if len(encoded.tokens) > 1:
            return super().scores(slots, encoded, banned)
        key = "scores", encoded.rows, banned
        (scores,) = self._answer(key, lambda x: (self._all_scores(x, banned),), slots, encoded)
        return scores

    def _answer(self, key: object, ask: Ask, slots: Tensor, encoded: Encoded) -> tuple[Tensor, ...]:
        """Return what `ask` makes of the states of the `slots` (R, T): tensors (R, T, …)."""
        rows = encoded.rows

        def run(
            slots: Tensor, own: Tensor, tokens: Tensor, keys: Tensor, seen: Tensor
        ) -> tuple[Tensor, ...]:
            states = tokens.new_empty(0)  # they say lengths, which nobody asks for here
            return ask(self._states(slots, Encoded(tokens, states, keys, seen, rows), own))

        if key not in self._recorded:
            self._recorded[key] = Recorded(run, "a pass over all slots")
        count, words = slots.shape[1], encoded.tokens.shape[1]
        slots = F.pad(slots, (0, up(count) - count), value=self._pad)
        tokens = F.pad(encoded.tokens, (0, up(words) - words), value=self._pad)
        own = (slots != self._pad)[:, None, None]
        answers = self._recorded[key](slots, own, tokens, *pad_source(encoded.keys))
        return tuple(answer[:, :count] for answer in answers)
