from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from fastdecode.config.models import Architecture
from fastdecode.measure.untrained import untrained_system

VARIANTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "postnorm": ({}, {}),
    "prenorm": ({"prenorm": True}, {}),
    "deep encoder": ({"encoder_layers": 4, "decoder_layers": 1}, {}),
    "learned positions": ({}, {"encoder_learned_pos": True, "decoder_learned_pos": True}),
    "gelu": ({}, {"activation_fn": "gelu"}),
    "unscaled, normalised": ({}, {"no_scale_embedding": True, "layernorm_embedding": True}),
    "separate embeddings": ({}, {"share_all_embeddings": False}),
}


@pytest.fixture(params=VARIANTS)
def model(request: pytest.FixtureRequest) -> Any:
    """A random model in fp64, whose layer normalisations and biases are not the identity."""
    shape, options = VARIANTS[request.param]
    size = {"width": 8, "ffn": 12, "heads": 2, "encoder_layers": 2, "decoder_layers": 2}
    system = untrained_system(Architecture(**size | shape), 20, precision="fp64", **options)
    (model,) = system.models
    torch.manual_seed(2)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 1:
                weight += 0.3 * torch.randn_like(weight)
    return model


@pytest.fixture(autouse=True)
def fairseq_in_full_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    """fairseq computes some of its softmaxes in fp32 whatever the model is."""
    monkeypatch.setattr(
        "fairseq.utils.softmax", lambda x, dim, onnx_trace=False: F.softmax(x, dim=dim)
    )


@pytest.fixture(autouse=True)
def no_gradients() -> Iterator[None]:
    with torch.inference_mode():
        yield
