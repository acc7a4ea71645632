"""The drafter (Xia et al. 2022, section 3.1): k slots after a prefix are filled in one pass.

A Transformer whose decoder looks both ways over prefix and slots. As in the public code, where the
paper says nothing of it, a slot begins with what it finds in the source by its position alone, and
positions are added again before every layer.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from fairseq.models import register_model, register_model_architecture
from fairseq.models.transformer import TransformerDecoder, TransformerModel, base_architecture
from fairseq.modules.transformer_sentence_encoder import init_bert_params
from torch import Tensor

from fastdecode.families.aggressive.blocks import Blocks
from fastdecode.families.aggressive.training import DRAFTER
from fastdecode.soft_copy import SoftCopy
from fastdecode.train import checkpoints
from fastdecode.train.updates import KnowsUpdates


@register_model(DRAFTER)
class DrafterModel(KnowsUpdates, TransformerModel):  # type: ignore[misc]
    """An encoder and a decoder of blocks."""

    @classmethod
    def add_args(cls, parser: Any) -> None:
        """Add the options of this model to fairseq's."""
        TransformerModel.add_args(parser)
        parser.add_argument("--block", type=int, help="slots of a block, k")
        parser.add_argument("--verifier", help="companion whose encoder this one begins as")
        parser.add_argument("--encoder-start", help="random, initialised or shared")
        parser.add_argument("--no-bert-init", action="store_true", help="do not begin as BERT does")

    @classmethod
    def build_model(cls, args: Any, task: Any) -> "DrafterModel":
        """Return the model; its encoder begins as the verifier's where the task has that."""
        model: DrafterModel = super().build_model(args, task)
        as_bert = not getattr(args, "no_bert_init", False)
        if as_bert:
            model.decoder.apply(init_bert_params)
        companions = json.loads(getattr(getattr(task, "cfg", None), "companions", "") or "{}")
        if args.encoder_start == "random":
            if as_bert:
                model.encoder.apply(init_bert_params)
        elif companions:  # in training, not where a trained model is loaded
            copy_encoder(model, checkpoints.load(Path(companions[args.verifier]))["model"])
        if args.encoder_start == "shared":
            model.encoder.requires_grad_(False)
        return model

    @classmethod
    def build_decoder(cls, args: Any, tgt_dict: Any, embed_tokens: Any) -> "BlockNetwork":
        """Return the decoder."""
        return BlockNetwork(args, tgt_dict, embed_tokens)

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor,
        blocks: Blocks,
        wanted: Tensor | None = None,
    ) -> Tensor:
        """Return logits (B, k, V) of the slots, or (N, V) of those that are `wanted`, (B, k)."""
        encoded = self.encoder(src_tokens, src_lengths=src_lengths)
        logits: Tensor = self.decoder(blocks, encoded, self.placed(src_tokens, encoded), wanted)
        return logits

    def placed(self, src_tokens: Tensor, encoded: Any) -> Tensor:
        """Return the source embeddings with their positions (B, S, d), as the encoder adds them."""
        placed: Tensor = encoded["encoder_embedding"][0] + self.encoder.embed_positions(src_tokens)
        return placed


def copy_encoder(model: Any, weights: Mapping[str, Tensor]) -> None:
    """Give the encoder of `model` the encoder's `weights` of another Transformer, in place."""
    prefix = "encoder."
    own = {key[len(prefix) :]: w for key, w in weights.items() if key.startswith(prefix)}
    model.encoder.load_state_dict(own)


class BlockNetwork(TransformerDecoder):  # type: ignore[misc]
    """A Transformer decoder that looks both ways."""

    def __init__(self, args: Any, dictionary: Any, embed_tokens: Any):
        """Build fairseq's decoder; `args.block` is the size of a block."""
        super().__init__(args, dictionary, embed_tokens)
        self.block = int(args.block)
        self.copy = SoftCopy(embed_tokens.embedding_dim)

    def forward(
        self, blocks: Blocks, encoder_out: Any, placed: Tensor, wanted: Tensor | None = None
    ) -> Tensor:
        """Return logits (B, k, V) of the slots, or (N, V) of those that are `wanted`, (B, k).

        `encoder_out` is the encoder's, `placed` (B, S, d) source embeddings with positions. In
        training most slots of short sentences hold nothing: no logits are made of these.
        """
        states = blocks.of(self.features(blocks, encoder_out, placed))  # (B, k, d)
        logits: Tensor = self.output_layer(states if wanted is None else states[wanted])
        return logits

    def features(self, blocks: Blocks, encoder_out: Any, placed: Tensor) -> Tensor:
        """Return the states (B, W, d) of prefixes and slots."""
        embedded = encoder_out["encoder_embedding"][0]  # (B, S, d)
        # fairseq leaves the mask out where nothing is padded
        masks = encoder_out["encoder_padding_mask"]
        source_padding = masks[0] if masks and bool(masks[0].any()) else None
        padding = blocks.tokens == self.padding_idx  # (B, W)
        own_padding = padding if bool(padding.any()) else None
        width = padding.shape[1]
        known = min(width, int(self.embed_positions.max_positions))  # a block may reach over it
        anything = padding.new_full((1, known), self.padding_idx + 1, dtype=torch.long)
        places = torch.arange(width, device=padding.device).clamp(max=known - 1)
        positions = self.embed_positions(anything)[:, places]  # (1, W, d), counted from 0
        copied = self.copy(positions, embedded, placed, source_padding)
        x = self.embed_scale * self.embed_tokens(blocks.tokens)
        x = copied.where(blocks.blank[..., None], x).transpose(0, 1)  # (W, B, d)
        for layer in self.layers:
            x = self.dropout_module(x + positions.transpose(0, 1))
            x, _, _ = layer(
                x,
                encoder_out["encoder_out"][0],
                source_padding,
                self_attn_padding_mask=own_padding,
            )
        x = x.transpose(0, 1)
        states: Tensor = self.layer_norm(x) if self.layer_norm else x
        return states


@register_model_architecture(DRAFTER, DRAFTER)  # type: ignore[untyped-decorator]
def drafter_architecture(args: Any) -> None:
    """Fill in what the command line leaves open."""
    args.block = getattr(args, "block", None) or 25
    args.verifier = getattr(args, "verifier", None) or ""
    args.encoder_start = getattr(args, "encoder_start", None) or "random"
    base_architecture(args)
