"""Decoder steps as CUDA graphs: one launch for the hundred kernels of a step.

A graph repeats what it recorded on the very same memory. So the keys and values lie in buffers that
stay where they are, in a few sizes, and a step looks at a whole window of them through a mask.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from fastdecode.transformer.decoder import Decoder, Memory

BLOCK = 32  # sizes are multiples of it, so that few graphs are recorded
Replay = Callable[[], Tensor]


def cuda_graph(step: Replay) -> Replay:
    """Record `step` on the current GPU; return what runs it again and gives the same tensor."""
    stream = _aside()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        step()  # once before, as CUDA wants it: libraries set themselves up at their first call
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        logits = step()
    return partial(_replay, graph, logits, step)


def _replay(graph: Any, logits: Tensor, step: Replay) -> Tensor:
    """Run `graph`, which recorded `step`: kept, since the graph reads the tensors that it holds."""
    graph.replay()
    return logits


@cache
def _aside() -> Any:
    """Return the stream on which steps run first: one, since each keeps memory of its own."""
    return torch.cuda.Stream()


class GraphedDecoder(Decoder):
    """A Decoder whose steps, of as many tokens a row, are recorded once and then repeated.

    It decodes one sentence at a time: a GPU that has several to do is busy without this.
    """

    def __init__(self, decoder: Decoder, record: Callable[[Replay], Replay] = cuda_graph):
        """Take over a decoder's weights, which lie in memory once.

        `record` turns a step into its repetition.
        """
        vars(self).update(vars(decoder))
        self._record = record
        self._memories: dict[tuple[int, ...], Memory] = {}  # by size
        self._steps: dict[tuple[int, int, int], tuple[Replay, Tensor, Tensor]] = {}

    def begin(
        self, encoded: Tensor, mask: Tensor | None, rows: int, longest: int, clear: bool = False
    ) -> Memory:
        """See Decoder. The memory lies in buffers that the next one of its size takes over."""
        assert len(encoded) == 1 and mask is None
        words, room = encoded.shape[1], _round(longest)
        padding = _round(words) - words
        key = (rows, words + padding, room)
        source = F.pad(self.source_keys(encoded), (0, 0, 0, padding))
        if key not in self._memories:
            own = source.new_zeros(self.room(rows, room))
            seen = source.new_empty(1, 1, 1, words + padding, dtype=torch.bool)
            self._memories[key] = Memory(own, torch.empty_like(source), seen)
        memory = self._memories[key]
        memory.own.zero_()  # what is masked counts nothing, but must be a number
        assert memory.mask is not None
        memory.mask.copy_(torch.arange(words + padding, device=source.device) < words)
        memory.source.copy_(source)
        return replace(memory, length=0)

    def step(self, tokens: Tensor, memory: Memory) -> Tensor:
        """See Decoder. The logits are overwritten by the next step."""
        new = tokens.shape[1]
        window = _round(memory.length + new)
        key = (memory.own.data_ptr(), window, new)
        if key not in self._steps:
            self._steps[key] = self._recorded(tokens, memory.length, memory, window)
        replay, input_tokens, positions = self._steps[key]
        input_tokens.copy_(tokens)
        end = memory.length + new
        positions.copy_(torch.arange(memory.length, end, device=positions.device))
        memory.length = end
        return replay()

    def _recorded(
        self, tokens: Tensor, length: int, memory: Memory, window: int
    ) -> tuple[Replay, Tensor, Tensor]:
        """Record a step; return its repetition and the tensors that it reads its input from."""
        tokens = tokens.clone()
        positions = torch.arange(length, length + tokens.shape[1], device=tokens.device)

        def step() -> Tensor:
            places = torch.arange(window, device=tokens.device)
            seen = (places <= positions[-1]).expand(len(positions), -1)
            return self.run(tokens, positions, window, seen, memory)

        return self._record(step), tokens, positions


def _round(count: int) -> int:
    """Return the next multiple of BLOCK."""
    return -(-count // BLOCK) * BLOCK
