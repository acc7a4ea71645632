"""fairseq's Transformer, but the decoder is shown blanks where it would see earlier words."""

from typing import Any

import torch
from fairseq.models import register_model, register_model_architecture
from fairseq.models.transformer import TransformerModel, base_architecture
from torch import Tensor

from fastdecode.families.template.training import ARCHITECTURE


@register_model(ARCHITECTURE)
class BlindModel(TransformerModel):  # type: ignore[misc]
    """p(y | x) = Π_t p(y_t | t, x)."""

    def forward(
        self, src_tokens: Tensor, src_lengths: Tensor, prev_output_tokens: Tensor, **more: Any
    ) -> Any:
        """See fairseq; of `prev_output_tokens` (B, T) only the padding is looked at."""
        blanks = self.blanks(prev_output_tokens == self.decoder.padding_idx)
        return super().forward(src_tokens, src_lengths, blanks, **more)

    def blanks(self, padding: Tensor) -> Tensor:
        """Return slots to fill (B, T), with padding where `padding` (B, T) is true."""
        words = self.decoder.dictionary
        blank = torch.full(padding.shape, words.unk(), device=padding.device)
        return blank.masked_fill(padding, words.pad())


@register_model_architecture(ARCHITECTURE, ARCHITECTURE)  # type: ignore[untyped-decorator]
def blind_architecture(args: Any) -> None:
    """Fill in what the command line leaves open."""
    base_architecture(args)
