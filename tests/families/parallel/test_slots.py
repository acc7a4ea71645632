"""Slots to fill: those of CTC, masks, what is copied into them, and which hold words."""

import torch
from fairseq.models.nat.nonautoregressive_transformer import _uniform_assignment
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from fastdecode.families.parallel.slots import (
    copied_places,
    is_word_slot,
    mask_words,
    source_slots,
    unframed,
)
from fastdecode.framing import frame_sources
from tests.families.parallel.conftest import untrained

BOS, PAD, EOS, UNK = range(4)
IDS = torch.arange(4000)
WORDS = untrained("cmlm").target
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS.symbols[4:]), max_size=6), min_size=1)


def padded(lengths: list[int]) -> Tensor:
    """Return rows of so many unknown tokens (B, T)."""
    return torch.tensor([[UNK] * n + [PAD] * (max(lengths) - n) for n in lengths])


@given(SENTENCES, st.integers(1, 3))
def test_every_source_token_gets_its_slots(sentences: list[list[str]], upsample: int) -> None:
    slots = source_slots(frame_sources(sentences, WORDS), upsample, WORDS)
    for row, tokens in zip(slots.tolist(), sentences, strict=True):
        filled = upsample * (len(tokens) + 2)
        assert row == [UNK] * filled + [PAD] * (len(row) - filled)


@given(SENTENCES)
def test_targets_lose_their_frame(sentences: list[list[str]]) -> None:
    targets = frame_sources(sentences, WORDS)
    inner, counts = unframed(targets, WORDS)
    assert counts.tolist() == [len(tokens) for tokens in sentences]
    assert is_word_slot(targets, WORDS).sum(1).equal(counts)
    for row, tokens in zip(inner.tolist(), sentences, strict=True):
        ids = [WORDS.index(token) for token in tokens]
        assert row == ids + [PAD] * (len(row) - len(ids))


@given(st.lists(st.tuples(st.integers(2, 30), st.integers(2, 70)), min_size=1, max_size=4))
def test_sources_are_copied_evenly_as_fairseq_does(lengths: list[tuple[int, int]]) -> None:
    sources, slots = (padded(list(each)) for each in zip(*lengths, strict=True))
    places = copied_places(sources, slots, PAD)
    theirs = _uniform_assignment(*torch.tensor(lengths).T)
    for (size, count), found, expected in zip(lengths, places, theirs, strict=True):
        assert found[:count].equal(expected[:count])
        assert not found[count:].any()
        steps = found[:count].diff()
        assert (found[0], found[count - 1]) == (0, size - 1)
        assert steps.min() >= 0
        assert steps.max() - steps.min() <= 1


def test_masks_leave_the_frame_and_take_any_number_of_words_alike() -> None:
    targets = torch.tensor([[BOS, 5, 6, 7, 8, 9, EOS, PAD]]).expand(len(IDS), -1)
    masked = mask_words(targets, IDS, WORDS, 1, 3)
    changed = masked != targets
    assert (masked[changed] == UNK).all()
    assert not changed[:, [0, 6, 7]].any()
    counts = changed.sum(1).bincount(minlength=6)
    assert counts[0] == 0
    assert ((counts[1:] - 800).abs() < 100).all()
    places = changed.sum(0)[1:6]
    assert ((places - 2400).abs() < 150).all()


def test_a_mask_depends_on_seed_update_and_sentence_alone() -> None:
    targets = torch.tensor([[BOS, *range(5, 25), EOS], [BOS, *range(5, 15), EOS, *[PAD] * 10]])
    masked = mask_words(targets, torch.tensor([7, 9]), WORDS, 1, 3)
    alone = mask_words(targets[1:, :12], torch.tensor([9]), WORDS, 1, 3)
    assert torch.equal(masked[1, :12], alone[0])
    for ids, seed, update in (([8, 10], 1, 3), ([7, 9], 2, 3), ([7, 9], 1, 4)):
        other = mask_words(targets, torch.tensor(ids), WORDS, seed, update)
        assert (other != masked).any(1).all()
