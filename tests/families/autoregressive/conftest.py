from pathlib import Path
from random import Random

import pytest
import torch

from fastdecode.decode import load_system
from fastdecode.system import System


@pytest.fixture(scope="module")
def dice(trained: Path, binarised: Path) -> System:
    """An untrained model that ends its sentences at all lengths."""
    system = load_system([trained / "checkpoint.pt"], binarised, "cpu")
    (model,) = system.models
    model.double()
    torch.manual_seed(2)
    with torch.no_grad():
        for matrix in (parameter for parameter in model.parameters() if parameter.dim() > 1):
            matrix.normal_(std=0.4)
        model.decoder.output_projection.bias = torch.nn.Parameter(
            torch.zeros(len(system.target), dtype=torch.float64)
        )
        model.decoder.output_projection.bias[system.target.eos()] = 3.3
    return system


@pytest.fixture(scope="session")
def ragged() -> list[list[str]]:
    """Sentences of all lengths, with an unknown word now and then."""
    draw = Random(3)
    vocabulary = ["one", "two", "three", "four", "five", "nine", "unheard"]
    return [draw.choices(vocabulary, k=draw.randint(1, 9)) for _ in range(40)]
