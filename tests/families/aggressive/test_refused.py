"""What draft and verify refuses, each in one line."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from fastdecode.errors import UserError
from fastdecode.system import System
from tests.families.aggressive.conftest import (
    ENGINES,
    SETTINGS,
    untrained,
    untrained_blockwise,
    untrained_drafter,
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("mode", ["verify", "draft", "blockwise"])
def test_a_drafter_of_no_numbers_is_one_line(
    ragged: list[list[str]], mode: str, engine: str
) -> None:
    """Nobody would see it by a verifier's translations, which are right, and slow."""
    system = untrained_blockwise() if mode == "blockwise" else untrained_drafter(untrained())
    (model,) = system.models
    with torch.no_grad():
        if mode == "blockwise":  # the last head, which drafts alone
            model.decoder.heads.fc2.bias[-1] = float("nan")
        else:
            model.decoder.layers[0].fc1.weight[3] = float("nan")
    decode = system.decoder("aggressive", {"mode": mode, "engine": engine}, " ".join)
    with pytest.raises(UserError, match="the scores of this model are no finite numbers"):
        decode(ragged)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("row", [{}, SETTINGS["tolerant"], {"mode": "blockwise"}])
def test_a_model_of_no_numbers_is_one_line(
    ragged: list[list[str]], row: dict[str, Any], engine: str
) -> None:
    verifier = untrained()
    system = untrained_drafter(verifier)
    if "mode" in row:
        system = verifier = untrained_blockwise()
    with torch.no_grad():
        verifier.models[0].encoder.layers[0].fc1.weight[3] = float("nan")
    decode = system.decoder("aggressive", {**row, "engine": engine}, " ".join)
    with pytest.raises(UserError, match="the scores of this model are no finite numbers"):
        decode(ragged)


def test_what_does_not_fit_is_refused(pair: System) -> None:
    verifier = untrained()

    def fault(system: System, **row: Any) -> str:
        with pytest.raises(UserError) as error:
            system.decoder("aggressive", row, " ".join)
        assert "\n" not in str(error.value)
        return str(error.value)

    assert "load the system with its companion" in fault(replace(pair, companions={}))
    assert "TransformerModel is no drafter: train gad" in fault(verifier, mode="draft")
    assert "has no heads for a block" in fault(verifier, mode="blockwise", engine="fastdecode")
    for other in (pair, untrained_blockwise(3)):  # Transformers, too, but no autoregressive ones
        message = fault(replace(pair, companions={"v": other}))
        assert "does not write a token at a time from left to right" in message
    twice = replace(pair, models=pair.models * 2)
    assert "run one model each, and these are 2" in fault(twice)
    for option in ("quant_noise_pq", "no_token_positional_embeddings"):  # fairseq's own loop knows
        strange = untrained(**{option: True})
        for engine in ENGINES:
            message = fault(replace(pair, companions={"v": strange}), engine=engine)
            assert "name a plain Transformer as verifier" in message
