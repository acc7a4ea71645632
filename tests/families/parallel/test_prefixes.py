"""The beam over CTC's prefixes against all alignments, its naive twin, and what argmax misses."""

from collections import defaultdict
from itertools import product
from math import exp, inf

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from fastdecode.families.parallel.alignment import collapse
from fastdecode.families.parallel.naive import naive_prefix_search
from fastdecode.families.parallel.prefixes import prefix_search

BLANK = 1


def random_scores(sentences: int, slots: int, labels: int, seed: int) -> Tensor:
    draw = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(sentences, slots, labels, generator=draw, dtype=torch.double)
    return logits.log_softmax(-1)


def every_translation(scores: Tensor) -> dict[tuple[int, ...], float]:
    """Return the probability of every translation of one sentence: of all its alignments."""
    found: dict[tuple[int, ...], float] = defaultdict(float)
    slots, labels = scores.shape
    for path in product(range(labels), repeat=slots):
        chance = sum(float(scores[slot, label]) for slot, label in enumerate(path))
        found[tuple(collapse(path, BLANK))] += exp(chance)
    return found


@settings(max_examples=50)
@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(2, 4))
def test_an_unlimited_beam_finds_the_most_probable_translation(
    seed: int, slots: int, labels: int
) -> None:
    scores = random_scores(1, slots, labels, seed)
    ((words, score),) = prefix_search(scores, torch.tensor([slots]), BLANK, labels**slots)
    chances = every_translation(scores[0])
    assert sum(chances.values()) == pytest.approx(1)
    assert chances[tuple(words)] == pytest.approx(max(chances.values()))
    assert exp(score) == pytest.approx(chances[tuple(words)])


@settings(max_examples=50)
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_it_is_its_naive_twin_and_a_batch_its_sentences(seed: int, beam: int) -> None:
    scores = random_scores(4, 9, 7, seed)
    slots = torch.tensor([9, 1, 5, 7])
    found = prefix_search(scores, slots, BLANK, beam)
    for row, count, (words, score) in zip(scores, slots.tolist(), found, strict=True):
        twin, twin_score = naive_prefix_search(row[:count].tolist(), BLANK, beam)
        assert words == twin
        assert score == pytest.approx(twin_score)
        only = row[None, :count], torch.tensor([count])
        ((alone, alone_score),) = prefix_search(*only, BLANK, beam)
        assert alone == words and alone_score == pytest.approx(score)


def test_alignments_add_up_where_the_blank_is_likeliest_everywhere() -> None:
    # One word, in any of six slots: a blank is likelier in each, the word likelier on the whole.
    row = torch.tensor([0.0, 0.7, 0.3]).log()
    scores = row.expand(1, 6, 3)
    assert collapse(scores[0].argmax(-1).tolist(), BLANK) == []
    ((words, score),) = prefix_search(scores, torch.tensor([6]), BLANK, 4)
    assert words == [2]
    assert exp(score) == pytest.approx(every_translation(scores[0])[(2,)])


def test_labels_of_probability_zero_are_never_written() -> None:
    scores = torch.full((1, 3, 5), -inf)
    scores[0, :, BLANK], scores[0, :, 4] = torch.tensor([0.5, 0.5]).log()
    ((words, _),) = prefix_search(scores, torch.tensor([3]), BLANK, 50)
    assert set(words) == {4}
