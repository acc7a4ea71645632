"""Recorded passes against plain ones; on a CPU what is "recorded" is simply run again."""

import weakref
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from fastdecode.config.models import Architecture
from fastdecode.measure.untrained import untrained_system
from fastdecode.transformer.decoder import Decoder, Memory
from fastdecode.transformer.encoder import Encoder
from fastdecode.transformer.graphs import (
    GraphedDecoder,
    GraphedEncoder,
    encoder_of,
)
from fastdecode.transformer.recording import BLOCK
from tests.gpu import needs_gpu
from tests.recording import record_on_this_cpu
from tests.tape import TapeRecorder

EOS = 2
SIZE = Architecture(width=8, ffn=12, heads=2, encoder_layers=1, decoder_layers=2)


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> TapeRecorder:
    return record_on_this_cpu(monkeypatch)


@pytest.fixture
def model() -> Iterator[Any]:
    (model,) = untrained_system(SIZE, 20, precision="fp64").models
    torch.manual_seed(1)
    with torch.inference_mode():
        yield model


def close(found: Tensor, expected: Tensor) -> bool:
    return found.shape == expected.shape and torch.allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("new", [1, 2])
def test_recorded_steps_say_what_plain_ones_say(
    model: Any, recorder: TapeRecorder, new: int
) -> None:
    encoder, plain = Encoder(model.encoder), Decoder(model.decoder)
    graphed = GraphedDecoder(plain)
    for words, longest in ((4, 40), (9, 40), (4, 12), (BLOCK + 1, 70)):
        encoded = encoder(torch.randint(4, 20, (1, words)), None)
        memories = [decoder.begin(encoded, None, 3, longest) for decoder in (plain, graphed)]
        for _ in range(longest // new):
            tokens = torch.randint(4, 20, (3, new))
            expected = plain.step(tokens, memories[0])
            assert close(graphed.step(tokens, memories[1]), expected)
            rows = torch.randint(0, 3, (3,))
            for memory in memories:
                memory.keep_rows(rows)
    # Windows of 32 and 64 for the first two together, of 32 for the third, three for the last.
    assert recorder.count == 2 + 1 + 3


def test_recorded_drafts_are_verified_as_plain_ones_are(model: Any, recorder: TapeRecorder) -> None:
    """Drafts of many lengths behind prefixes that grow by less than was fed, and shrink."""
    encoder, plain = Encoder(model.encoder), Decoder(model.decoder)
    graphed = GraphedDecoder(plain)
    sizes = set()
    for words, longest in ((4, 40), (BLOCK + 1, 40)):
        encoded = encoder(torch.randint(4, 20, (1, words)), None)
        memories = [decoder.begin(encoded, None, 1, longest) for decoder in (plain, graphed)]
        length = 0
        for new in (5, 1, 11, 3, 8, 9, 30):
            length = min(length, longest - new)
            tokens, lengths = torch.randint(4, 20, (1, new)), torch.tensor([length])
            expected, found = (
                decoder.step_at(tokens, lengths, length, memory)
                for decoder, memory in zip((plain, graphed), memories, strict=True)
            )
            assert close(found, expected)
            sizes.add((words, new, length + new > BLOCK))
            length += new // 2 + 1
    assert recorder.count == len(sizes) == 2 * 7  # windows of 32 for some, of 64 for others


def test_a_recorded_encoder_reads_what_a_plain_one_does(model: Any, recorder: TapeRecorder) -> None:
    plain = Encoder(model.encoder)
    graphed = GraphedEncoder(plain)
    for words in (1, 4, BLOCK - 1, BLOCK, BLOCK + 1, 9):
        tokens = torch.randint(4, 20, (1, words))
        assert close(graphed(tokens, None), plain(tokens, None))
    assert recorder.count == 2
    batch, mask = torch.randint(4, 20, (2, 5)), torch.ones(2, 1, 1, 5, dtype=torch.bool)
    mask[1, ..., 3:] = False
    assert torch.equal(graphed(batch, mask), plain(batch, mask))
    assert recorder.count == 2  # of batches nothing is


def test_passes_are_recorded_where_it_pays(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(encoder_of(model.encoder)) is Encoder
    record_on_this_cpu(monkeypatch)
    assert type(encoder_of(model.encoder)) is GraphedEncoder


def test_what_a_graph_reads_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph repeats reads of places in memory: whatever lies there must not be given away."""
    read: list[weakref.ref[Tensor]] = []

    def record(step: Any) -> Any:
        logits = step()
        (memory,) = (one for one in step.args if isinstance(one, Memory))
        held = [*step.args, *vars(memory).values()]
        read.extend(weakref.ref(one) for one in held if torch.is_tensor(one))
        return lambda: logits

    monkeypatch.setattr("fastdecode.transformer.recording.cuda_graph", record)
    (model,) = untrained_system(SIZE, 20).models
    with torch.inference_mode():
        graphed = GraphedDecoder(Decoder(model.decoder))
        encoded = Encoder(model.encoder)(torch.tensor([[5, 6, EOS]]), None)
        graphed.step(torch.tensor([[5], [6]]), graphed.begin(encoded, None, 2, 9))
    assert len(read) == 5 and all(tensor() is not None for tensor in read)


def test_keys_and_values_lie_in_one_place_only(model: Any) -> None:
    graphed = GraphedDecoder(Decoder(model.decoder))
    encoded = Encoder(model.encoder)(torch.tensor([[5, 6, EOS]]), None)
    memory = graphed.begin(encoded, None, 3, 9)
    assert memory.own.shape == graphed.room(3, BLOCK)
    assert not graphed._room.numel()  # a plain decoder's


@needs_gpu
@pytest.mark.parametrize("new", [1, 2])
def test_cuda_graphs_say_what_plain_steps_say(new: int) -> None:
    (model,) = untrained_system(SIZE, 20, device="cuda").models
    with torch.inference_mode():
        encoded = Encoder(model.encoder)(torch.tensor([[5, 6, EOS]], device="cuda"), None)
        plain = Decoder(model.decoder)
        graphed = GraphedDecoder(plain)
        for _ in range(2):
            memories = [decoder.begin(encoded, None, 2, 40) for decoder in (plain, graphed)]
            for step in range(40 // new):
                tokens = torch.tensor([[4 + step % 9] * new, [5] * new], device="cuda")
                expected = plain.step(tokens, memories[0])
                assert torch.allclose(graphed.step(tokens, memories[1]), expected, atol=1e-4)


@needs_gpu
def test_cuda_graphs_read_what_a_plain_encoder_reads() -> None:
    (model,) = untrained_system(SIZE, 20, precision="fp64", device="cuda").models
    with torch.inference_mode():
        plain, encoder = Encoder(model.encoder), encoder_of(model.encoder)
        assert type(encoder) is GraphedEncoder
        for words in (4, 9, BLOCK + 1, 4):
            tokens = torch.randint(4, 20, (1, words), device="cuda")
            assert close(encoder(tokens, None), plain(tokens, None))
