"""Linear layers laid out once for the machine they run on."""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor


class Linear:
    """One matrix product for several linear layers of the same input, their outputs side by side.

    In fp32 on a CPU the weights are packed for oneDNN: a decoder step is a product of a few rows
    with matrices larger than the caches, and there the packed layout reads the memory twice as fast
    as the plain one (docs/measurements/benchmark).
    """

    def __init__(self, layers: Sequence[Any], relu: bool = False, pack: bool = True):
        """Copy weight and bias of `layers`; `relu` applies max(0, ·) to the output.

        With `pack=False` the plain layout stays: what PyTorch does of its own accord.
        """
        weight = torch.cat([layer.weight.detach() for layer in layers])  # (out, in)
        biases = [layer.bias for layer in layers if layer.bias is not None]
        self._bias = torch.cat([bias.detach() for bias in biases]) if biases else None
        self._relu = relu
        self._packed = pack and weight.device.type == "cpu" and weight.dtype == torch.float32
        self._packed &= torch.backends.mkldnn.is_available()
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight) if self._packed else weight

    def __call__(self, x: Tensor) -> Tensor:
        """Map (…, in) to (…, out)."""
        if self._packed:
            attribute = "relu" if self._relu else "none"
            packed: Tensor = torch.ops.mkldnn._linear_pointwise(
                x, self._weight, self._bias, attribute, [], ""
            )
            return packed
        y = F.linear(x, self._weight, self._bias)
        return F.relu(y) if self._relu else y
