"""Decoding in groups of tokens (Imamura and Sumita 2020, section 3): pass, search, unfold."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from fastdecode.errors import UserError
from fastdecode.families.bidirectional.engines import Steps, eager, fast
from fastdecode.families.bidirectional.greedy import Greedy
from fastdecode.families.bidirectional.model import FoldedModel
from fastdecode.families.bidirectional.rows import Decoder as Row
from fastdecode.families.bidirectional.search import Found, Rules, Search
from fastdecode.framing import end_sentences
from fastdecode.limits import limits
from fastdecode.stages import Stopwatch
from fastdecode.transformer.weights import bytes_per_pass
from fastdecode.translation import Translation

if TYPE_CHECKING:
    from fastdecode.decode import Decoder, System

ENGINES = {"eager": eager, "fastdecode": fast}
LEAVE = 8  # done sentences leave the batch when they are at least an eighth of it


class FoldedDecoder:
    """Translates batches of BPE-tokenised source sentences."""

    def __init__(
        self, system: "System", row: Row, finish: Callable[[list[str]], str], watch: Stopwatch
    ):
        """Make the engine ready; raises UserError if it does not fit the system."""
        if len(system.models) > 1:
            raise UserError(f"groups are written by one model, and these are {len(system.models)}")
        (model,) = system.models
        if not isinstance(model, FoldedModel):
            raise UserError(
                f"{type(model).__name__} writes no groups of tokens: train a system of the family "
                "bidirectional for this"
            )
        self._begin = ENGINES[row.engine](system)
        self._fold, self._first = model.fold, model.first
        self._source, self._target = system.source, system.target
        self._row, self._finish, self._watch = row, finish, watch
        words = system.target
        self._lengths = system.lengths
        self._rules = Rules(
            *(self._fold.size, row.beam, row.lenpen, row.min_len, words.eos(), words.pad()),
            exact=system.lengths is not None,
        )
        self._device = next(model.parameters()).device
        whole_groups = int(model.max_decoder_positions()) // self._fold.size
        self._longest = whole_groups * self._fold.size - 1  # one slot is left for EOD
        self.bytes_per_pass = bytes_per_pass(model)

    @torch.inference_mode()
    def __call__(self, sources: Sequence[Sequence[str]]) -> list[Translation]:
        """Return one Translation for each of `sources`, which decode as one batch.

        Each has its own limit on length (max_len_a · length + max_len_b, where `</s>` counts to
        the length), so that a batch equals its sentences one by one. `passes` counts a sentence's
        own decoder passes. Stages: encode, decode (the decoder's passes), search (all between),
        finish.
        """
        self._watch.start()
        lengths = torch.tensor([len(tokens) + 1 for tokens in sources])
        padded = end_sentences(sources, self._source).to(self._device)  # (B, S)
        most = limits(sources, self._row, self._lengths, self._longest)
        slots = self._fold.slots(int(most.max()))
        self._watch.lap("search")
        steps = self._begin(padded, lengths, self._row.beam, slots)
        self._watch.lap("encode")
        found = self._search(steps, most.to(self._device))
        translations = [self._translation(*one) for one in found]
        self._watch.lap("finish")
        return self._watch.share(translations)

    def _search(self, steps: Steps, limits: Tensor) -> list[Found]:
        """Feed the decoder with its own output until every sentence is done."""
        # The reference tier searches as fairseq's generator does, which has no shorter way for one
        # hypothesis.
        shorter = self._row.beam == 1 and self._row.engine == "fastdecode"
        search = (Greedy if shorter else Search)(self._rules, limits)
        found: dict[int, Found] = {}
        numbers = torch.arange(len(limits), device=limits.device)  # of the sentences in the batch
        beam = self._rules.beam
        tokens = limits.new_tensor(self._first).expand(len(limits) * beam, -1)  # (rows, size)
        while True:
            logits = steps.step(tokens)  # (rows, size, V)
            self._watch.lap("decode")
            rows, tokens = search.advance(logits)
            done = int(search.done.sum())
            leave = done and done * LEAVE >= len(numbers)
            if leave:
                over = search.done.nonzero().flatten()
                found |= zip(numbers[over].tolist(), search.results(over), strict=True)
                if done == len(numbers):
                    self._watch.lap("search")
                    return [found[number] for number in range(len(limits))]
            if rows is not None:
                steps.keep_rows(rows)
            if leave:
                stay = (~search.done).nonzero().flatten()
                numbers = numbers[stay]
                tokens = tokens.unflatten(0, (-1, beam))[stay].flatten(0, 1)
                steps.keep_sentences(stay)
                search.keep(stay)
            self._watch.lap("search")

    def _translation(self, ids: list[int], score: float, passes: int) -> Translation:
        tokens = [self._target[i] for i in self._fold.restore(ids)]
        return Translation(self._finish(tokens), tokens, score, passes)


def build(
    system: "System", row: Row, finish: Callable[[list[str]], str], watch: Stopwatch
) -> "Decoder":
    """Return the decoder that `row` describes. Raises UserError if it does not fit the system."""
    return FoldedDecoder(system, row, finish, watch)
