"""Orders of writing: worked examples, and the laws that hold for every length."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from fastdecode.families.bidirectional.folding import Fold, Order
from tests.families.bidirectional.conftest import ORDERS

BOS, PAD, E = 0, 1, 2  # E: `</s>`, which stands for EOD


def batch(sentences: list[list[int]]) -> Tensor:
    width = max(map(len, sentences)) + 1
    return torch.tensor([[*s, E, *[PAD] * (width - len(s) - 1)] for s in sentences])


def fold(order: Order, *sentences: list[int]) -> list[list[int]]:
    rows: list[list[int]] = Fold(order).fold(batch(list(sentences)), PAD).tolist()
    return rows


@pytest.mark.parametrize("words", [("outside-in", "bos-eos"), ("r2l", "eos")])
def test_what_is_no_order_is_refused(words: tuple[Any, Any]) -> None:
    with pytest.raises(ValueError, match=f"no order '{words[0]}' with start '{words[1]}'"):
        Fold(*words)


@pytest.mark.parametrize(
    ("order", "four", "five"),
    [
        ("bidirectional", [11, 14, 12, 13, E, E], [11, 15, 12, 14, 13, E]),
        ("pairs-l2r", [11, 12, 13, 14, E, E], [11, 12, 13, 14, 15, E]),
        ("pairs-r2l", [14, 13, 12, 11, E, E], [15, 14, 13, 12, 11, E]),
        ("r2l", [14, 13, 12, 11, E], [15, 14, 13, 12, 11, E]),
    ],
)
def test_worked_examples(order: Order, four: list[int], five: list[int]) -> None:
    assert fold(order, [11, 12, 13, 14]) == [four]
    assert fold(order, [11, 12, 13, 14, 15]) == [five]
    assert fold(order, [11]) == [[11, E]]
    assert fold(order, []) == [[E] * Fold(order).size]


def test_the_papers_figure_2() -> None:
    written = ["We", ".", "will", "Tokyo", "go", "to"]
    assert Fold().restore(written) == ["We", "will", "go", "to", "Tokyo", "."]


sentences = st.lists(st.integers(4, 99), max_size=12)


@given(order=st.sampled_from(ORDERS), drawn=st.lists(sentences, min_size=1, max_size=5))
def test_what_is_folded_comes_back(order: Order, drawn: list[list[int]]) -> None:
    kind = Fold(order)
    rows = fold(order, *drawn)
    for sentence, row in zip(drawn, rows, strict=True):
        n, slots = len(sentence), kind.slots(len(sentence))
        assert slots % kind.size == 0 and 1 <= slots - n <= kind.size
        assert kind.restore(row[:n]) == sentence
        assert row[n:] == [E] * (slots - n) + [PAD] * (len(row) - slots)
        assert fold(order, sentence) == [row[:slots]]  # alone as in company
    assert len(rows[0]) == max(kind.slots(len(sentence)) for sentence in drawn)


@pytest.mark.parametrize("order", ORDERS)
def test_every_length_comes_back(order: Order) -> None:
    lengths = range(65)
    sentences = [list(range(4, 4 + length)) for length in lengths]
    rows = fold(order, *sentences)
    assert [Fold(order).restore(rows[length][:length]) for length in lengths] == sentences


def test_the_decoder_sees_the_pair_before() -> None:
    target = batch([[11, 12, 13, 14], [21]])
    for kind, first in ((Fold(), [BOS, E]), (Fold(start="bos-bos"), [BOS, BOS])):
        folded = kind.fold(target, PAD)
        assert list(kind.first(BOS, E)) == first
        assert kind.inputs(folded, first, PAD).tolist() == [
            [*first, 11, 14, 12, 13],
            [*first, PAD, PAD, PAD, PAD],
        ]
    single = Fold("r2l", "bos-bos")
    assert single.first(BOS, E) == (E,)
    assert single.inputs(single.fold(target, PAD), [E], PAD).tolist() == [
        [E, 14, 13, 12, 11],
        [E, 21, PAD, PAD, PAD],
    ]
