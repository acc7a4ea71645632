from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
import torch
from fairseq.models.nat import CMLMNATransformerModel, NATransformerModel

from fastdecode.config.models import Architecture
from fastdecode.families.parallel.models import CtcModel, GlatModel
from fastdecode.families.parallel.rows import System as Row
from fastdecode.measure.untrained import untrained_system
from fastdecode.system import System

if TYPE_CHECKING:
    from fastdecode.train.job import Job

SAME = 128  # the class of a translation as long as its source


MODELS = {
    "nat": NATransformerModel,
    "cmlm": CMLMNATransformerModel,
    "glat": GlatModel,
    "ctc": CtcModel,
}


def untrained(kind: str, **options: Any) -> System:
    """A random model in fp64 whose predicted lengths are near the source's, and vary."""
    settings: dict[str, Any] = {"pred_length_offset": True, "label_smoothing": 0.1, "upsample": 2}
    settings["src_embedding_copy"] = kind != "cmlm"
    size = Architecture(8, 12, 2, 2, 2, prenorm=True)
    system = untrained_system(size, 30, precision="fp64", kind=MODELS[kind], **settings | options)
    (model,) = system.models
    torch.manual_seed(5)
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.3 * torch.randn_like(weight)
        model.decoder.embed_tokens.weight[system.target.unk()] *= 0.6  # or blanks predict blanks
        if kind == "ctc":  # now and then its blank is the likeliest label
            model.decoder.embed_tokens.weight[system.target.bos()] *= 5.0
        else:
            lengths = model.decoder.embed_length.weight
            lengths.zero_()
            lengths[SAME - 3 : SAME + 5].normal_()
    return system


@pytest.fixture
def dice() -> System:
    return untrained("nat")


@pytest.fixture(scope="session")
def ragged() -> list[list[str]]:
    """Sentences of all lengths, with an unknown word now and then."""
    draw = Random(3)
    vocabulary = [*(f"w{number}" for number in range(12)), "unheard"]
    return [draw.choices(vocabulary, k=draw.randint(1, 9)) for _ in range(40)]


@pytest.fixture(scope="session")
def job_of(tiny_job: Callable[..., "Job"]) -> Callable[..., "Job"]:
    """Makes jobs that train a tiny model of one kind."""

    def make(kind: str, options: dict[str, Any] | None = None, **settings: Any) -> "Job":
        row = Row.model_validate({"kind": kind} | (options or {}))
        job = tiny_job(**settings)
        return replace(job, label=f"tiny-{kind}", family="parallel", options=row.model_dump())

    return make


@pytest.fixture(scope="session")
def trained_as(
    job_of: Callable[..., "Job"], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """Trains a kind, once, and returns the folder."""
    from fastdecode.train.run import train

    @cache
    def trained(kind: str) -> Path:
        out = tmp_path_factory.mktemp(kind)
        epochs = 20 if kind == "nat" else 8
        train(job_of(kind, max_epochs=epochs, lr=1e-2), out, {"system": kind})
        return out

    return trained
