"""The Markov transformer that learns edge scores (Deng and Rush 2021, section 3, appendix A.4).

A Transformer whose decoder self-attention is causal within blocks of N slots. A block begins with
`<s>` in the place of the word before, so that its n-th slot is predicted from n words: with N = 3 a
pass trains unigram, bigram and trigram scores at once; the paper names the last two. Where blocks
begin changes from sentence to sentence and update to update: a slot t begins one where (t - offset)
mod N = 0. Slot 0 always holds `<s>`.
"""

from typing import Any

import torch
from fairseq.models import register_model, register_model_architecture
from fairseq.models.transformer import TransformerDecoder, TransformerModel, base_architecture
from torch import Tensor

from fastdecode.families.lattice.training import ARCHITECTURE
from fastdecode.train.updates import KnowsUpdates


@register_model(ARCHITECTURE)
class LatticeModel(KnowsUpdates, TransformerModel):  # type: ignore[misc]
    """An encoder and a scorer of edges; the scorer's layers are the decoder's."""

    @classmethod
    def add_args(cls, parser: Any) -> None:
        """Add the options of this model to fairseq's."""
        TransformerModel.add_args(parser)
        parser.add_argument("--orders", type=int, help="slots of a block, N")

    @classmethod
    def build_decoder(cls, args: Any, tgt_dict: Any, embed_tokens: Any) -> "MarkovDecoder":
        """Return the scorer."""
        return MarkovDecoder(args, tgt_dict, embed_tokens)

    def forward(
        self, src_tokens: Tensor, src_lengths: Tensor, prev_output_tokens: Tensor, offsets: Tensor
    ) -> Any:
        """Return logits (B, T, V); `prev_output_tokens` (B, T), `offsets` (B) below N."""
        encoded = self.encoder(src_tokens, src_lengths=src_lengths)
        return self.decoder(prev_output_tokens, encoded, offsets=offsets)


class MarkovDecoder(TransformerDecoder):  # type: ignore[misc]
    """A Transformer decoder whose self-attention stays within blocks."""

    def __init__(self, args: Any, dictionary: Any, embed_tokens: Any):
        """Build fairseq's decoder; `args.orders` is the size of a block."""
        super().__init__(args, dictionary, embed_tokens)
        self.orders = int(args.orders)
        self._bos = dictionary.bos()
        self._heads = int(args.decoder_attention_heads)
        self._mask = torch.empty(0)

    def forward(  # type: ignore[no-untyped-def]
        self, prev_output_tokens: Tensor, encoder_out=None, offsets: Tensor | None = None, **more
    ) -> Any:
        """See fairseq; blocks begin at `offsets` (B), by default at 0."""
        if offsets is None:
            offsets = prev_output_tokens.new_zeros(len(prev_output_tokens))
        starts = block_starts(prev_output_tokens.shape[1], self.orders, offsets)
        self._mask = block_mask(starts).repeat_interleave(self._heads, 0)
        # Padding comes last, where no word sees it: as a word it keeps rows from having no key.
        blank = starts | (prev_output_tokens == self.padding_idx)
        tokens = prev_output_tokens.masked_fill(blank, self._bos)
        return super().forward(tokens, encoder_out=encoder_out, **more)

    def buffered_future_mask(self, tensor: Tensor) -> Tensor:
        """Return what fairseq adds to attention logits (B · heads, T, T): -inf beside the block."""
        mask = torch.zeros(self._mask.shape, dtype=tensor.dtype, device=tensor.device)
        return mask.masked_fill(~self._mask, float("-inf"))


def block_starts(slots: int, orders: int, offsets: Tensor) -> Tensor:
    """Return (B, slots), true where a block of `orders` slots begins; `offsets` is (B)."""
    slot = torch.arange(slots, device=offsets.device)
    starts = (slot - offsets[:, None]) % orders == 0
    starts[:, 0] = True
    return starts


def block_mask(starts: Tensor) -> Tensor:
    """Return (B, T, T), true where slot i may look at slot j: not behind it, in its block."""
    block = starts.cumsum(1)
    return (block[:, :, None] == block[:, None, :]).tril()


@register_model_architecture(ARCHITECTURE, ARCHITECTURE)  # type: ignore[untyped-decorator]
def lattice_architecture(args: Any) -> None:
    """Fill in what the command line leaves open."""
    args.orders = getattr(args, "orders", None) or 3
    base_architecture(args)
