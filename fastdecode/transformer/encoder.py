"""The encoder: one pass over the source."""

from typing import Any

import torch
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


class Encoder:
    """A Transformer encoder with a fairseq encoder's weights."""

    def __init__(self, module: Any, pack: bool = True):
        """Take the weights of a fairseq TransformerEncoder; `pack` as in Linear."""
        self.embed = Embedding(module)
        self._layers = [_Layer(layer, pack) for layer in module.layers]
        self._norm = LayerNorm(module.layer_norm) if module.layer_norm else None

    def __call__(self, tokens: Tensor, mask: Tensor | None) -> Tensor:
        """Encode `tokens` (B, S), padded on the right, into (B, S, d).

        `mask` (B, 1, 1, S) is true where there are tokens; None where nothing is padded.
        """
        x = self.embed(tokens, torch.arange(tokens.shape[1], device=tokens.device))
        for layer in self._layers:
            x = layer(x, mask)
        return self._norm(x) if self._norm else x


class _Layer:
    def __init__(self, layer: Any, pack: bool):
        attention = layer.self_attn
        self._heads = attention.num_heads
        projections = [attention.q_proj, attention.k_proj, attention.v_proj]
        self._qkv = Linear(projections, pack=pack)
        self._out = Linear([attention.out_proj], pack=pack)
        self._feed_forward = FeedForward(layer, pack)
        self._around_attention = Residual(layer.self_attn_layer_norm, layer.normalize_before)
        self._around_feed_forward = Residual(layer.final_layer_norm, layer.normalize_before)

    def __call__(self, x: Tensor, mask: Tensor | None) -> Tensor:
        x = self._around_attention(x, lambda y: self._attention(y, mask))
        return self._around_feed_forward(x, self._feed_forward)

    def _attention(self, x: Tensor, mask: Tensor | None) -> Tensor:
        query, key, value = (heads(part, self._heads) for part in self._qkv(x).chunk(3, dim=-1))
        return self._out(attend(query, key, value, mask))
