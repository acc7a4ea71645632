"""Who computes the decoder's passes: fairseq's modules as they are, or our fast Transformer."""

from typing import Any

import torch
from torch import Tensor

from fastdecode.step_decoder import Begin
from fastdecode.system import System
from fastdecode.transformer.steps import FastSteps, beginning


class EagerSteps:
    """fairseq's own modules and caches, as its generator uses them.

    The source's keys are kept once for all rows of a sentence.
    """

    def __init__(self, model: Any, sources: Tensor, rows: int):
        """Encode `sources` (B, S); fairseq finds the padding itself."""
        self._model, self._rows = model, rows
        self._encoded = model.encoder(sources)
        self._seen = sources.new_empty(len(sources) * rows, 0)  # (R, t)
        self._state: dict[str, Any] = {}

    def step(self, tokens: Tensor) -> Tensor:
        """See Steps."""
        self._seen = torch.cat([self._seen, tokens], dim=1)
        logits: Tensor = self._model.decoder(self._seen, self._encoded, self._state)[0]
        return logits

    def keep_rows(self, rows: Tensor) -> None:
        """See Steps."""
        self._seen = self._seen[rows]
        for layer in self._model.decoder.layers:
            layer.self_attn.reorder_incremental_state(self._state, rows)

    def keep_sentences(self, sentences: Tensor) -> None:
        """See Steps."""
        of_each = torch.arange(self._rows, device=sentences.device)
        self.keep_rows((sentences[:, None] * self._rows + of_each).flatten())
        for layer in self._model.decoder.layers:
            layer.encoder_attn.reorder_incremental_state(self._state, sentences)
        self._encoded = self._model.encoder.reorder_encoder_out(self._encoded, sentences)


def eager(system: System) -> Begin:
    """Return how fairseq's modules begin a batch."""
    (model,) = system.models
    return lambda sources, mask, rows, slots: EagerSteps(model, sources, rows)


def fast(system: System) -> Begin:
    """Return how our Transformer begins a batch.

    Raises UserError if the model has parts that are not built here.
    """
    begin = beginning(system)
    return lambda sources, mask, rows, slots: FastSteps(*begin(sources, mask, rows, slots))
