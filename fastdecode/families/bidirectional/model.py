"""A Transformer that sees and writes its target in groups (Imamura and Sumita 2020, section 3).

fairseq's Transformer but for the self-attention of its decoder, which is causal over groups: a
token sees all of its own group and all earlier groups (figure 1b, equation 6). A group is a pair,
or a single token, which is the ordinary Transformer.
"""

from typing import Any

import torch
from fairseq.models import register_model, register_model_architecture
from fairseq.models.transformer import TransformerDecoder, TransformerModel, base_architecture
from torch import Tensor

from fastdecode.families.bidirectional.folding import Fold
from fastdecode.families.bidirectional.training import ARCHITECTURE


@register_model(ARCHITECTURE)
class FoldedModel(TransformerModel):  # type: ignore[misc]
    """An encoder and a decoder of groups."""

    def __init__(self, args: Any, encoder: Any, decoder: "FoldedNetwork"):
        """Join the two."""
        super().__init__(args, encoder, decoder)
        self.fold = decoder.fold
        self.first = decoder.first

    @classmethod
    def add_args(cls, parser: Any) -> None:
        """Add the options of this model to fairseq's."""
        TransformerModel.add_args(parser)
        parser.add_argument("--fold", help="order of writing; see folding.py")
        parser.add_argument("--start", help="pair that decoding starts from; see folding.py")

    @classmethod
    def build_decoder(cls, args: Any, tgt_dict: Any, embed_tokens: Any) -> "FoldedNetwork":
        """Return the decoder."""
        return FoldedNetwork(args, tgt_dict, embed_tokens)


class FoldedNetwork(TransformerDecoder):  # type: ignore[misc]
    """A Transformer decoder that is causal over groups."""

    def __init__(self, args: Any, dictionary: Any, embed_tokens: Any):
        """Build fairseq's decoder; `args.fold` and `args.start` make the Fold."""
        super().__init__(args, dictionary, embed_tokens)
        self.fold = Fold(args.fold, args.start)
        self.first = self.fold.first(dictionary.bos(), dictionary.eos())

    def buffered_future_mask(self, tensor: Tensor) -> Tensor:
        """Return what fairseq adds to attention logits (T, T): -inf at later groups."""
        seen = group_mask(len(tensor), self.fold.size, tensor.device)
        return torch.zeros_like(seen, dtype=tensor.dtype).masked_fill(~seen, float("-inf"))

    def forward(  # type: ignore[no-untyped-def]
        self, prev_output_tokens: Tensor, encoder_out=None, incremental_state=None, **more
    ) -> Any:
        """See fairseq; with `incremental_state` the last group of (R, t) is fed: (R, size, V).

        `encoder_out` may then have fewer sentences than there are rows, R/B rows to each.
        """
        if incremental_state is None:
            return super().forward(prev_output_tokens, encoder_out=encoder_out, **more)
        new = slice(-self.fold.size, None)
        x = self.embed_scale * self.embed_tokens(prev_output_tokens[:, new])
        x = x + self.embed_positions(prev_output_tokens)[:, new]
        if self.layernorm_embedding is not None:
            x = self.layernorm_embedding(x)
        x = self.dropout_module(x).transpose(0, 1)  # (size, R, d)
        (encoded,) = encoder_out["encoder_out"]
        padding = encoder_out["encoder_padding_mask"]
        for layer in self.layers:  # without a mask: all that is kept may be seen
            x, *_ = layer(x, encoded, padding[0] if padding else None, incremental_state)
        x = self.layer_norm(x) if self.layer_norm is not None else x
        return self.output_layer(x.transpose(0, 1)), None


def group_mask(slots: int, size: int, device: Any = None) -> Tensor:
    """Return (T, T), true where slot i may look at slot j: in its own group or an earlier one."""
    group = torch.arange(slots, device=device) // size
    return group[:, None] >= group


@register_model_architecture(ARCHITECTURE, ARCHITECTURE)  # type: ignore[untyped-decorator]
def folded_architecture(args: Any) -> None:
    """Fill in what the command line leaves open."""
    args.fold = getattr(args, "fold", None) or "bidirectional"
    args.start = getattr(args, "start", None) or "bos-eos"
    base_architecture(args)
