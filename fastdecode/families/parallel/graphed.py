"""One sentence at a time on a GPU: the passes over its slots are recorded.

See transformer/recording.py. All that a pass takes is in one recording: what slots begin with, the
decoder, and the likeliest words.
"""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from fastdecode.families.parallel.networks import Encoded, Fast
from fastdecode.transformer.recording import Recorded, padded, seen

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

        def run(slots: Tensor, tokens: Tensor, keys: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
            states = tokens.new_empty(0)  # they say lengths, which nobody asks for here
            own = (slots != self._pad)[:, None, None]
            return ask(self._states(slots, Encoded(tokens, states, keys, mask, rows), own))

        if key not in self._recorded:
            self._recorded[key] = Recorded(run, "a pass over all slots")
        answers = self._recorded[key](
            padded(slots, -1, value=self._pad),
            padded(encoded.tokens, -1, value=self._pad),
            padded(encoded.keys, -2),
            seen(encoded.keys, -2),
        )
        return tuple(answer[:, : slots.shape[1]] for answer in answers)
