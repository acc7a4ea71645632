import pytest
import torch
from torch import nn

from fastdecode.transformer.linear import Linear


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(1, 6), (5, 1, 6), (2, 3, 6)])
def test_layers_of_one_input_are_one_product(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    torch.manual_seed(1)
    layers = [nn.Linear(6, size, dtype=dtype) for size in (4, 7)]
    x = torch.randn(shape, dtype=dtype)
    both = torch.cat([layer(x) for layer in layers], dim=-1)
    tolerance = 1e-5 if dtype == torch.float32 else 1e-12
    assert torch.allclose(Linear(layers)(x), both, atol=tolerance)
    assert torch.allclose(Linear(layers, relu=True)(x), both.clamp(min=0), atol=tolerance)


def test_a_layer_may_have_no_bias() -> None:
    layer = nn.Linear(6, 4, bias=False)
    x = torch.randn(3, 6)
    assert torch.allclose(Linear([layer])(x), layer(x), atol=1e-6)
