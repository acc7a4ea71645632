"""What tests share that compare recorded work with plain work, on a CPU."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from fastdecode.families.lattice.paths import follow_by_doubling
from fastdecode.system import System
from tests.gpu import assert_same, refuse
from tests.tape import TapeRecorder

LOOKING = (
    "beams",
    "families.aggressive.verify",
    "families.parallel.networks",
)  # modules that ask whether looks are free


def record_on_this_cpu(monkeypatch: pytest.MonkeyPatch) -> TapeRecorder:
    """Let whatever is built from now on record its work as it would on a GPU.

    Nothing may be refused: neither what waits for the device, nor what says something else when it
    is repeated.
    """
    recorder = TapeRecorder()
    monkeypatch.setattr("fastdecode.transformer.recording.pays", lambda module: True)
    monkeypatch.setattr("fastdecode.transformer.recording.cuda_graph", recorder)
    monkeypatch.setattr("fastdecode.transformer.recording.LOGGER.warning", refuse)
    for module in LOOKING:  # as on a GPU, nobody looks
        monkeypatch.setattr(f"fastdecode.{module}.looks_are_free", lambda device: False)
    # nor is anything done outside of PyTorch
    monkeypatch.setattr("fastdecode.transformer.highest.BY_NUMPY", ())
    monkeypatch.setattr("fastdecode.families.lattice.paths.follow", follow_by_doubling)
    return recorder


def assert_recorded_writes_the_same(
    system: System,
    family: str,
    row: dict[str, Any],
    sentences: Sequence[list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Compare what is recorded with what is not, of sentences alone and of a batch between them."""
    settings = {"engine": "fastdecode", **row}
    plain = system.decoder(family, settings, " ".join)
    recorder = record_on_this_cpu(monkeypatch)
    recorded = _anew(system).decoder(family, settings, " ".join)
    for batch in ([sentences[0]], sentences, *([sentence] for sentence in sentences[1:])):
        assert_same(recorded(batch), plain(batch))
    count = recorder.count
    assert count
    for sentence in sentences:
        assert_same(recorded([sentence]), plain([sentence]))
    assert recorder.count == count  # what comes again was recorded before


def _anew(system: System) -> System:
    """Return a system that lays the same models out anew, and those that decode with it."""
    companions = {name: _anew(other) for name, other in system.companions.items()}
    return replace(system, companions=companions, _shared={})
