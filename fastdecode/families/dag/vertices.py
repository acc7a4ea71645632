"""The decoder as fast as we know how: all vertices in one pass, weights packed for the machine.

The naive twin is fairseq's own decoder with the model's links (model.py).
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from fastdecode.families.dag.links import GatedLinks, gated_links, softmax_links
from fastdecode.transformer.layers import Embedding
from fastdecode.transformer.linear import Linear
from fastdecode.transformer.parallel import ROWS, TwoWayDecoder


class Vertices:
    """A GraphNetwork's weights, laid out for decoding."""

    def __init__(self, module: Any):
        """Take the weights of the GraphNetwork `module`."""
        self._embed = Embedding(module)
        self._decoder = TwoWayDecoder(module)
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
        keys = self._decoder.source_keys(encoded)
        states = self._decoder(self._embed(vertices, place), own_mask, keys, mask)
        parts = map(self._decoder.project, states.flatten(0, 1).split(ROWS))
        return parts, self._links(states, sizes)

    def _links(self, states: Tensor, sizes: Tensor) -> Tensor:
        if self._positions is None:
            query, key = self._link(states).chunk(2, dim=-1)
            return softmax_links(query, key, sizes)
        rows = torch.arange(states.shape[1], device=states.device)
        # what is padded may go on behind the last position
        positions = self._positions[rows.clamp(max=len(self._positions) - 1)].expand_as(states)
        both = self._link(torch.cat([states, positions], dim=-1))
        gates = both.shape[-1] - 2 * self._width
        query, key, gate = both.split([self._width, self._width, gates], dim=-1)
        return gated_links(query, key, gate, sizes)
