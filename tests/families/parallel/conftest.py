from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
import torch
from fairseq.models.nat import NATransformerModel

from fastdecode.config.read import Architecture
from fastdecode.decode import System
from fastdecode.measure.untrained import untrained_system

if TYPE_CHECKING:
    from fastdecode.train.run import Job

SAME = 128  # the class of a translation as long as its source


def untrained_nat(**options: Any) -> System:
    """A random model in fp64 whose predicted lengths are near the source's, and vary."""
    settings = {"src_embedding_copy": True, "pred_length_offset": True, "label_smoothing": 0.1}
    size = Architecture(8, 12, 2, 2, 2, prenorm=True)
    system = untrained_system(
        size, 30, precision="fp64", kind=NATransformerModel, **settings | options
    )
    (model,) = system.models
    torch.manual_seed(5)
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.3 * torch.randn_like(weight)
        lengths = model.decoder.embed_length.weight
        lengths.zero_()
        lengths[SAME - 3 : SAME + 5].normal_()
    return system


@pytest.fixture
def dice() -> System:
    return untrained_nat()


@pytest.fixture(scope="session")
def ragged() -> list[list[str]]:
    """Sentences of all lengths, with an unknown word now and then."""
    draw = Random(3)
    vocabulary = [*(f"w{number}" for number in range(12)), "unheard"]
    return [draw.choices(vocabulary, k=draw.randint(1, 9)) for _ in range(40)]


@pytest.fixture(scope="session")
def nat_job(tiny_job: Callable[..., "Job"]) -> Callable[..., "Job"]:
    """Makes jobs that train a tiny model of this family."""

    def make(**settings: Any) -> "Job":
        job = tiny_job(**settings)
        return replace(job, label="tiny-nat", family="parallel", options={"kind": "nat"})

    return make


@pytest.fixture(scope="session")
def trained_nat(nat_job: Callable[..., "Job"], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a training of this family."""
    from fastdecode.train.run import train

    out = tmp_path_factory.mktemp("nat")
    train(nat_job(max_epochs=20, lr=1e-2), out, {"system": "nat"})
    return out
