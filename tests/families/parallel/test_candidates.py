"""Candidates of a non-autoregressive model against its own probabilities."""

import pytest
import torch

from fastdecode.errors import UserError
from fastdecode.families.parallel import candidates
from fastdecode.families.parallel.candidates import nat_candidates
from fastdecode.system import System
from tests.families.parallel.test_decoders import Sentences, logits

SPECIAL = 4


def lengths_of(sentences: Sentences) -> list[int]:
    return [(3 * len(sentence) + 1) % 8 for sentence in sentences]  # of any, 0 too


def test_they_are_the_likeliest_words_of_each_slot(dice: System, ragged: Sentences) -> None:
    lengths = lengths_of(ragged)
    assert 0 in lengths and len(set(lengths)) > 3
    found = nat_candidates(dice, ragged, lengths, 5)
    for sentence, length, rows in zip(ragged, lengths, found, strict=True):
        assert rows.shape == (length, 5)
        scores = logits(dice, sentence, length + 2)[1:-1]
        words = range(SPECIAL, len(dice.target))
        for slot, row in zip(scores.tolist(), rows.tolist(), strict=True):
            assert row == sorted(words, key=lambda word, slot=slot: -slot[word])[:5]


def test_batches_change_nothing(
    dice: System, ragged: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = nat_candidates(dice, ragged, lengths_of(ragged), 3)
    monkeypatch.setattr(candidates, "MOST_TOKENS", 16)
    found = nat_candidates(dice, ragged, lengths_of(ragged), 3)
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


def test_what_cannot_be_is_refused(dice: System) -> None:
    (all_words,) = nat_candidates(dice, [["w1"]], [2], 26)
    assert all(sorted(row) == list(range(SPECIAL, 30)) for row in all_words.tolist())
    with pytest.raises(UserError, match="K = 27: the dictionary has 26 words"):
        nat_candidates(dice, [["w1"]], [2], 27)
    with pytest.raises(UserError, match="a length of 1023: the model has 1022 slots"):
        nat_candidates(dice, [["w1"]], [1023], 3)
    with pytest.raises(ValueError, match="1 lengths of 2 sources"):
        nat_candidates(dice, [["w1"], ["w2"]], [2], 3)
