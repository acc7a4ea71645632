"""Blockwise parallel decoding (Stern et al. 2018): a Transformer that predicts k tokens at once.

Between the decoder and its output projection stands one feed-forward layer with k outputs, each
added to the decoder's state: head i sees the tokens up to a place and predicts the i-th after it.
The first head is an ordinary language model of its own and verifies what the others propose.
"""

from typing import Any

from fairseq.models import register_model, register_model_architecture
from fairseq.models.transformer import TransformerDecoder, TransformerModel, base_architecture
from torch import Tensor, nn

from fastdecode.families.aggressive.training import BLOCKWISE


@register_model(BLOCKWISE)
class BlockwiseModel(TransformerModel):  # type: ignore[misc]
    """A Transformer with k heads."""

    @classmethod
    def add_args(cls, parser: Any) -> None:
        """Add the options of this model to fairseq's."""
        TransformerModel.add_args(parser)
        parser.add_argument("--block", type=int, help="heads, k")

    @classmethod
    def build_decoder(cls, args: Any, tgt_dict: Any, embed_tokens: Any) -> "BlockwiseDecoder":
        """Return the decoder."""
        return BlockwiseDecoder(args, tgt_dict, embed_tokens)

    def forward(self, src_tokens: Tensor, src_lengths: Tensor, prev_output_tokens: Tensor) -> Any:
        """Return the logits (B, T, V) of every head, from the first on."""
        encoded = self.encoder(src_tokens, src_lengths=src_lengths)
        states, _ = self.decoder.extract_features(prev_output_tokens, encoded)
        return [self.decoder.output_layer(one) for one in self.decoder.heads(states).unbind(-2)]


class Heads(nn.Module):
    """A feed-forward layer with k outputs and a residual connection to each."""

    def __init__(self, width: int, inner: int, count: int):
        """Begin with random weights; `inner` is the hidden size of each head."""
        super().__init__()
        self.fc1 = nn.Linear(width, count * inner)
        self.fc2 = nn.Linear(count * inner, count * width)
        self.count = count

    def forward(self, states: Tensor) -> Tensor:
        """Map (…, d) to (…, k, d)."""
        outputs: Tensor = self.fc2(self.fc1(states).relu()).unflatten(-1, (self.count, -1))
        return states.unsqueeze(-2) + outputs


class BlockwiseDecoder(TransformerDecoder):  # type: ignore[misc]
    """A Transformer decoder with k heads, whose logits are those of each head's states."""

    def __init__(self, args: Any, dictionary: Any, embed_tokens: Any):
        """Build fairseq's decoder; `args.block` is the number of heads."""
        super().__init__(args, dictionary, embed_tokens)
        width = embed_tokens.embedding_dim
        # As wide as the model itself, so that ten heads do not outweigh it.
        self.heads = Heads(width, width, int(args.block))


@register_model_architecture(BLOCKWISE, BLOCKWISE)  # type: ignore[untyped-decorator]
def blockwise_architecture(args: Any) -> None:
    """Fill in what the command line leaves open."""
    args.block = getattr(args, "block", None) or 10
    base_architecture(args)
