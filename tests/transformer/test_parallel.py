"""The two-way decoder against fairseq's, with its causal mask taken away."""

from typing import Any

import pytest
import torch
from torch import Tensor

from fastdecode.transformer.encoder import Encoder
from fastdecode.transformer.layers import Embedding
from fastdecode.transformer.parallel import TwoWayDecoder

PAD, EOS = 1, 2
SOURCE = torch.tensor([[5, 9, 4, 7, EOS], [8, EOS, PAD, PAD, PAD], [6, 6, 10, EOS, PAD]])
SLOTS = torch.tensor([[EOS, 11, 4, 4, 12, 9], [EOS, 5, 16, 6, 13, 8], [EOS, 19, 18, 17, PAD, PAD]])


def expected(model: Any, source: Tensor, slots: Tensor) -> Tensor:
    encoded = model.encoder(source, (source != PAD).sum(1))
    logits: Tensor = model.decoder(slots, encoded, full_context_alignment=True)[0]
    return logits


def ours(model: Any, source: Tensor, slots: Tensor) -> tuple[TwoWayDecoder, Tensor]:
    """Return a decoder and the states of `slots` (R, T), R/B rows to each source."""
    source_mask = (source != PAD)[:, None, None]
    decoder = TwoWayDecoder(model.decoder)
    keys = decoder.source_keys(Encoder(model.encoder)(source, source_mask))
    x = Embedding(model.decoder)(slots, torch.arange(slots.shape[1]))
    filled = slots != PAD
    mask = None if filled.all() else filled[:, None, None]
    return decoder, decoder(x, mask, keys, source_mask)


def test_it_says_what_fairseq_says_without_a_causal_mask(model: Any) -> None:
    decoder, states = ours(model, SOURCE, SLOTS)
    filled = SLOTS != PAD
    logits = expected(model, SOURCE, SLOTS)
    assert torch.allclose(decoder.project(states)[filled], logits[filled], atol=1e-12)
    decoder, states = ours(model, SOURCE[:2], SLOTS[:2])  # no padding, no mask
    assert torch.allclose(decoder.project(states), logits[:2], atol=1e-12)


def test_every_slot_sees_every_other(model: Any) -> None:
    other = SLOTS[:1].clone()
    other[0, 3] = 6
    difference = ours(model, SOURCE[:1], other)[1] - ours(model, SOURCE[:1], SLOTS[:1])[1]
    assert (difference.abs().amax(-1) > 1e-6).all()


def test_rows_of_a_sentence_share_its_source(model: Any) -> None:
    slots = torch.stack([SLOTS[:2], SLOTS[:2].flip(1)], 1)  # (B, 2, T)
    decoder, states = ours(model, SOURCE[:2], slots.flatten(0, 1))
    logits = decoder.project(states).unflatten(0, (2, 2))
    for row in range(2):
        alone = expected(model, SOURCE[:2], slots[:, row])
        assert torch.allclose(logits[:, row], alone, atol=1e-12)


def test_the_likeliest_words(model: Any) -> None:
    decoder, states = ours(model, SOURCE[:2], SLOTS[:2])
    logits = decoder.project(states).flatten(0, 1)
    scores, words = decoder.likeliest(states.flatten(0, 1))
    best = logits.log_softmax(-1).max(-1)
    assert torch.equal(words, best.indices)
    assert torch.allclose(scores, best.values, atol=1e-12)
    banned = tuple(set(words.tolist()))
    logits[:, banned] = float("-inf")
    scores, words = decoder.likeliest(states.flatten(0, 1).repeat(50, 1), banned)  # in parts
    best = logits.log_softmax(-1).max(-1)
    assert torch.equal(words, best.indices.repeat(50))
    assert torch.allclose(scores, best.values.repeat(50), atol=1e-12)
    nothing = decoder.likeliest(states[:0].flatten(0, 1))
    assert [len(part) for part in nothing] == [0, 0]


def test_sure_words_are_ranked_in_single_precision(
    model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder, states = ours(model, SOURCE[:2], SLOTS[:2])
    logits = 12 * torch.eye(20).bfloat16() + torch.rand(20, 20).bfloat16()
    monkeypatch.setattr(decoder, "_project", lambda rows: logits.clone())
    scores, words = decoder.likeliest(states.flatten(0, 1)[:1])
    assert torch.allclose(scores, logits.float().log_softmax(-1).max(-1).values, atol=1e-6)
    assert len(scores.unique()) > 15 and words.tolist() == list(range(20))
