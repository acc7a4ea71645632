import pytest
import torch
from torch import nn

from fastdecode.transformer import linear
from fastdecode.transformer.linear import Linear, multiply


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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_weight_may_be_used_once(dtype: torch.dtype) -> None:
    torch.manual_seed(2)
    x, weight, bias = (torch.randn(*size, dtype=dtype) for size in ((2, 3, 6), (4, 6), (4,)))
    expected = x @ weight.t()
    tolerance = 1e-5 if dtype == torch.float32 else 1e-12
    assert torch.allclose(multiply(x, weight), expected, atol=tolerance)
    turned = weight.t().contiguous().t()  # the same numbers in another order
    assert torch.allclose(multiply(x, turned, bias), expected + bias, atol=tolerance)


def test_bfloat16_is_packed_too() -> None:
    layer = nn.Linear(6, 4).bfloat16()
    x = torch.randn(3, 6).bfloat16()
    found = Linear([layer])(x)
    assert found.dtype == torch.bfloat16
    assert torch.allclose(found, layer(x), atol=0.02)


@pytest.mark.parametrize(
    ("rows", "size", "packed", "unpacked"),
    [
        (3, 8, False, False),  # little work on a small weight
        (linear.FEW // 64 // 8, 8, True, True),  # much
        (3, linear.SMALL // 64, True, False),  # a large weight, which is read faster packed
    ],
)
def test_little_work_on_a_small_weight_is_left_to_pytorch(
    rows: int, size: int, packed: bool, unpacked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(3)
    calls, onednn = [], linear._onednn
    monkeypatch.setattr(linear, "_onednn", lambda *args: calls.append(1) or onednn(*args))
    layer = nn.Linear(64, size)
    x = torch.randn(rows, 64)
    for product, by_onednn in (
        (lambda: Linear([layer], relu=True)(x), packed),
        (lambda: multiply(x, layer.weight, layer.bias).clamp(min=0), unpacked),
        (lambda: Linear([layer], relu=True, pack=False)(x), False),
    ):
        calls.clear()
        assert torch.allclose(product(), layer(x).clamp(min=0), atol=1e-4)
        assert bool(calls) == by_onednn
