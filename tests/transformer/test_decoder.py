"""The incremental decoder against fairseq's pass over whole sentences."""

from typing import Any

import pytest
import torch
from torch import Tensor

from fastdecode.config.models import Architecture
from fastdecode.errors import UserError
from fastdecode.measure.untrained import untrained_system
from fastdecode.transformer.decoder import Decoder, Memory
from fastdecode.transformer.encoder import Encoder
from fastdecode.transformer.layers import check_supported

PAD, EOS = 1, 2
SOURCE = torch.tensor([[5, 9, 4, 7, EOS], [8, EOS, PAD, PAD, PAD], [6, 6, 10, EOS, PAD]])
TARGET = torch.tensor([[EOS, 11, 4, 4, 12, 9], [EOS, 5, 16, 6, 13, 8], [EOS, 19, 18, 17, 7, 7]])


def expected(model: Any, source: Tensor, target: Tensor) -> Tensor:
    logits: Tensor = model(source, (source != PAD).sum(1), target)[0]
    return logits


def begin(model: Any, decoder: Decoder, rows: int = 1, longest: int = 6) -> Memory:
    mask = (SOURCE != PAD)[:, None, None]
    return decoder.begin(Encoder(model.encoder)(SOURCE, mask), mask, rows, longest)


def test_step_by_step_it_says_what_one_pass_says(model: Any) -> None:
    decoder = Decoder(model.decoder)
    memory = begin(model, decoder)
    logits = [decoder.step(TARGET[:, i : i + 1], memory) for i in range(6)]
    assert torch.allclose(torch.cat(logits, 1), expected(model, SOURCE, TARGET), atol=1e-12)


def test_new_tokens_see_each_other(model: Any) -> None:
    decoder = Decoder(model.decoder)
    first = decoder.step(TARGET[:, :2], begin(model, decoder))[:, 0]
    other = TARGET[:, :2].clone()
    other[:, 1] = 3
    assert not torch.allclose(first, decoder.step(other, begin(model, decoder))[:, 0])


def test_rows_of_a_sentence_share_its_source(model: Any) -> None:
    decoder = Decoder(model.decoder)
    memory = begin(model, decoder, rows=2)
    targets = torch.stack([TARGET, TARGET.flip(1)], 1)  # (B, 2, n)
    logits = [decoder.step(targets.flatten(0, 1)[:, i : i + 1], memory) for i in range(6)]
    together = torch.cat(logits, 1).unflatten(0, (3, 2))
    for row in range(2):
        alone = expected(model, SOURCE, targets[:, row])
        assert torch.allclose(together[:, row], alone, atol=1e-12)


def test_a_row_goes_on_from_another(model: Any) -> None:
    decoder = Decoder(model.decoder)
    memory = begin(model, decoder, rows=2)
    prefixes = torch.stack([TARGET[:, :3], TARGET[:, :3].flip(1)], 1).flatten(0, 1)
    for i in range(3):
        decoder.step(prefixes[:, i : i + 1], memory)
    chosen = torch.tensor([1, 1, 2, 3, 5, 4])
    memory.keep_rows(chosen)
    new = torch.tensor([[4], [5], [6], [7], [8], [9]])
    logits = decoder.step(new, memory)[:, 0].unflatten(0, (3, 2))
    whole = torch.cat([prefixes[chosen], new], 1).unflatten(0, (3, 2))
    for row in range(2):
        alone = expected(model, SOURCE, whole[:, row])[:, -1]
        assert torch.allclose(logits[:, row], alone, atol=1e-12)


def test_sentences_leave_with_all_their_rows(model: Any) -> None:
    decoder = Decoder(model.decoder)
    memory = begin(model, decoder, rows=2)
    decoder.step(TARGET.repeat_interleave(2, 0)[:, :1], memory)
    memory.keep_sentences(torch.tensor([0, 2]))
    kept = TARGET[[0, 2]].repeat_interleave(2, 0)
    logits = decoder.step(kept[:, 1:2], memory)[:, 0]
    alone = expected(model, SOURCE[[0, 2]], TARGET[[0, 2], :2])[:, -1]
    assert torch.allclose(logits, alone.repeat_interleave(2, 0), atol=1e-12)


