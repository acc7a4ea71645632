"""Iterations for a sentence alone, recorded: they write what plain ones write, at any size."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fastdecode.families.aggressive.decoders import DraftAlone, DraftAndVerify
from fastdecode.system import System
from tests.families.aggressive.conftest import (
    shaken,
    untrained,
    untrained_blockwise,
    untrained_drafter,
)
from tests.recording import assert_recorded_writes_the_same, record_on_this_cpu

Sentences = list[list[str]]
SENTENCES = [["w1"] * count for count in (2, 9, 4)]
TOLERANT = {"beta": 14, "tau": 999.0}  # all that is drafted is accepted


def whole() -> System:
    """Another family's drafter, whose drafts are as long as its translations."""
    return replace(shaken(untrained(seed=8), 9), companions={"verifier": untrained()})


BY_OTHERS = {"drafter": "autoregressive", "verifier": "verifier"}
BY_OTHERS |= {"draft": {"beam": 2, "engine": "fastdecode"}}


@pytest.mark.parametrize(
    "row",
    [
        {"block": 2},
        {"block": 2, "mode": "draft"},
        {"min_len": 7},
        {"min_len": 7, "mode": "draft"},
        {"beta": 5, "tau": 2.0, "max_len_a": 0.3, "max_len_b": 2},
    ],
)
def test_settings(row: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    system = untrained_drafter(untrained())
    assert_recorded_writes_the_same(system, "aggressive", row, SENTENCES, monkeypatch)


@pytest.mark.parametrize("limit", [1, 7, 30, 31, 32, 33, 63])
@pytest.mark.parametrize("mode", ["verify", "draft"])
def test_limits_that_a_draft_reaches_beyond(
    limit: int, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block is longer than most of these limits, and all of it is taken at once."""
    system = untrained_drafter(untrained(), k=40)
    row = {"mode": mode, "max_len_a": 0.0, "max_len_b": limit, "min_len": limit}
    row |= TOLERANT if mode == "verify" else {}
    assert_recorded_writes_the_same(system, "aggressive", row, SENTENCES[:1], monkeypatch)


def test_one_encoder_for_both(monkeypatch: pytest.MonkeyPatch) -> None:
    verifier = untrained()
    system = untrained_drafter(verifier)
    system.models[0].encoder.load_state_dict(verifier.models[0].encoder.state_dict())
    row = {"encoders": "shared", **TOLERANT}
    assert_recorded_writes_the_same(system, "aggressive", row, SENTENCES, monkeypatch)


def test_whole_sentences_of_another_family(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {**BY_OTHERS, **TOLERANT}
    assert_recorded_writes_the_same(whole(), "aggressive", row, SENTENCES, monkeypatch)


@pytest.mark.parametrize("k", [2, 20])
def test_heads(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"mode": "blockwise", **TOLERANT}
    system = untrained_blockwise(k)
    assert_recorded_writes_the_same(system, "aggressive", row, SENTENCES, monkeypatch)


@pytest.mark.parametrize(
    ("make", "row", "count"),
    [
        # both encoders; drafting in one window; the pass and the end, for limits up to 31 and above
        (lambda: untrained_drafter(untrained()), TOLERANT, 2 + 1 + 2 * 2),
        (lambda: untrained_drafter(untrained(), k=40), TOLERANT, 2 + 1 + 2 * 2),
        # the drafter's encoder, its steps and its search besides; drafts of 7 to 31 tokens
        (whole, BY_OTHERS, 17),
    ],
)
def test_few_sizes_are_recorded(
    make: Callable[[], System], row: dict[str, Any], count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of sources of six lengths, whatever the drafts and limits are."""
    recorder = record_on_this_cpu(monkeypatch)
    decode = make().decoder("aggressive", fast(**row), " ".join)
    for words in (1, 2, 5, 9, 24, 28):
        decode([["w2"] * words])
    assert recorder.count == count


def fast(**row: Any) -> dict[str, Any]:
    return {"engine": "fastdecode", **row}


def recorded(system: System, **row: Any) -> Any:
    """What takes the end of iterations for a decoder."""
    decoder = system.decoder("aggressive", row, " ".join)
    assert isinstance(decoder, DraftAndVerify | DraftAlone)
    return decoder._growth([9])._recorded


def test_decoders_of_the_same_rules_share_what_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    record_on_this_cpu(monkeypatch)
    system = untrained_drafter(untrained())
    one = recorded(system, **fast(beta=3, tau=1.0))
    assert one is recorded(system, **fast(beta=3, tau=1.0, block=2)) is not None
    for other in ({"beta": 4, "tau": 1.0}, {"beta": 3, "tau": 2.0}, {"mode": "draft"}):
        assert recorded(system, **fast(**other)) is not one
    assert recorded(system, **fast(beta=3, tau=1.0, min_len=2)) is not one
    assert recorded(system, engine="eager", beta=3, tau=1.0) is None
    batch = system.decoder("aggressive", fast(), " ".join)
    assert isinstance(batch, DraftAndVerify)
    assert batch._growth([9, 9])._recorded is None


def test_drafters_of_other_rules_record_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    record_on_this_cpu(monkeypatch)
    system = untrained_drafter(untrained())
    written, source = {}, ["w7"]  # whose first draft ends after four words
    for least in (9, 1, 9):
        row = fast(mode="draft", min_len=least)
        (found,) = system.decoder("aggressive", row, " ".join)([source])
        (eager,) = system.decoder("aggressive", {**row, "engine": "eager"}, " ".join)([source])
        assert found.tokens == eager.tokens
        written[least] = found.tokens
    assert written[9] != written[1]


def test_without_a_gpu_nothing_is_recorded() -> None:
    assert recorded(untrained_drafter(untrained()), **fast()) is None
