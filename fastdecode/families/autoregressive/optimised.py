"""Autoregressive decoding as fast as we know how: tier `optimised`.

The model is fastdecode.transformer's; the search is fairseq's, whose own generator
(`reference.py`) is the naive twin: both write the same tokens.
"""

from collections.abc import Sequence

import torch

from fastdecode.families.autoregressive.rows import Decoder as Row
from fastdecode.families.autoregressive.search import Beam, Greedy
from fastdecode.framing import end_sentences, mask_of
from fastdecode.limits import limits
from fastdecode.stages import Stopwatch
from fastdecode.stepping import Rules, Search, run_search
from fastdecode.system import System
from fastdecode.transformer.steps import SingleSteps, beginning
from fastdecode.transformer.weights import bytes_per_pass, serial_layers
from fastdecode.translation import Finish, Translation


class OptimisedDecoder:
    """Translates batches of BPE-tokenised source sentences with one model."""

    def __init__(self, system: System, row: Row, finish: Finish, watch: Stopwatch):
        """Lay the model out anew; raises UserError if it has parts that are not built here."""
        (model,) = system.models
        self._begin = beginning(system)
        self._source, self._target = system.source, system.target
        self._finish, self._watch = finish, watch
        self._row = row
        self._lengths = system.lengths
        words = system.target
        self._rules = Rules(
            row.beam,
            row.lenpen,
            row.min_len,
            words.eos(),
            words.pad(),
            exact=system.lengths is not None,
        )
        self._device = next(model.parameters()).device
        self._longest = int(model.max_decoder_positions()) - 1
        self.bytes_per_pass, self.serial_layers = bytes_per_pass(model), serial_layers(model)

    @torch.inference_mode()
    def __call__(self, sources: Sequence[Sequence[str]]) -> list[Translation]:
        """Return one Translation for each of `sources`, which decode as one batch.

        Each has its own limit on length, so that a batch equals its sentences one by one. `passes`
        counts a sentence's own decoder passes. Stages: encode, decode (the decoder's passes),
        search (all between), finish.
        """
        self._watch.start()
        padded = end_sentences(sources, self._source).to(self._device)  # (B, S)
        mask = mask_of(padded, self._source, map(len, sources))
        most = limits(sources, self._row, self._lengths, self._longest)
        passes = int(most.max()) + 1  # of the longest, with that of its end
        most = most.to(self._device)
        self._watch.lap("search")
        steps = SingleSteps(*self._begin(padded, mask, self._row.beam, passes))
        self._watch.lap("encode")
        search: Search = (Greedy if self._row.beam == 1 else Beam)(self._rules, most)
        first = most.new_full((len(most) * self._row.beam,), self._rules.eos)  # (rows)
        found = run_search(steps, search, first, passes, self._watch)
        translations = [self._translation(*one) for one in found]
        self._watch.lap("finish")
        return self._watch.share(translations)

    def _translation(self, ids: list[int], score: float, passes: int) -> Translation:
        tokens = [self._target[i] for i in ids]
        return Translation(self._finish(tokens), tokens, score, passes)
