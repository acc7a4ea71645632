"""One sentence at a time on a GPU: every pass is recorded (recording.py).

A GPU that has several sentences to do is busy without this; with one it idles between the kernels.
Sizes are rounded up, and masks say what counts.
"""

from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from fastdecode.transformer import recording
from fastdecode.transformer.decoder import Decoder, Memory
from fastdecode.transformer.encoder import Encoder
from fastdecode.transformer.recording import Recorded, Work, first_of, up

NEW = 8  # tokens that are fed at once, behind a prefix, are multiples of it


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
        words = tokens.shape[1]
        size = up(words)
        seen = first_of(words, size, tokens.device)[None, None, None]
        return self._recorded(F.pad(tokens, (0, size - words)), seen)[:, :words]


def pad_source(source: Tensor) -> tuple[Tensor, Tensor]:
    """Round the words of `source` keys (L, 2, 1, H, S, D) up; return the mask (1, 1, 1, S) too."""
    words = source.shape[4]
    size = up(words)
    seen = first_of(words, size, source.device)[None, None, None]
    return F.pad(source, (0, 0, 0, size - words)), seen


class GraphedDecoder(Decoder):
    """A Decoder whose steps, of as many tokens a row, are recorded once and then repeated.

    The keys and values lie in buffers that stay where they are, and a step looks at a whole window
    of them through a mask.
    """

    def __init__(self, decoder: Decoder):
        """Take over a decoder's weights, which lie in memory once."""
        vars(self).update(vars(decoder))
        self._memories: dict[tuple[int, ...], Memory] = {}  # by size
        self._steps: dict[object, tuple[Work[Tensor], list[Tensor]]] = {}

    def begin(
        self, encoded: Tensor, mask: Tensor | None, rows: int, longest: int, clear: bool = False
    ) -> Memory:
        """See Decoder. The memory lies in buffers that the next one of its size takes over."""
        assert len(encoded) == 1 and mask is None
        room = up(longest + NEW - 1)
        source, seen = pad_source(self.source_keys(encoded))
        key = (rows, source.shape[4], room)
        if key not in self._memories:
            own = source.new_zeros(self.room(rows, room))
            self._memories[key] = Memory(own, torch.empty_like(source), seen.clone())
        memory = self._memories[key]
        memory.own.zero_()  # what is masked counts nothing, but must be a number
        assert memory.mask is not None
        memory.mask.copy_(seen)
        memory.source.copy_(source)
        return replace(memory, length=0)

    def step(self, tokens: Tensor, memory: Memory) -> Tensor:
        """See Decoder. The logits are overwritten by the next step."""
        start = memory.length
        memory.length += tokens.shape[1]
        return self._repeat(tokens, start, memory, behind=False)

    def states_at(self, tokens: Tensor, lengths: Tensor, longest: int, memory: Memory) -> Tensor:
        """See Decoder. The states are overwritten by those of the next draft as long."""
        new = tokens.shape[1]
        # whatever is read behind the last token is seen by no other, and forgotten
        padded = F.pad(tokens, (0, up(new, NEW) - new))
        return self._repeat(padded, longest, memory, behind=True)[:, :new]

    def _repeat(self, tokens: Tensor, start: int, memory: Memory, behind: bool) -> Tensor:
        """Feed `tokens` at the places from `start` on.

        With `behind` they see what comes before them alone, and their states are returned; else all
        of them see each other, and logits are.
        """
        end = start + tokens.shape[1]
        window = up(end)
        key = (memory.own.data_ptr(), window, tokens.shape[1], behind)
        inputs = [tokens, torch.arange(start, end, device=tokens.device)]
        if key not in self._steps:
            own = [one.clone() for one in inputs]
            work = self._work(own[0], own[1], memory, window, behind)
            name = f"a step of {tokens.shape[1]} tokens a row"
            self._steps[key] = recording.repeated(name, work, own, inputs), own
        repeat, own = self._steps[key]
        recording.put(inputs, own)
        return repeat()

    def _work(
        self, tokens: Tensor, positions: Tensor, memory: Memory, window: int, behind: bool
    ) -> Work[Tensor]:
        """Return a step that reads `tokens` (R, n) at `positions` (n)."""

        def step() -> Tensor:
            places = torch.arange(window, device=tokens.device)
            if behind:
                seen = places <= positions[:, None]
                return self.states(tokens, positions, window, seen, memory)
            seen = (places <= positions[-1]).expand(len(positions), -1)
            return self.run(tokens, positions, window, seen, memory)

        return step
