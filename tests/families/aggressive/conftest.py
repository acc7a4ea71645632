from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest
import torch
from torch import Tensor

from fastdecode.config.models import Architecture
from fastdecode.families.aggressive.blockwise import BlockwiseModel
from fastdecode.families.aggressive.drafter import DrafterModel
from fastdecode.measure.untrained import untrained_system
from fastdecode.system import System
from fastdecode.translation import Translation

ENGINES = ("eager", "fastdecode")
SETTINGS: dict[str, dict[str, Any]] = {
    "strict": {},
    "near": {"beta": 3, "tau": 0.5},
    "tolerant": {"beta": 9, "tau": 3.0},
    "all": {"beta": 12, "tau": 99.0},
    "short": {"beta": 5, "tau": 2.0, "max_len_a": 0.3, "max_len_b": 2},
    "long": {"beta": 5, "tau": 2.0, "min_len": 7},
}
WORDS = 14
Untrained = Callable[..., System]


def facts(translations: Sequence[Translation]) -> list[tuple[list[str], list[int], int]]:
    """Return all that engines and batches must agree on: tokens, and how they came."""
    return [(t.tokens, t.accepted, t.passes) for t in translations]


def shaken(system: System, seed: int) -> System:
    """Return the system with weights that leave nothing at its identity."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for weight in system.models[0].parameters():
            weight += 0.2 * torch.randn_like(weight)
    return system


def untrained(kind: Any = None, seed: int = 1, prenorm: bool = True, **options: Any) -> System:
    """Return a random model in fp64, an autoregressive one by default."""
    size = Architecture(16, 24, 2, 2, 2, prenorm)
    kinds = {"kind": kind} if kind else {}
    return shaken(untrained_system(size, WORDS, seed, "cpu", "fp64", **kinds, **options), seed)


def untrained_drafter(verifier: System, k: int = 4, **options: Any) -> System:
    """Return a random drafter beside its verifier."""
    options = {"encoder_start": "random", **options}
    drafter = untrained(DrafterModel, seed=2, block=k, **options)
    return replace(drafter, companions={"verifier": verifier})


def untrained_blockwise(k: int = 4, **options: Any) -> System:
    return untrained(BlockwiseModel, seed=3, block=k, **options)


def numbered(system: System, sentence: Sequence[str]) -> list[int]:
    """Return the token numbers of a sentence, with `</s>`."""
    return [*map(system.source.index, sentence), system.source.eos()]


def padded(rows: Sequence[Sequence[int]], pad: int) -> Tensor:
    """Return rows as one tensor, padded on the right."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[pad] * (longest - len(row))] for row in rows])


@pytest.fixture(params=[True, False], ids=["prenorm", "postnorm"])
def pair(request: pytest.FixtureRequest) -> System:
    """A random drafter with its random verifier."""
    return untrained_drafter(untrained(prenorm=request.param), prenorm=request.param)


@pytest.fixture(scope="session")
def ragged() -> list[list[str]]:
    """Sentences of all lengths, with an unknown word now and then."""
    draw = Random(3)
    vocabulary = [*(f"w{number}" for number in range(WORDS - 4)), "unheard"]
    return [draw.choices(vocabulary, k=draw.randint(1, 9)) for _ in range(12)]


@pytest.fixture(autouse=True)
def poisoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fresh memory holds no numbers: whoever reads what nobody wrote is found out."""
    empty = Tensor.new_empty

    def new_empty(tensor: Tensor, *size: Any, **more: Any) -> Tensor:
        fresh = empty(tensor, *size, **more)
        return fresh.fill_(float("nan")) if fresh.is_floating_point() else fresh

    monkeypatch.setattr(Tensor, "new_empty", new_empty)
