"""Linear layers laid out once for the machine they run on."""

from collections.abc import Sequence
from math import inf
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

# oneDNN takes 40 µs longer to begin than PyTorch's own product, and gains nothing on weights that
# stay in the caches until there is much to multiply (docs/measurements/benchmark).
SMALL = 2**18  # numbers of a weight
FEW = 2**22  # multiplications


def has_bf16() -> bool:
    """Whether this CPU multiplies in bfloat16 faster than in fp32."""
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def _by_onednn(weight: Tensor) -> bool:
    """Whether oneDNN multiplies with `weight`."""
    if weight.device.type != "cpu" or not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    return weight.dtype == torch.float32 or (weight.dtype == torch.bfloat16 and has_bf16())


def _onednn(x: Tensor, weight: Tensor, bias: Tensor | None, relu: bool) -> Tensor:
    attribute = "relu" if relu else "none"
    product: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, attribute, [], "")
    return product


def _pytorch(x: Tensor, weight: Tensor, bias: Tensor | None, relu: bool) -> Tensor:
    y = F.linear(x, weight, bias)
    return F.relu(y) if relu else y


def multiply(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Map x (…, in) to (…, out) with `weight` (out, in), by oneDNN where that pays.

    For weights of a sentence, which are used too seldom to pack them. On some CPUs oneDNN is twice
    as fast as the library that PyTorch's own products call.
    """
    much = x.numel() * len(weight) >= FEW
    return (_onednn if much and _by_onednn(weight) else _pytorch)(x, weight, bias, False)


class Linear:
    """One matrix product for several linear layers of the same input, their outputs side by side.

    In fp32 or bf16 on a CPU the weights are packed for oneDNN: a decoder step is a product of a few
    rows with matrices larger than the caches, and there the packed layout reads the memory twice as
    fast as the plain one (docs/measurements/benchmark). Small matrices are kept in both layouts.
    """

    def __init__(self, layers: Sequence[Any], relu: bool = False, pack: bool = True):
        """Copy weight and bias of `layers`; `relu` applies max(0, ·) to the output.

        With `pack=False` the plain layout stays: what PyTorch does of its own accord.
        """
        weight = torch.cat([layer.weight.detach() for layer in layers])  # (out, in)
        biases = [layer.bias for layer in layers if layer.bias is not None]
        self._bias = torch.cat([bias.detach() for bias in biases]) if biases else None
        self._relu, self._outputs = relu, len(weight)
        packed = pack and _by_onednn(weight)
        small = weight.dtype == torch.float32 and weight.numel() < SMALL
        self._plain = weight if small or not packed else None
        self._packed = torch.ops.mkldnn._reorder_linear_weight(weight) if packed else weight
        self._few = FEW if packed else inf

    def __call__(self, x: Tensor) -> Tensor:
        """Map (…, in) to (…, out)."""
        if self._plain is not None and x.numel() * self._outputs < self._few:
            return _pytorch(x, self._plain, self._bias, self._relu)
        return _onednn(x, self._packed, self._bias, self._relu)
