"""Recorded steps against plain ones; on a CPU what is "recorded" is simply run again."""

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
from fastdecode.transformer.graphs import BLOCK, GraphedDecoder, Replay
from tests.gpu import needs_gpu

EOS = 2
SIZE = Architecture(width=8, ffn=12, heads=2, encoder_layers=1, decoder_layers=2)


class Recorder:
    """Records as a GPU does: the step reads and writes the same tensors each time."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, step: Replay) -> Replay:
        self.count += 1
        logits = step()

        def replay() -> Tensor:
            return logits.copy_(step())

        return replay


@pytest.fixture
def models() -> Iterator[tuple[Encoder, Decoder, GraphedDecoder, Recorder]]:
    (model,) = untrained_system(SIZE, 20, precision="fp64").models
    recorder = Recorder()
    with torch.inference_mode():
        plain = Decoder(model.decoder)
        yield Encoder(model.encoder), plain, GraphedDecoder(plain, recorder), recorder


@pytest.mark.parametrize("new", [1, 2])
def test_recorded_steps_say_what_plain_ones_say(models: Any, new: int) -> None:
    encoder, plain, graphed, recorder = models
    torch.manual_seed(1)
    for words, longest in ((4, 40), (9, 40), (4, 12), (BLOCK + 1, 70)):
        encoded = encoder(torch.randint(4, 20, (1, words)), None)
        memories = [decoder.begin(encoded, None, 3, longest) for decoder in (plain, graphed)]
        for _ in range(longest // new):
            tokens = torch.randint(4, 20, (3, new))
            expected = plain.step(tokens, memories[0])
            assert torch.allclose(graphed.step(tokens, memories[1]), expected, atol=1e-12)
            rows = torch.randint(0, 3, (3,))
            for memory in memories:
                memory.keep_rows(rows)
    # Windows of 32 and 64 for the first two together, of 32 for the third, three for the last.
    assert recorder.count == 2 + 1 + 3


def test_what_a_graph_reads_is_kept() -> None:
    """A graph repeats reads of places in memory: whatever lies there must not be given away."""
    read: list[weakref.ref[Tensor]] = []

    def record(step: Replay) -> Replay:
        logits, cells = step(), step.__closure__ or ()
        held = [cell.cell_contents for cell in cells]
        memories = [one for one in held if isinstance(one, Memory)]
        held += [part for memory in memories for part in vars(memory).values()]
        read.extend(weakref.ref(one) for one in held if torch.is_tensor(one))
        return lambda: logits

    (model,) = untrained_system(SIZE, 20).models
    with torch.inference_mode():
        graphed = GraphedDecoder(Decoder(model.decoder), record)
        encoded = Encoder(model.encoder)(torch.tensor([[5, 6, EOS]]), None)
        graphed.step(torch.tensor([[5], [6]]), graphed.begin(encoded, None, 2, 9))
    assert len(read) == 5 and all(tensor() is not None for tensor in read)


def test_keys_and_values_lie_in_one_place_only(models: Any) -> None:
    encoder, _, graphed, _ = models
    memory = graphed.begin(encoder(torch.tensor([[5, 6, EOS]]), None), None, 3, 9)
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
