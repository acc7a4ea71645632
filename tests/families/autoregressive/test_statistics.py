"""Samples of an autoregressive model against its greedy search, and against one another."""

from copy import deepcopy
from dataclasses import replace

import pytest
import torch

from fastdecode.families.autoregressive import statistics
from fastdecode.families.autoregressive.rows import Decoder
from fastdecode.families.autoregressive.statistics import _drawn
from fastdecode.system import System


def test_cold_samples_are_greedy_ones(dice: System, ragged: list[list[str]]) -> None:
    greedy = dice.decoder("autoregressive", {"beam": 1}, " ".join)
    drawn = _drawn(dice, ragged, 1e-4, 2)
    assert drawn == [[found.tokens, found.tokens] for found in greedy(ragged)]


def test_a_sample_that_does_not_end_is_cut_at_its_own_limit(dice: System) -> None:
    lines = [["one"] * size for size in (1, 4, 7)]
    endless = replace(dice, models=deepcopy(dice.models))
    with torch.no_grad():
        endless.models[0].decoder.output_projection.bias[dice.target.eos()] -= 50.0
    drawn = _drawn(endless, lines, 1.0, 2)
    limits = Decoder()
    for line, samples in zip(lines, drawn, strict=True):
        most = int(limits.max_len_a * (len(line) + 1) + limits.max_len_b)
        assert [len(sample) for sample in samples] == [most, most]


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
