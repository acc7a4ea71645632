"""Decoding in groups of tokens (Imamura and Sumita 2020, section 3): pass, search, unfold."""

from collections.abc import Sequence

import torch

from fastdecode.families.bidirectional.engines import eager, fast
from fastdecode.families.bidirectional.greedy import Greedy
from fastdecode.families.bidirectional.model import FoldedModel
from fastdecode.families.bidirectional.rows import Decoder as Row
from fastdecode.families.bidirectional.search import Search
from fastdecode.framing import end_sentences, mask_of
from fastdecode.limits import limits
from fastdecode.stages import Stopwatch
from fastdecode.stepping import Rules, run_search
from fastdecode.system import Decoder, System
from fastdecode.transformer.weights import bytes_per_pass, serial_layers
from fastdecode.translation import Finish, Translation

ENGINES = {"eager": eager, "fastdecode": fast}


class FoldedDecoder:
    """Translates batches of BPE-tokenised source sentences."""

    def __init__(self, system: System, row: Row, finish: Finish, watch: Stopwatch):
        """Make the engine ready; raises UserError if it does not fit the system."""
        fault = "writes no groups of tokens: train a system of the family bidirectional for this"
        model = system.single("groups are written by one model", FoldedModel, fault)
        self._begin = ENGINES[row.engine](system)
        self._fold, self._first = model.fold, model.first
        self._source, self._target = system.source, system.target
        self._row, self._finish, self._watch = row, finish, watch
        words = system.target
        self._lengths = system.lengths
        self._rules = Rules(
            row.beam,
            row.lenpen,
            row.min_len,
            words.eos(),
            words.pad(),
            exact=system.lengths is not None,
            size=self._fold.size,
        )
        # The reference tier searches as fairseq's generator does, which has no shorter way for one
        # hypothesis.
        shorter = row.beam == 1 and row.engine == "fastdecode"
        self._search = Greedy if shorter else Search
        self._device = next(model.parameters()).device
        whole_groups = int(model.max_decoder_positions()) // self._fold.size
        self._longest = whole_groups * self._fold.size - 1  # one slot is left for EOD
        self.bytes_per_pass, self.serial_layers = bytes_per_pass(model), serial_layers(model)

    @torch.inference_mode()
    def __call__(self, sources: Sequence[Sequence[str]]) -> list[Translation]:
        """Return one Translation for each of `sources`, which decode as one batch.

        Each has its own limit on length (max_len_a · length + max_len_b, where `</s>` counts to
        the length), so that a batch equals its sentences one by one. `passes` counts a sentence's
        own decoder passes. Stages: encode, decode (the decoder's passes), search (all between),
        finish.
        """
        self._watch.start()
        padded = end_sentences(sources, self._source).to(self._device)  # (B, S)
        mask = mask_of(padded, self._source, map(len, sources))
        most = limits(sources, self._row, self._lengths, self._longest)
        slots = self._fold.slots(int(most.max()))
        self._watch.lap("search")
        steps = self._begin(padded, mask, self._row.beam, slots)
        self._watch.lap("encode")
        search = self._search(self._rules, most.to(self._device))
        rows = len(sources) * self._row.beam
        first = padded.new_tensor(self._first).expand(rows, -1)  # (rows, size)
        found = run_search(steps, search, first, slots // self._fold.size, self._watch)
        translations = [self._translation(*one) for one in found]
        self._watch.lap("finish")
        return self._watch.share(translations)

    def _translation(self, ids: list[int], score: float, passes: int) -> Translation:
        tokens = [self._target[i] for i in self._fold.restore(ids)]
        return Translation(self._finish(tokens), tokens, score, passes)


def build(system: System, row: Row, finish: Finish, watch: Stopwatch) -> Decoder:
    """Return the decoder that `row` describes. Raises UserError if it does not fit the system."""
    return FoldedDecoder(system, row, finish, watch)
