"""The decoder over all slots at once: every slot sees every other, nothing is kept for later."""

from typing import Any

import torch
from torch import Tensor

from fastdecode.transformer.decoder import Layer, Stack
from fastdecode.transformer.highest import highest
from fastdecode.transformer.layers import attend, heads

ROWS = 512  # of full-vocabulary logits at a time: what stays in the caches


class TwoWayDecoder(Stack["TwoWayLayer"]):
    """A Transformer decoder without a causal mask, with a fairseq decoder's weights.

    What goes in is embedded already: families differ in what a slot begins with.
    """

    def __init__(self, module: Any):
        """Take the weights of a fairseq TransformerDecoder."""
        super().__init__(module, TwoWayLayer)

    def __call__(
        self, x: Tensor, mask: Tensor | None, source: Tensor, source_mask: Tensor | None
    ) -> Tensor:
        """Map embedded slots `x` (R, T, d) to their states (R, T, d); R/B rows to each sentence.

        `mask` (R, 1, 1, T) is true where slots are, None where nothing is padded; `source` are
        source_keys, with `source_mask` (B, 1, 1, S).
        """
        for layer, keys in zip(self.layers, source, strict=True):
            x = layer.both_ways(x, mask, keys, source_mask)
        return self._norm(x) if self._norm else x

    def likeliest(self, states: Tensor, banned: tuple[int, ...] = ()) -> tuple[Tensor, Tensor]:
        """Return the log-probability and the number of the likeliest word: (N) each, of (N, d).

        Words that are `banned` have probability 0. The logits of a few rows are in memory at once.
        """
        scores, words = [], []
        for rows in states.split(ROWS):
            logits = self._project(rows)
            # of sure words the scores differ by less than half precision tells
            logits = logits.to(torch.promote_types(logits.dtype, torch.float))
            for word in banned:  # a tuple of numbers would be sent to the device and waited for
                logits[:, word] = float("-inf")
            best, found = highest(logits)
            scores.append(best - logits.logsumexp(-1))
            words.append(found)
        return torch.cat(scores), torch.cat(words)


class TwoWayLayer(Layer):
    """A decoder layer whose tokens see one another in both directions."""

    def both_ways(
        self,
        x: Tensor,  # (R, T, d)
        mask: Tensor | None,  # (R, 1, 1, T)
        source: Tensor,  # (2, B, H, S, D)
        source_mask: Tensor | None,  # (B, 1, 1, S)
    ) -> Tensor:
        """Map the states of all slots."""
        x = self._around_own(x, lambda y: self._all_slots(y, mask))
        x = self._around_source(x, lambda y: self._source_attention(y, source, source_mask))
        return self._around_feed_forward(x, self._feed_forward)

    def _all_slots(self, x: Tensor, mask: Tensor | None) -> Tensor:
        query, key, value = (heads(part, self._heads) for part in self._qkv(x).chunk(3, dim=-1))
        return self._own_out(attend(query, key, value, mask))
