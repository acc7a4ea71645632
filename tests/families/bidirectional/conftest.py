from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
import torch
import torch.nn.functional as F

from fastdecode.config.models import Architecture
from fastdecode.families.bidirectional.folding import Order
from fastdecode.families.bidirectional.model import FoldedModel
from fastdecode.measure.untrained import untrained_system
from fastdecode.system import System

if TYPE_CHECKING:
    from fastdecode.train.job import Job

ORDERS: tuple[Order, ...] = ("bidirectional", "pairs-l2r", "pairs-r2l", "r2l")


def untrained(
    fold: Order = "bidirectional", start: str = "bos-eos", prenorm: bool = False, **options: Any
) -> System:
    """A random model in fp64 that ends its translations at all lengths."""
    settings = {"fold": fold, "start": start, "decoder_learned_pos": fold != "r2l"}
    size = Architecture(8, 12, 2, 2, 2, prenorm=prenorm)
    system = untrained_system(size, 20, precision="fp64", kind=FoldedModel, **settings | options)
    (model,) = system.models
    torch.manual_seed(2)
    with torch.no_grad():
        for matrix in (parameter for parameter in model.parameters() if parameter.dim() > 1):
            matrix.normal_(std=0.4)
        projection = model.decoder.output_projection
        projection.bias = torch.nn.Parameter(torch.zeros(20, dtype=torch.float64))
        projection.bias[system.target.eos()] = 1.0
    return system


@pytest.fixture(scope="session")
def ragged() -> list[list[str]]:
    """Sentences of all lengths, with an unknown word now and then."""
    draw = Random(3)
    vocabulary = [*(f"w{number}" for number in range(12)), "unheard"]
    return [draw.choices(vocabulary, k=draw.randint(1, 9)) for _ in range(20)]


@pytest.fixture
def fairseq_in_full_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    """fairseq computes some of its softmaxes in fp32 whatever the model is."""
    monkeypatch.setattr(
        "fairseq.utils.softmax", lambda x, dim, onnx_trace=False: F.softmax(x, dim=dim)
    )


@pytest.fixture(scope="session")
def folded_job(tiny_job: Callable[..., "Job"]) -> Callable[..., "Job"]:
    """Makes jobs that train a tiny model of this family."""

    def make(
        fold: Order = "bidirectional",
        start: str = "bos-eos",
        positions: str = "learned",
        **settings: Any,
    ) -> "Job":
        options = {"fold": fold, "start": start, "positions": positions}
        return replace(tiny_job(**settings), family="bidirectional", options=options)

    return make
