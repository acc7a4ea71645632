"""Samples of an autoregressive model against its greedy search, and against one another."""

import pytest
import torch

from fastdecode.families.autoregressive import statistics
from fastdecode.families.autoregressive.statistics import _drawn
from fastdecode.system import System


def test_cold_samples_are_greedy_ones(dice: System, ragged: list[list[str]]) -> None:
    greedy = dice.decoder("autoregressive", {"beam": 1}, " ".join)
    for line in ragged[:12]:  # one by one: the limit of length is a batch's
        (found,) = greedy([line])
        assert _drawn(dice, [line], 1e-4, 2) == [[found.tokens, found.tokens]]


def test_samples_differ_and_come_again(dice: System, ragged: list[list[str]]) -> None:
    before = torch.random.get_rng_state()
    drawn = _drawn(dice, ragged, 1.0, 3)
    assert all(len(samples) == 3 for samples in drawn)
    assert any(samples[0] != samples[1] for samples in drawn)
    assert _drawn(dice, ragged, 1.0, 3) == drawn
    assert torch.equal(torch.random.get_rng_state(), before)


def test_samples_are_of_the_nucleus(
    dice: System, ragged: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The smallest has one token: that of greedy search."""
    cold = [_drawn(dice, [line], 1e-4, 1) for line in ragged[:12]]
    monkeypatch.setattr(statistics, "TOP_P", 1e-6)
    assert [_drawn(dice, [line], 1.0, 1) for line in ragged[:12]] == cold
