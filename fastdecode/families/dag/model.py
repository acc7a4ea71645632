"""The directed acyclic Transformer (Huang et al. 2022, section 3.1).

A Transformer whose decoder turns L = λ · S blank vertices into a graph: at every vertex a
distribution over tokens (equation 3) and one over the vertices behind it (equation 2).
"""

from contextlib import nullcontext
from functools import partial
from typing import Any

import torch
from fairseq.models import register_model, register_model_architecture
from fairseq.models.transformer import TransformerDecoder, TransformerModel, base_architecture
from fairseq.modules import SinusoidalPositionalEmbedding
from fairseq.modules.transformer_sentence_encoder import init_bert_params
from torch import Tensor

from fastdecode.families.dag.glance import Glance
from fastdecode.families.dag.links import GatedLinks, Links
from fastdecode.families.dag.training import ARCHITECTURE
from fastdecode.framing import blank_slots
from fastdecode.scores import scores_in_blocks
from fastdecode.train.updates import KnowsUpdates

LONGEST_SOURCE = 256  # with its frame: up to here a source gets its λ vertices for every token


@register_model(ARCHITECTURE)
class GraphModel(KnowsUpdates, TransformerModel):  # type: ignore[misc]
    """An encoder, and a decoder of graphs."""

    @classmethod
    def add_args(cls, parser: Any) -> None:
        """Add the options of this model to fairseq's."""
        TransformerModel.add_args(parser)
        parser.add_argument("--graph-factor", type=float, help="vertices a source token, λ")
        parser.add_argument("--links", choices=["softmax", "gated"], help="what links come from")
        parser.add_argument("--apply-bert-init", action="store_true", help="begin as BERT does")

    @classmethod
    def build_encoder(cls, args: Any, src_dict: Any, embed_tokens: Any) -> Any:
        """Return fairseq's encoder."""
        encoder = super().build_encoder(args, src_dict, embed_tokens)
        return encoder.apply(init_bert_params) if _as_bert(args) else encoder

    @classmethod
    def build_decoder(cls, args: Any, tgt_dict: Any, embed_tokens: Any) -> "GraphNetwork":
        """Return the decoder."""
        vertices = int(args.graph_factor * LONGEST_SOURCE)
        args.max_target_positions = max(args.max_target_positions, vertices)
        return GraphNetwork(args, tgt_dict, embed_tokens)

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor,
        targets: Tensor,
        glance: Glance | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return what the graphs of some sources say of `targets` (B, M).

        That is the scores of their tokens (B, M, L), the links (B, L, L) and the sizes (B). With a
        `glance` the decoder runs twice: what the first pass, without gradient, says of blank
        vertices decides what the second one sees of the target.
        """
        encoded = self.encoder(src_tokens, src_lengths=src_lengths)
        sizes = self.decoder.sizes(src_lengths)
        vertices = blank_slots(sizes, self.decoder.dictionary)
        if glance:
            vertices = self._shown(glance, vertices, encoded, sizes)
        with glance.dropout() if glance else nullcontext():
            states, links = self.decoder(vertices, encoded, sizes, features_only=True)
            return self.decoder.scores(states, targets), links, sizes

    @torch.no_grad()
    def _shown(self, glance: Glance, vertices: Tensor, encoded: Any, sizes: Tensor) -> Tensor:
        """Return what the second pass sees (B, L); what the first one made is given up with it."""
        with glance.dropout():
            states, links = self.decoder(vertices, encoded, sizes, features_only=True)
        scores = self.decoder.scores(states, glance.targets)
        return glance.look(scores, links, sizes, vertices, partial(self.decoder.likeliest, states))


class GraphNetwork(TransformerDecoder):  # type: ignore[misc]
    """A Transformer decoder in which all vertices see each other.

    The positions of vertices are learned, and begin as sines: vertices differ in nothing else, and
    few sentences do not teach hundreds of positions that begin at random.
    """

    def __init__(self, args: Any, dictionary: Any, embed_tokens: Any):
        """Build fairseq's decoder, and what makes links of its states."""
        super().__init__(args, dictionary, embed_tokens)
        self.factor = float(args.graph_factor)
        positions = self.embed_positions.weight
        width = int(args.decoder_embed_dim)
        if args.links == "gated":
            count = int(args.decoder_attention_heads)
            self.links: Links | GatedLinks = GatedLinks(width, count, len(positions))
        else:
            self.links = Links(width)
        if _as_bert(args):
            self.apply(init_bert_params)
        with torch.no_grad():
            sines = SinusoidalPositionalEmbedding.get_embedding(*positions.shape, self.padding_idx)
            positions.copy_(sines)

    def sizes(self, lengths: Tensor) -> Tensor:
        """Return L = int(λ · S) (B) for sources of `lengths` S (B), which count their frame.

        The first vertex stands for `<s>` and the last one for `</s>`: every path goes from one to
        the other. A graph has as many vertices as the decoder has positions at most.
        """
        return (lengths.double() * self.factor).long().clamp(max=int(self.max_positions()))

    def forward(
        self, vertices: Tensor, encoder_out: Any, sizes: Tensor, features_only: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Return logits (B, L, V) and links (B, L, L) for the input `vertices` (B, L).

        In place of logits with `features_only` the states (B, L, d) that they are made of.
        """
        states, _ = self.extract_features(
            vertices, encoder_out, full_context_alignment=True, alignment_layer=-1
        )
        links = self.links(states, sizes)
        return states if features_only else self.output_layer(states), links

    def scores(self, states: Tensor, targets: Tensor) -> Tensor:
        """Return log P(y_i | vertex u) (B, M, L) of `targets` (B, M) from `states` (B, L, d).

        In single precision, as links are.
        """
        return scores_in_blocks(states, self.output_projection.weight, targets).float()

    def likeliest(self, states: Tensor, path: Tensor) -> Tensor:
        """Return the likeliest token of each vertex of a `path` (B, M), from `states` (B, L, d)."""
        rows = torch.arange(len(path), device=path.device)[:, None]
        tokens: Tensor = self.output_layer(states[rows, path]).argmax(-1)
        return tokens


def _as_bert(args: Any) -> bool:
    return bool(getattr(args, "apply_bert_init", False))


@register_model_architecture(ARCHITECTURE, ARCHITECTURE)  # type: ignore[untyped-decorator]
def graph_architecture(args: Any) -> None:
    """Fill in what the command line leaves open."""
    args.graph_factor = getattr(args, "graph_factor", None) or 8.0
    args.links = getattr(args, "links", None) or "softmax"
    args.decoder_learned_pos = True  # the graph's positions (section 3.1)
    args.activation_fn = "gelu"
    base_architecture(args)
