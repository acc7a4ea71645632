"""What tests share by which a machine with a GPU checks itself; elsewhere they are left out."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
import torch

from fastdecode.system import System
from fastdecode.translation import Translation

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
needs_no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")


def on_gpu(system: System) -> System:
    """Return a copy of a system, and of those that decode with it, on the GPU."""
    models = [deepcopy(model).to("cuda") for model in system.models]
    companions = {name: on_gpu(other) for name, other in system.companions.items()}
    return replace(system, models=models, device="cuda", companions=companions, _shared={})


def assert_a_gpu_writes_the_same(
    system: System, family: str, row: dict[str, Any], sentences: Sequence[list[str]]
) -> None:
    """Compare the translations of a batch and of sentences alone, which take other ways."""
    settings = {"engine": "fastdecode", **row}
    here, there = (s.decoder(family, settings, " ".join) for s in (system, on_gpu(system)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fastdecode.transformer.recording.LOGGER.warning", refuse)
        for batch in (sentences, *([sentence] for sentence in sentences[:4])):
            assert_same(there(batch), here(batch))


def refuse(message: str, *values: object) -> None:
    """Take what the log says of what is not recorded as a fault."""
    raise AssertionError(message % values)


def assert_same(found: Sequence[Translation], expected: Sequence[Translation]) -> None:
    """Compare translations, which two engines made one after another; scores but for rounding."""
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours.tokens, ours.passes) == (theirs.tokens, theirs.passes)
        assert ours.accepted == theirs.accepted
        assert ours.score == pytest.approx(theirs.score, abs=1e-5)
