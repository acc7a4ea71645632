"""Sources as the decoder sees them, read with the model's own modules, for what is measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from fastdecode.families.dag.model import GraphModel
from fastdecode.framing import FRAME, blank_slots, frame_sources
from fastdecode.system import System


@dataclass(frozen=True)
class Sources:
    """Some sources that the encoder has read."""

    model: GraphModel
    encoded: Any
    sizes: Tensor  # (B), of their graphs
    blanks: Tensor  # (B, L)

    @classmethod
    def of(cls, system: System, sources: Sequence[Sequence[str]]) -> "Sources":
        """Encode `sources`, without gradients."""
        (model,) = system.models
        assert isinstance(model, GraphModel)  # the workflow asks no other for what is measured
        framed = frame_sources(sources, system.source).to(system.device)
        lengths = torch.tensor([len(tokens) + FRAME for tokens in sources], device=system.device)
        sizes = model.decoder.sizes(lengths)
        with torch.no_grad():
            encoded = model.encoder(framed, src_lengths=lengths)
        return cls(model, encoded, sizes, blank_slots(sizes, system.target))

    def read(self, vertices: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (B, L, V) and links (B, L, L) for what the decoder is given."""
        logits, links = self.model.decoder(vertices, self.encoded, self.sizes)
        return logits, links
