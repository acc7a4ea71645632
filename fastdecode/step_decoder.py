"""A decoder of one model that writes from step to step: sources in, passes, search, text out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from fastdecode.framing import end_sentences, mask_of
from fastdecode.limits import Limited, limits
from fastdecode.stages import Stopwatch
from fastdecode.stepping import Rules, Search, Steps, run_search
from fastdecode.system import System
from fastdecode.transformer.weights import bytes_per_pass, serial_layers
from fastdecode.translation import Finish, Translation

Begin = Callable[[Tensor, Tensor | None, int, int], Steps]
"""Encodes sources (B, S), padded on the right, with the mask of framing.mask_of.

Then come the number W of rows for each, and for how many slots there has to be room.
"""


class Searched(Limited, Protocol):
    """A decoder row that says how to search."""

    @property
    def beam(self) -> int:
        """W, hypotheses of a sentence."""

    @property
    def lenpen(self) -> float:
        """The length that a score is divided by is to this power."""


@dataclass(frozen=True)
class Writing:
    """How a family writes: who computes the passes, who searches, and in what groups of tokens."""

    begin: Begin
    search: Callable[[Rules, Tensor], Search]
    first: Tensor
    """What stands before the first group, (size); () where steps take a single token."""
    size: int = 1
    """Tokens of a group."""
    restore: Callable[[list[int]], Sequence[int]] = list
    """Puts what was written in the order of the text."""


class StepDecoder:
    """Translates batches of BPE-tokenised source sentences with one model."""

    def __init__(
        self,
        system: System,
        model: Any,
        row: Searched,
        finish: Finish,
        watch: Stopwatch,
        writing: Writing,
    ):
        """Take the settings; `model` is that of `system`, and `writing` how it writes."""
        self._source, self._target = system.source, system.target
        self._row, self._finish, self._watch, self._writing = row, finish, watch, writing
        self._lengths = system.lengths
        words, size = system.target, writing.size
        exact = system.lengths is not None
        self._rules = Rules(
            row.beam, row.lenpen, row.min_len, words.eos(), words.pad(), exact=exact, size=size
        )
        self._device = next(model.parameters()).device
        whole_groups = int(model.max_decoder_positions()) // size
        self._longest = whole_groups * size - 1  # one slot is left for the end
        self.bytes_per_pass, self.serial_layers = bytes_per_pass(model), serial_layers(model)

    @torch.inference_mode()
    def __call__(self, sources: Sequence[Sequence[str]]) -> list[Translation]:
        """Return one Translation for each of `sources`, which decode as one batch.

        Each has its own limit on length (max_len_a · length + max_len_b, where `</s>` counts to
        the length), so that a batch equals its sentences one by one. `passes` counts a sentence's
        own decoder passes. Stages: encode, decode (the decoder's passes), search (all between),
        finish.

        Raises UserError if the model's scores are no numbers.
        """
        self._watch.start()
        padded = end_sentences(sources, self._source).to(self._device)  # (B, S)
        mask = mask_of(padded, self._source, map(len, sources))
        most = limits(sources, self._row, self._lengths, self._longest)
        passes = int(most.max()) // self._writing.size + 1  # of the longest, with its end
        # before the encoder: it may have to wait for the device
        search = self._writing.search(self._rules, most.to(self._device))
        self._watch.lap("search")
        steps = self._writing.begin(padded, mask, self._row.beam, passes * self._writing.size)
        self._watch.lap("encode")
        first = self._writing.first.to(self._device)
        rows = len(sources) * self._row.beam
        found = run_search(steps, search, first.expand(rows, *first.shape), passes, self._watch)
        translations = [self._translation(*one) for one in found]
        self._watch.lap("finish")
        return self._watch.share(translations)

    def _translation(self, ids: list[int], score: float, passes: int) -> Translation:
        tokens = [self._target[i] for i in self._writing.restore(ids)]
        return Translation(self._finish(tokens), tokens, score, passes)
