from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
import torch

from fastdecode.config.models import Architecture
from fastdecode.families.template.model import BlindModel
from fastdecode.measure.untrained import untrained_system
from fastdecode.system import System

if TYPE_CHECKING:
    from fastdecode.train.job import Job


def untrained() -> System:
    """A random model in fp64 that ends its translations at all lengths."""
    size = Architecture(8, 12, 2, 2, 2)
    system = untrained_system(size, 20, precision="fp64", kind=BlindModel)
    (model,) = system.models
    torch.manual_seed(2)
    with torch.no_grad():
        for matrix in (weight for weight in model.parameters() if weight.dim() > 1):
            matrix.normal_(std=0.4)
        model.decoder.embed_tokens.weight[system.target.unk()] = 0.0  # slots differ by their places
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


@pytest.fixture(scope="session")
def blind_job(tiny_job: Callable[..., "Job"]) -> Callable[..., "Job"]:
    """Makes jobs that train a tiny model of this family."""

    def make(**settings: Any) -> "Job":
        return replace(tiny_job(**settings), family="template")

    return make
