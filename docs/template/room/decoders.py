"""The decoder of this family: one pass over blank slots, the likeliest word of each."""

from collections.abc import Sequence

import torch
from torch import Tensor

from fastdecode.families.template.model import BlindModel
from fastdecode.families.template.networks import Eager, Fast, Network
from fastdecode.families.template.rows import Decoder as Row
from fastdecode.framing import end_sentences
from fastdecode.limits import limits
from fastdecode.stages import Stopwatch
from fastdecode.system import Decoder, System
from fastdecode.transformer.weights import bytes_per_pass, serial_layers
from fastdecode.translation import Finish, Translation


class BlindDecoder:
    """Translates batches of BPE-tokenised source sentences."""

    def __init__(self, system: System, row: Row, finish: Finish, watch: Stopwatch):
        """Lay the model out, if it is to be; raises UserError if it does not fit."""
        fault = "fills no blanks: train one of family template"
        self._model = system.single("blanks are filled by one model", BlindModel, fault)
        self._network: Network = (
            Eager(self._model)
            if row.engine == "eager"
            else system.share("fast network", lambda: Fast(self._model))
        )
        self._source, self._target = system.source, system.target
        self._row, self._lengths = row, system.lengths
        self._finish, self._watch = finish, watch
        self._device = next(self._model.parameters()).device
        self._longest = int(self._model.max_decoder_positions()) - 1  # one is left for `</s>`
        self.bytes_per_pass = bytes_per_pass(self._model)
        self.serial_layers = serial_layers(self._model)

    @torch.no_grad()  # no inference mode: fairseq keeps masks made in it, and cannot train on
    def __call__(self, sources: Sequence[Sequence[str]]) -> list[Translation]:
        """Return one Translation for each of `sources`, which decode as one batch.

        Each has its own limit on length, so that a batch equals its sentences one by one. Stages:
        encode, decode, search, finish.
        """
        self._watch.start()
        padded = end_sentences(sources, self._source).to(self._device)  # (B, S)
        most = limits(sources, self._row, self._lengths, self._longest).to(self._device)  # (B)
        encoded = self._network.encode(padded)
        self._watch.lap("encode")
        room = torch.zeros(len(sources), int(most.max()) + 1, dtype=torch.bool)  # none is padding
        logits = self._network.decode(self._model.blanks(room.to(self._device)), encoded)
        self._watch.lap("decode")
        found = self._search(logits, most)
        self._watch.lap("search")
        translations = [self._translation(*one) for one in found]
        self._watch.lap("finish")
        return self._watch.share(translations)

    def _search(self, logits: Tensor, most: Tensor) -> list[tuple[list[int], float]]:
        """Return the words of each sentence and its score, from `logits` (B, T, V).

        It ends at the first `</s>`, or with `most` (B) words.
        """
        words = self._target
        slot = torch.arange(logits.shape[1], device=logits.device)  # (T)
        least = most[:, None] if self._lengths is not None else self._row.min_len
        log_probs = logits.float().log_softmax(-1)
        log_probs[..., [words.bos(), words.pad()]] = float("-inf")
        end = log_probs[..., words.eos()]  # (B, T), a view
        end.masked_fill_((slot < least).expand_as(end), float("-inf"))
        end.masked_fill_(slot >= most[:, None], 0.0)  # where it has to be
        scores, ids = log_probs.max(-1)  # (B, T)
        lengths = (ids == words.eos()).int().argmax(1)  # (B), of the first one
        sums = (scores * (slot <= lengths[:, None])).sum(1) / (lengths + 1)
        rows = zip(ids.tolist(), lengths.tolist(), sums.tolist(), strict=True)
        return [(row[:length], score) for row, length, score in rows]

    def _translation(self, ids: list[int], score: float) -> Translation:
        tokens = [self._target[i] for i in ids]
        return Translation(self._finish(tokens), tokens, score, passes=1)


def build(system: System, row: Row, finish: Finish, watch: Stopwatch) -> Decoder:
    """Return the decoder that `row` describes. Raises UserError if it does not fit the system."""
    return BlindDecoder(system, row, finish, watch)
