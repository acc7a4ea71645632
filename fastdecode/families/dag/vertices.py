"""The decoder as fast as we know how: all vertices in one pass, weights packed for the machine.

A vertex sees all vertices of its graph, so there is no cache and no order. The naive twin is
fairseq's own decoder with the model's links (model.py).
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from fastdecode.families.dag.links import GatedLinks, gated_links, softmax_links
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


class Vertices:
    """A GraphDecoder's weights, laid out for decoding."""

    def __init__(self, module: Any):
        """Take the weights of the GraphDecoder `module`."""
        self._embed = Embedding(module)
        self._layers = [_Layer(layer) for layer in module.layers]
        self._norm = LayerNorm(module.layer_norm) if module.layer_norm else None
        self._project = Linear([module.output_projection])
        links = module.links
        self._width = links.query.out_features
        gated = isinstance(links, GatedLinks)
        self._link = Linear([links.query, links.key, *([links.gate] if gated else [])])
        self._positions = links.positions.weight.detach() if gated else None

    def __call__(
        self,
        vertices: Tensor,
        sizes: Tensor,
        own_mask: Tensor | None,
        encoded: Tensor,
        mask: Tensor | None,
    ) -> tuple[Iterator[Tensor], Tensor]:
        """Return the logits of all B · L vertices, in parts (rows, V), and the links (B, L, L).

        `vertices` (B, L) are the blanks of graphs of `sizes` (B), `encoded` (B, S, d) is the
        encoder's output. The masks (B, 1, 1, L) and (B, 1, 1, S) are true where nothing is padded;
        None: nowhere.
        """
        place = torch.arange(vertices.shape[1], device=vertices.device)
        x = self._embed(vertices, place)
        for layer in self._layers:
            x = layer(x, own_mask, encoded, mask)
        x = self._norm(x) if self._norm else x
        parts = (self._project(rows) for rows in x.flatten(0, 1).split(ROWS))
        return parts, self._links(x, sizes)

    def _links(self, states: Tensor, sizes: Tensor) -> Tensor:
        if self._positions is None:
            query, key = self._link(states).chunk(2, dim=-1)
            return softmax_links(query, key, sizes)
        positions = self._positions[: states.shape[1]].expand_as(states)
        both = self._link(torch.cat([states, positions], dim=-1))
        gates = both.shape[-1] - 2 * self._width
        query, key, gate = both.split([self._width, self._width, gates], dim=-1)
        return gated_links(query, key, gate, sizes)


class _Layer:
    def __init__(self, layer: Any):
        own, source = layer.self_attn, layer.encoder_attn
        self._heads = own.num_heads
        self._qkv = Linear([own.q_proj, own.k_proj, own.v_proj])
        self._own_out = Linear([own.out_proj])
        self._query = Linear([source.q_proj])
        self._keys = Linear([source.k_proj, source.v_proj])
        self._source_out = Linear([source.out_proj])
        self._feed_forward = FeedForward(layer)
        prenorm = layer.normalize_before
        self._around_own = Residual(layer.self_attn_layer_norm, prenorm)
        self._around_source = Residual(layer.encoder_attn_layer_norm, prenorm)
        self._around_feed_forward = Residual(layer.final_layer_norm, prenorm)

    def __call__(
        self, x: Tensor, own_mask: Tensor | None, encoded: Tensor, mask: Tensor | None
    ) -> Tensor:
        x = self._around_own(x, lambda y: self._own_attention(y, own_mask))
        x = self._around_source(x, lambda y: self._source_attention(y, encoded, mask))
        return self._around_feed_forward(x, self._feed_forward)

    def _own_attention(self, x: Tensor, mask: Tensor | None) -> Tensor:
        query, key, value = (heads(part, self._heads) for part in self._qkv(x).chunk(3, dim=-1))
        return self._own_out(attend(query, key, value, mask))

    def _source_attention(self, x: Tensor, encoded: Tensor, mask: Tensor | None) -> Tensor:
        key, value = (heads(part, self._heads) for part in self._keys(encoded).chunk(2, dim=-1))
        return self._source_out(attend(heads(self._query(x), self._heads), key, value, mask))
