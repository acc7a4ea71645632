"""What drawings of slots are made of, against the decoder and the model's own scores."""

import pytest
import torch

from fastdecode.errors import UserError
from fastdecode.families.parallel.drawn import CANDIDATES, slots
from fastdecode.measure.statistic import Split
from fastdecode.system import System
from tests.families.parallel.test_decoders import Sentences, logits


def test_slots_are_those_of_the_decoder(dice: System, ragged: Sentences) -> None:
    split = Split(ragged, {"real": ragged})
    found = slots(dice, split)["sentences"]
    assert [sentence["line"] for sentence in found] == split.short(3)
    for sentence in found:
        source = ragged[sentence["line"]]
        (expected,) = dice.decoder("parallel", {"search": "argmax"}, " ".join)([source])
        assert sentence["written"] == expected.tokens
        count = len(sentence["slots"])
        scores = logits(dice, source, count + 2)[1:-1].double().softmax(-1)
        for slot, candidates in zip(scores, sentence["slots"], strict=True):
            best = slot.topk(CANDIDATES)
            assert [chance for _, chance in candidates] == pytest.approx(best.values.tolist())
            assert [token for token, _ in candidates] == [
                dice.target[word] for word in best.indices.tolist()
            ]
    assert torch.is_grad_enabled()


def test_nothing_is_short_enough(dice: System) -> None:
    with pytest.raises(UserError, match="nothing short enough"):
        slots(dice, Split([["w1"]], {"real": [["w1"]]}))
