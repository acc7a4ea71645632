"""Scores of all edges of a lattice in one pass: P(y_t | y_{t-1}, t, x) for K words before K words.

As in training, an edge's block begins one slot earlier with `<s>`, so a query with the word y_{t-1}
at slot t looks at two keys, that of `<s>` at slot t - 1 and its own: no cache, no mask.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from fastdecode.transformer.layers import (
    Embedding,
    FeedForward,
    LayerNorm,
    Residual,
    attend,
    heads,
)
from fastdecode.transformer.linear import Linear

ROWS = 512  # of full-vocabulary logits at a time: what stays in the caches


class Scorer:
    """A Markov transformer's decoder, for scoring."""

    def __init__(self, module: Any, bos: int, eos: int, exact: bool):
        """Take the weights of a fairseq decoder.

        `exact` normalises over the vocabulary, as in training; else over the candidates and
        `</s>`.
        """
        self._embed = Embedding(module)
        self._layers = [_Layer(layer) for layer in module.layers]
        self._norm = LayerNorm(module.layer_norm) if module.layer_norm else None
        self._weight = module.output_projection.weight.detach()  # (V, d)
        self._bias = getattr(module.output_projection, "bias", None)
        self._project = Linear([module.output_projection], pack=False) if exact else None
        self._bos, self._eos = bos, eos

    def __call__(
        self,
        candidates: Tensor,
        encoded: Tensor,
        mask: Tensor | None,
        bounds: Sequence[tuple[int, int]] = (),
    ) -> tuple[Tensor, Tensor]:
        """Score `candidates` (B, T, K) given the encoder's output (B, S, d) and its mask.

        `bounds`, each sentence's Tmin and Tmax, are of use to the twin alone (optimised.py).

        Returns log-probabilities: (B, K + 1) of the words of slot 0 and of `</s>`, and
        (B, T - 1, K, K + 1) of those of slot t + 1 after each word of slot t.
        """
        sentences, slots, k = candidates.shape
        slot = torch.arange(slots, device=candidates.device)
        begin = self._embed(candidates.new_full((1, slots), self._bos), slot)
        words = self._embed(
            candidates[:, :-1].flatten(1), slot[1:].repeat_interleave(k)
        )  # (B, (T - 1) · K, d)
        x = torch.cat([begin.expand(sentences, -1, -1), words], dim=1)
        for layer in self._layers:
            x = layer(x, slots, encoded, mask)
        x = self._norm(x) if self._norm else x
        following = F.pad(candidates, (0, 1), value=self._eos)  # (B, T, K + 1)
        first = self._log_probabilities(x[:, :1, None], following[:, :1])  # (B, 1, 1, K + 1)
        hidden = x[:, slots:].unflatten(1, (slots - 1, k))
        return first[:, 0, 0], self._log_probabilities(hidden, following[:, 1:])

    def _log_probabilities(self, hidden: Tensor, following: Tensor) -> Tensor:
        """Return (B, t, n, m): of the words `following` (B, t, m) after `hidden` (B, t, n, d)."""
        logits = hidden @ F.embedding(following, self._weight).transpose(-1, -2)
        if self._bias is not None:
            logits = logits + self._bias[following][:, :, None]
        logits = logits.float()
        if not self._project:
            return logits.log_softmax(-1)
        parts = [
            self._project(rows).float().logsumexp(-1) for rows in hidden.flatten(0, 2).split(ROWS)
        ]
        return logits - torch.cat(parts).view(hidden.shape[:-1])[..., None]


class _Layer:
    def __init__(self, layer: Any):
        own, source = layer.self_attn, layer.encoder_attn
        self._heads = own.num_heads
        self._qkv = Linear([own.q_proj, own.k_proj, own.v_proj], pack=False)
        self._own_out = Linear([own.out_proj], pack=False)
        self._query = Linear([source.q_proj], pack=False)
        self._keys = Linear([source.k_proj, source.v_proj], pack=False)
        self._source_out = Linear([source.out_proj], pack=False)
        self._feed_forward = FeedForward(layer, pack=False)
        prenorm = layer.normalize_before
        self._around_own = Residual(layer.self_attn_layer_norm, prenorm)
        self._around_source = Residual(layer.encoder_attn_layer_norm, prenorm)
        self._around_feed_forward = Residual(layer.final_layer_norm, prenorm)

    def __call__(self, x: Tensor, slots: int, encoded: Tensor, mask: Tensor | None) -> Tensor:
        """Map (B, T + (T - 1) · K, d): first the T states of `<s>`, then those of the words."""
        x = self._around_own(x, lambda y: self._own_attention(y, slots))
        x = self._around_source(x, lambda y: self._source_attention(y, encoded, mask))
        return self._around_feed_forward(x, self._feed_forward)

    def _own_attention(self, x: Tensor, slots: int) -> Tensor:
        query, key, value = self._qkv(x).unflatten(-1, (3, self._heads, -1)).unbind(2)
        # `<s>` sees itself alone; a word sees itself and the `<s>` of one slot before.
        shape = (slots - 1, -1)  # q, k, v become (B, T - 1, K, H, D)
        q, k, v = (part[:, slots:].unflatten(1, shape) for part in (query, key, value))
        k_begin, v_begin = (part[:, : slots - 1, None] for part in (key, value))
        lead = (q * (k - k_begin)).sum(-1, keepdim=True) / q.shape[-1] ** 0.5
        mixed = torch.lerp(v_begin.expand_as(v), v, lead.sigmoid())
        attended = torch.cat([value[:, :slots], mixed.flatten(1, 2)], dim=1)
        return self._own_out(attended.flatten(2))

    def _source_attention(self, x: Tensor, encoded: Tensor, mask: Tensor | None) -> Tensor:
        key, value = (heads(part, self._heads) for part in self._keys(encoded).chunk(2, dim=-1))
        return self._source_out(attend(heads(self._query(x), self._heads), key, value, mask))
