"""Both encoders at once, or one for both, change no token."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Thread, current_thread
from typing import Any

import pytest
import torch
from fairseq.models.transformer import TransformerEncoderBase

from fastdecode.errors import UserError
from fastdecode.system import System
from fastdecode.transformer.encoder import Encoder
from fastdecode.transformer.weights import serial_layers
from tests.families.aggressive.conftest import (
    ENGINES,
    SETTINGS,
    facts,
    untrained,
    untrained_drafter,
)


def test_encoders_at_once_change_nothing(pair: System, ragged: list[list[str]]) -> None:
    both = [
        pair.decoder(
            "aggressive", {**SETTINGS["near"], "encoders": how, "engine": engine}, " ".join
        )
        for how in ("apart", "concurrent")
        for engine in ENGINES
    ]
    expected, *others = [facts(decoder(ragged)) for decoder in both]
    assert all(other == expected for other in others)


@contextmanager
def threads_of_pytorch(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    yield
    torch.set_num_threads(before)


def test_encoders_at_once_share_the_threads_that_there_are(
    pair: System, ragged: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[tuple[Thread, int]] = []
    run = Encoder.__call__

    def noted(*arguments: Any) -> Any:
        threads.append((current_thread(), torch.get_num_threads()))
        return run(*arguments)

    monkeypatch.setattr(Encoder, "__call__", noted)
    for how, allowed, each in (
        ("apart", 2, [2, 2]),
        ("concurrent", 1, [1, 1]),
        ("concurrent", 2, [1, 1]),
        ("concurrent", 3, [1, 2]),
    ):
        threads.clear()
        row = {"encoders": how, "engine": "fastdecode"}
        with threads_of_pytorch(allowed):
            pair.decoder("aggressive", row, " ".join)(ragged[:2])
            assert torch.get_num_threads() == allowed
        assert sorted(count for _, count in threads) == each
        together = how == "concurrent" and allowed > 1
        assert len({thread for thread, _ in threads}) == (2 if together else 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_one_encoder_for_both(
    ragged: list[list[str]], engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    verifier = untrained()
    drafter = untrained_drafter(verifier)
    row = {**SETTINGS["near"], "engine": engine}
    shared = {**row, "encoders": "shared"}
    with pytest.raises(UserError, match="drafter and verifier have encoders of their own: train"):
        drafter.decoder("aggressive", shared, " ".join)
    drafter.models[0].encoder.load_state_dict(verifier.models[0].encoder.state_dict())
    drafter = replace(drafter, _shared={})  # nothing is laid out yet
    apart = drafter.decoder("aggressive", row, " ".join)(ragged)
    decoder = drafter.decoder("aggressive", shared, " ".join)
    passes: list[int] = []

    def counting(run: Any) -> Any:
        def counted(*arguments: Any, **more: Any) -> Any:
            passes.append(1)
            return run(*arguments, **more)

        return counted

    monkeypatch.setattr(Encoder, "__call__", counting(Encoder.__call__))
    forward = TransformerEncoderBase.forward
    monkeypatch.setattr(TransformerEncoderBase, "forward", counting(forward))
    assert facts(decoder(ragged)) == facts(apart)
    assert len(passes) == 1
    assert decoder.serial_layers.once == serial_layers(verifier.models[0]).once
