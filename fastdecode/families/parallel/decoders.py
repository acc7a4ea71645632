"""Decoding in one pass (Gu et al. 2018): predict the length, fill all slots, done."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import torch
from fairseq.models.nat import NATransformerModel
from torch import Tensor

from fastdecode.errors import UserError
from fastdecode.families.parallel.framing import FRAME, blank_slots, frame_sources
from fastdecode.families.parallel.rows import Decoder as Row
from fastdecode.stages import Stopwatch
from fastdecode.translation import Translation

if TYPE_CHECKING:
    from fastdecode.decode import Decoder, System


class ParallelDecoder:
    """Translates batches of BPE-tokenised source sentences."""

    def __init__(
        self, system: "System", row: Row, finish: Callable[[list[str]], str], watch: Stopwatch
    ):
        """Decode with fairseq's model as it is; raises UserError if it does not fit."""
        self._model = single_model(system)
        self._source, self._target = system.source, system.target
        self._row, self._finish, self._watch = row, finish, watch
        self._device = next(self._model.parameters()).device
        self._most = int(self._model.max_decoder_positions())
        self._special = {self._target.bos(), self._target.pad(), self._target.eos()}
        decoder = self._model.decoder
        weights = [*decoder.layers.parameters(), decoder.output_projection.weight]
        self.bytes_per_pass = sum(weight.numel() * weight.element_size() for weight in weights)

    @torch.inference_mode()
    def __call__(self, sources: Sequence[Sequence[str]]) -> list[Translation]:
        """Return one Translation for each of `sources`, which decode as one batch.

        One pass each, with all lengths tried. The score is the mean log-probability of the slots,
        `<s>` and `</s>` among them. Stages: encode, length, decode, finish.
        """
        self._watch.start()
        padded = frame_sources(sources, self._source).to(self._device)  # (B, S)
        encoded = self._model.encoder(padded)
        self._watch.lap("encode")
        lengths = self._lengths(encoded)  # (B, C)
        self._watch.lap("length")
        slots = blank_slots(lengths.flatten(), self._target)  # (B · C, T)
        if self._row.length_beam > 1:
            rows = torch.arange(len(sources), device=self._device)
            rows = rows.repeat_interleave(self._row.length_beam)
            encoded = self._model.encoder.reorder_encoder_out(encoded, rows)
        scores, words = self._model.decoder(
            normalize=True, encoder_out=encoded, prev_output_tokens=slots
        ).max(-1)
        self._watch.lap("decode")
        words = words.masked_fill(slots == self._target.pad(), self._target.pad())
        filled = words != self._target.pad()
        means = (scores.float() * filled).sum(1) / filled.sum(1).clamp(min=1)
        best, chosen = means.view(lengths.shape).max(1)  # (B) each
        words = words.unflatten(0, lengths.shape)[torch.arange(len(chosen)), chosen]  # (B, T)
        found = zip(words.tolist(), best.tolist(), strict=True)
        translations = [self._translation(*one) for one in found]
        self._watch.lap("finish")
        return self._watch.share(translations)

    def _lengths(self, encoded: dict[str, Any]) -> Tensor:
        """Return the lengths to try, with the frame, nearest to the predicted one: (B, C)."""
        decoder, tried = self._model.decoder, self._row.length_beam
        scores = decoder.forward_length(normalize=True, encoder_out=encoded)
        predicted = decoder.forward_length_prediction(scores, encoded).clamp(min=FRAME)
        around = torch.arange(tried, device=self._device) - tried // 2
        nearest: Tensor = (predicted[:, None] + around).clamp(FRAME, self._most)
        return nearest

    def _translation(self, ids: list[int], score: float) -> Translation:
        ids = [i for i in ids if i not in self._special]
        if self._row.merge:
            ids = [i for i, _ in groupby(ids)]
        tokens = [self._target[i] for i in ids]
        return Translation(self._finish(tokens), tokens, score, passes=1)


def single_model(system: "System") -> Any:
    """Return the model of `system`, ready to fill slots.

    Raises UserError on an ensemble and on a model of another family.
    """
    if len(system.models) > 1:
        raise UserError(f"slots are filled by one model, and these are {len(system.models)}")
    (model,) = system.models
    if not isinstance(model, NATransformerModel):
        raise UserError(f"{type(model).__name__} fills no slots in parallel: train a nat for this")
    for layer in model.decoder.layers:
        layer.need_attn = False  # maps of attention, read by nobody: fairseq-generate does the same
    return model


def build(
    system: "System", row: Row, finish: Callable[[list[str]], str], watch: Stopwatch
) -> "Decoder":
    """Return the decoder that `row` describes. Raises UserError if it does not fit the system."""
    return ParallelDecoder(system, row, finish, watch)
