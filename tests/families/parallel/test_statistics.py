"""Recall of a non-autoregressive model's candidates against its own scores."""

from random import Random

import pytest

from fastdecode.decode import System
from fastdecode.families.parallel.statistics import recall
from fastdecode.measure.statistic import Split
from tests.families.parallel.test_decoders import Sentences, logits

SPECIAL = 4


def test_recall_is_what_the_model_itself_says(dice: System, ragged: Sentences) -> None:
    draw = Random(2)
    words = [*(f"w{number}" for number in range(26)), "unheard"]
    references = [draw.choices(words, k=draw.randint(0, 6)) for _ in ragged]
    points = recall(dice, Split(ragged, {"real": references}))["points"]
    assert [point["k"] for point in points] == [1, 2, 4, 8, 16]  # of 26 words
    assert {point["candidates"] for point in points} == {"model"}

    ranks = []  # of every reference token, how many words are likelier
    for source, reference in zip(ragged, references, strict=True):
        if reference:
            scores = logits(dice, source, len(reference) + 2)[1:-1, SPECIAL:].tolist()
            for slot, token in zip(scores, reference, strict=True):
                index = dice.target.index(token) - SPECIAL
                ranks.append(
                    sum(score > slot[index] for score in slot) if index >= 0 else len(slot)
                )
    for point in points:
        share = sum(rank < point["k"] for rank in ranks) / len(ranks)
        assert point["recall"] == pytest.approx(share)
        assert point["size"] == point["k"]
    assert 0 < points[0]["recall"] < points[-1]["recall"] < 1