def test_a_memory_begins_anew_in_the_old_room(model: Any) -> None:
    decoder = Decoder(model.decoder)
    decoder.step(TARGET.flip(1), begin(model, decoder, longest=9))
    logits = decoder.step(TARGET[:, :1], begin(model, decoder, longest=4))
    assert torch.allclose(logits, expected(model, SOURCE, TARGET[:, :1]), atol=1e-12)


def test_what_is_not_built_is_refused() -> None:
    size = Architecture(width=8, ffn=12, heads=2, encoder_layers=1, decoder_layers=1)
    (scaled,) = untrained_system(size, 20, scale_heads=True).models
    with pytest.raises(UserError, match="no c_attn in a TransformerDecoderBase: take the decoder"):
        check_supported(scaled)
    (bare,) = untrained_system(size, 20, no_token_positional_embeddings=True).models
    with pytest.raises(UserError, match="no TransformerEncoderBase without positions: take the"):
        check_supported(bare)


# Rows that have come to different places


def feed(decoder: Decoder, memory: Memory, lengths: list[int], new: int) -> Tensor:
    """Feed the next tokens of every row."""
    tokens = [TARGET[i, n : n + new] for i, n in enumerate(lengths)]
    return decoder.step_at(torch.stack(tokens), torch.tensor(lengths), max(lengths), memory)


@pytest.mark.parametrize("steps", [[6], [2, 3, 1]])
@pytest.mark.parametrize("rows", [1, 3])  # one alone has a mask of its own making
def test_block_by_block_it_says_what_one_pass_says(model: Any, rows: int, steps: list[int]) -> None:
    decoder = Decoder(model.decoder)
    mask = (SOURCE[:rows] != PAD)[:, None, None]
    encoded = Encoder(model.encoder)(SOURCE[:rows], mask)
    memory = decoder.begin(encoded, mask, 1, 6, clear=True)
    logits, done = [], 0
    for new in steps:
        tokens = TARGET[:rows, done : done + new]
        logits.append(decoder.step_at(tokens, torch.full((rows,), done), done, memory))
        done += new
    whole = expected(model, SOURCE[:rows], TARGET[:rows])
    assert torch.allclose(torch.cat(logits, 1), whole, atol=1e-12)


def test_every_row_goes_on_from_its_own_place(model: Any) -> None:
    decoder = Decoder(model.decoder)
    decoder._room = decoder._room.new_full((10**5,), float("nan"))  # read by nobody
    mask = (SOURCE != PAD)[:, None, None]
    memory = decoder.begin(Encoder(model.encoder)(SOURCE, mask), mask, 1, 9, clear=True)
    whole = expected(model, SOURCE, TARGET)
    for lengths in ([0, 0, 0], [2, 0, 1], [3, 1, 1], [4, 2, 2]):
        logits = feed(decoder, memory, lengths, 2)
        for i, n in enumerate(lengths):
            assert torch.allclose(logits[i], whole[i, n : n + 2], atol=1e-12)


def test_what_stood_behind_a_row_is_forgotten(model: Any) -> None:
    decoder = Decoder(model.decoder)
    memory = begin(model, decoder, longest=8)
    whole = expected(model, SOURCE, TARGET)
    feed(decoder, memory, [0, 0, 0], 2)
    wrong = torch.full((3, 4), 3)
    decoder.step_at(wrong, torch.tensor([2, 2, 1]), 2, memory)
    logits = feed(decoder, memory, [2, 1, 1], 3)
    for i, n in enumerate([2, 1, 1]):
        assert torch.allclose(logits[i], whole[i, n : n + 3], atol=1e-12)


def test_places_behind_the_last_are_as_the_last(model: Any) -> None:
    embed = Decoder(model.decoder).embed
    last = model.max_decoder_positions() - 1
    behind = embed.positions(torch.tensor([last + 5, last + 99]))
    assert torch.equal(behind[0], behind[1])
    assert not torch.equal(*embed.positions(torch.tensor([last, last - 1])))
