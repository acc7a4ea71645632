"""One sentence at a time on a GPU: every pass is recorded (recording.py).

A GPU that has several sentences to do is busy without this; with one it idles between the kernels.
Sizes are rounded up, and masks say what counts.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from fastdecode.transformer import recording
from fastdecode.transformer.decoder import Decoder, Memory
from fastdecode.transformer.encoder import Encoder
from fastdecode.transformer.recording import Pinned, Recorded, padded, seen, up


def encoder_of(module: Any) -> Encoder:
    """Return the encoder with a fairseq encoder's weights that is fastest where they lie."""
    encoder = Encoder(module)
    return GraphedEncoder(encoder) if recording.pays(module) else encoder


class GraphedEncoder(Encoder):
    """An Encoder that records what it does with a sentence alone."""

    def __init__(self, encoder: Encoder):
        """Take over an encoder's weights, which lie in memory once."""
        vars(self).update(vars(encoder))
        self._recorded = Recorded(encoder.__call__, "an encoder's pass")

    def __call__(self, tokens: Tensor, mask: Tensor | None) -> Tensor:
        """See Encoder. The states of a sentence alone are overwritten by those of the next."""
        if len(tokens) > 1 or mask is not None:
            return super().__call__(tokens, mask)
        return self._recorded(padded(tokens, -1), seen(tokens, -1))[:, : tokens.shape[1]]


class GraphedDecoder(Decoder):
    """A Decoder whose steps, of as many tokens a row, are recorded once and then repeated.

    The keys and values lie in buffers that stay where they are, and a step looks at a whole window
    of them through a mask.
    """

    def __init__(self, decoder: Decoder):
        """Take over a decoder's weights, which lie in memory once."""
        vars(self).update(vars(decoder))
        self._pin = Pinned()
        self._steps: dict[object, Recorded[Tensor]] = {}

    def begin(
        self, encoded: Tensor, mask: Tensor | None, rows: int, longest: int, clear: bool = False
    ) -> Memory:
        """See Decoder. The memory lies in buffers, which are taken over by what begins next.

        That is by one of as much room, and by one of a source as long.
        """
        assert len(encoded) == 1 and mask is None
        room = up(longest)
        keys = self.source_keys(encoded)
        own = keys.new_zeros(self.room(rows, room))  # what is masked counts nothing, but is read
        return Memory(
            self._pin("own", own),
            self._pin("source", padded(keys, -2)),
            self._pin("mask", seen(keys, -2)),
        )

    def step(self, tokens: Tensor, memory: Memory) -> Tensor:
        """See Decoder. The logits are overwritten by the next step."""
        start = memory.length
        memory.length += tokens.shape[1]
        return self._repeat("step", self.run, tokens, start, memory)

    def step_at(self, tokens: Tensor, lengths: Tensor, longest: int, memory: Memory) -> Tensor:
        """See Decoder. The logits are overwritten by those of the next draft as long."""
        return self._repeat("logits", self.run, tokens, longest, memory)

    def states_at(self, tokens: Tensor, lengths: Tensor, longest: int, memory: Memory) -> Tensor:
        """See Decoder. The states are overwritten by those of the next draft as long."""
        return self._repeat("states", self.states, tokens, longest, memory)

    def _repeat(
        self, kind: str, run: Callable[..., Tensor], tokens: Tensor, start: int, memory: Memory
    ) -> Tensor:
        """Feed `tokens` (R, n) at the places from `start` on; return what `run` does.

        In a `step` they see all before them and each other, else none behind themselves.
        """
        end = start + tokens.shape[1]
        window = up(end)
        key = (kind, memory.own.data_ptr(), memory.source.data_ptr(), window)
        if key not in self._steps:
            causal = kind != "step"
            step = partial(_step, run, causal, window, memory)
            self._steps[key] = Recorded(step, f"a decoder's pass ({kind})")
        return self._steps[key](tokens, torch.arange(start, end, device=tokens.device))


def _step(
    run: Callable[..., Tensor],
    causal: bool,
    window: int,
    memory: Memory,
    tokens: Tensor,  # (R, n)
    positions: Tensor,  # (n)
) -> Tensor:
    """Do a step that looks at the first `window` places of the memory."""
    places = torch.arange(window, device=tokens.device)
    mask = places <= (positions[:, None] if causal else positions[-1])
    return run(tokens, positions, window, mask.expand(len(positions), -1), memory)
