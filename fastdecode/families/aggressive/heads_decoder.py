"""The decoder of a blockwise model over this project's own Transformer."""

from typing import Any

from torch import Tensor

from fastdecode.transformer.decoder import Decoder
from fastdecode.transformer.graphs import GraphedDecoder
from fastdecode.transformer.linear import Linear


class HeadsDecoder(Decoder):
    """The decoder of a blockwise model; what most passes do not need is not computed."""

    def __init__(self, module: Any):
        """Take the weights of the room's own BlockwiseDecoder."""
        super().__init__(module)
        heads = module.heads
        self._inner = Linear([heads.fc1], relu=True)
        width, self._count = heads.fc2.weight.shape[0] // heads.count, heads.count
        self._first = Linear([_Rows(heads.fc2, 0, width)])
        self._rest = Linear([_Rows(heads.fc2, width, None)])

    def first(self, states: Tensor) -> Tensor:
        """Return the first head's logits (…, V) of `states` (…, d)."""
        return self.project(states + self._first(self._inner(states)))

    def others(self, states: Tensor, most: int) -> Tensor:
        """Return logits (R, n, V) of `most` heads at most after the first, of states (R, d)."""
        outputs = self._rest(self._inner(states)).unflatten(-1, (self._count - 1, -1))
        return self.project(states[:, None] + outputs[:, :most])


class GraphedHeadsDecoder(GraphedDecoder, HeadsDecoder):
    """A HeadsDecoder whose passes are recorded; heads are not, which make little of few states."""


class _Rows:
    """Some outputs of a linear layer."""

    def __init__(self, layer: Any, start: int, end: int | None):
        self.weight, self.bias = layer.weight[start:end], layer.bias[start:end]
