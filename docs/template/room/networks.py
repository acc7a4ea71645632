"""The trained model as the search sees it: fairseq's own, and ours with the same weights."""

from typing import Any, Protocol

import torch
from torch import Tensor

from fastdecode.transformer.decoder import Decoder
from fastdecode.transformer.encoder import Encoder
from fastdecode.transformer.layers import check_supported


class Network(Protocol):
    """What a search asks of a model; `encoded` is the network's own."""

    def encode(self, sources: Tensor) -> Any:
        """Read `sources` (B, S), padded on the right."""

    def decode(self, slots: Tensor, encoded: Any) -> Tensor:
        """Return the scores of all words in blank `slots` (B, T), before the softmax: (B, T, V)."""


class Eager:
    """fairseq's modules as they are."""

    def __init__(self, model: Any):
        """Take a model that was made ready to translate."""
        self._model = model

    def encode(self, sources: Tensor) -> Any:
        """See Network."""
        return self._model.encoder(sources)

    def decode(self, slots: Tensor, encoded: Any) -> Tensor:
        """See Network."""
        logits: Tensor = self._model.decoder(slots, encoder_out=encoded)[0]
        return logits


class Fast:
    """Our modules, laid out for this machine."""

    def __init__(self, model: Any):
        """Take the weights of `model`; raises UserError on parts that are not built here."""
        check_supported(model)
        self._encoder, self._decoder = Encoder(model.encoder), Decoder(model.decoder)
        self._pad = int(model.encoder.padding_idx)

    def encode(self, sources: Tensor) -> Any:
        """See Network."""
        filled = sources != self._pad
        mask = None if bool(filled.all()) else filled[:, None, None]  # (B, 1, 1, S)
        return self._encoder(sources, mask), mask

    def decode(self, slots: Tensor, encoded: Any) -> Tensor:
        """See Network."""
        states, mask = encoded
        count = slots.shape[1]
        memory = self._decoder.begin(states, mask, rows=1, longest=count)
        earlier = torch.ones(count, count, dtype=torch.bool, device=slots.device).tril()
        places = torch.arange(count, device=slots.device)
        return self._decoder.run(slots, places, count, earlier, memory)
