"""The decoder, a few tokens at a time, with keys and values kept from earlier steps."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from fastdecode.transformer.layers import (
    Embedding,
    FeedForward,
    LayerNorm,
    Residual,
    attend,
    heads,
)
from fastdecode.transformer.linear import Linear


@dataclass
class Memory:
    """What a decoder keeps between steps, for R rows that belong to B sentences, R/B to each.

    `own` (L, 2, R, H, T, D) holds keys and values of the `length` target tokens so far, with room
    for T; `source` (L, 2, B, H, S, D) those of the source, whose `mask` (B, 1, 1, S) is None where
    nothing is padded.
    """

    own: Tensor
    source: Tensor
    mask: Tensor | None
    length: int = 0

    def keep_rows(self, rows: Tensor) -> None:
        """Put row `rows[r]` in the place of row r: a beam goes on from some of its hypotheses."""
        used = self.own[:, :, :, :, : self.length]
        self.own[:, :, : len(rows), :, : self.length] = used.index_select(2, rows)

    def keep_sentences(self, sentences: Tensor) -> None:
        """Keep these sentences alone, with all their rows."""
        rows = self.own.shape[2] // self.source.shape[2]
        kept = (sentences[:, None] * rows + torch.arange(rows, device=sentences.device)).flatten()
        self.own = self.own.index_select(2, kept)
        self.source = self.source.index_select(2, sentences)
        if self.mask is not None:
            self.mask = self.mask.index_select(0, sentences)


AnyLayer = TypeVar("AnyLayer")


class Stack(Generic[AnyLayer]):
    """What every decoder has, whatever its tokens see of one another."""

    def __init__(self, module: Any, layer: Callable[[Any], AnyLayer]):
        """Take the weights of a fairseq TransformerDecoder; `layer` takes those of a layer."""
        self.layers = [layer(one) for one in module.layers]
        self._norm = LayerNorm(module.layer_norm) if module.layer_norm else None
        self._project = Linear([module.output_projection])
        projections = [(x.encoder_attn.k_proj, x.encoder_attn.v_proj) for x in module.layers]
        self._source = Linear([projection for pair in projections for projection in pair])
        self._heads = module.layers[0].self_attn.num_heads

    def source_keys(self, encoded: Tensor) -> Tensor:
        """Return keys and values of the source for all layers: (L, 2, B, H, S, D).

        `encoded` is (B, S, d). Passes over one batch share them.
        """
        keys = self._source(encoded).unflatten(-1, (len(self.layers), 2, self._heads, -1))
        source: Tensor = keys.permute(2, 3, 0, 4, 1, 5).contiguous()
        return source

    def project(self, states: Tensor) -> Tensor:
        """Return the logits of all words (…, V) for states (…, d)."""
        return self._project(states)


class Decoder(Stack["Layer"]):
    """A Transformer decoder with a fairseq decoder's weights."""

    def __init__(self, module: Any):
        """Take the weights of a fairseq TransformerDecoder."""
        super().__init__(module, Layer)
        self.embed = Embedding(module)
        self._width = int(module.embed_tokens.weight.shape[1])
        self._room = module.embed_tokens.weight.new_empty(0)

    def begin(
        self, encoded: Tensor, mask: Tensor | None, rows: int, longest: int, clear: bool = False
    ) -> Memory:
        """Return the memory to begin with: `rows` rows a sentence, room for `longest` tokens.

        `encoded` (B, S, d) and `mask` are the encoder's. The room is the decoder's own and is used
        again: a memory is good until the next one begins. `clear` empties it, for `step_at` with
        rows of different lengths: what is masked counts nothing, but must be a number.
        """
        size = self.room(len(encoded) * rows, longest)
        if self._room.numel() < prod(size):
            self._room = encoded.new_empty(prod(size))
        own = self._room[: prod(size)].view(size)
        return Memory(own.zero_() if clear else own, self.source_keys(encoded), mask)

    def room(self, rows: int, longest: int) -> tuple[int, ...]:
        """Return the shape of the keys and values of `longest` target tokens a row."""
        width = self._width // self._heads
        return len(self.layers), 2, rows, self._heads, longest, width  # (L, 2, R, H, T, D)

    def step(self, tokens: Tensor, memory: Memory) -> Tensor:
        """Feed the next `tokens` (R, n) and return their logits (R, n, V).

        Every new token sees all earlier ones, and all the new ones.
        """
        end = memory.length + tokens.shape[1]
        positions = torch.arange(memory.length, end, device=tokens.device)
        memory.length = end
        return self.run(tokens, positions, end, None, memory)

    def step_at(self, tokens: Tensor, lengths: Tensor, longest: int, memory: Memory) -> Tensor:
        """Feed `tokens` (R, n) behind the first `lengths` (R) of each row; return (R, n, V).

        Every new token sees those of its row that come before it. What the memory held behind a
        row's length is forgotten. `longest` is the highest of the lengths; `memory.length` is
        neither read nor changed.
        """
        return self.project(self.states_at(tokens, lengths, longest, memory))

    def states_at(self, tokens: Tensor, lengths: Tensor, longest: int, memory: Memory) -> Tensor:
        """Return the states (R, n, d) whose projection `step_at` returns."""
        window = longest + tokens.shape[1]
        if len(lengths) == 1:  # its length is known without asking the device
            positions = torch.arange(longest, window, device=tokens.device)  # (n)
            mask = torch.arange(window, device=tokens.device) <= positions[:, None]
            return self.states(tokens, positions, window, mask, memory)
        positions = lengths[:, None] + torch.arange(tokens.shape[1], device=tokens.device)
        places = torch.arange(window, device=tokens.device)
        mask = (places <= positions[..., None])[:, None]  # (R, 1, n, window)
        return self.states(tokens, positions, window, mask, memory)

    def run(
        self, tokens: Tensor, positions: Tensor, window: int, mask: Tensor | None, memory: Memory
    ) -> Tensor:
        """Do what `step` says, with every number that changes from step to step in a tensor.

        The new tokens stand at `positions`, (n) or (R, n), and look at the first `window` places of
        the memory, or where `mask` (n, window) or (R, 1, n, window) is true. `memory.length` is
        neither read nor changed.
        """
        return self.project(self.states(tokens, positions, window, mask, memory))

    def states(
        self, tokens: Tensor, positions: Tensor, window: int, mask: Tensor | None, memory: Memory
    ) -> Tensor:
        """Return the states (R, n, d) whose projection `run` returns."""
        x = self.embed(tokens, positions)
        for layer, own, source in zip(self.layers, memory.own, memory.source, strict=True):
            x = layer(x, own, positions, window, mask, source, memory.mask)
        return self._norm(x) if self._norm else x


class Layer:
    """Attention to the target, attention to the source, feed-forward."""

    def __init__(self, layer: Any):
        """Take the weights of a fairseq TransformerDecoderLayer."""
        own, source = layer.self_attn, layer.encoder_attn
        self._heads = own.num_heads
        self._qkv = Linear([own.q_proj, own.k_proj, own.v_proj])
        self._own_out = Linear([own.out_proj])
        self._query = Linear([source.q_proj])
        self._source_out = Linear([source.out_proj])
        self._feed_forward = FeedForward(layer)
        prenorm = layer.normalize_before
        self._around_own = Residual(layer.self_attn_layer_norm, prenorm)
        self._around_source = Residual(layer.encoder_attn_layer_norm, prenorm)
        self._around_feed_forward = Residual(layer.final_layer_norm, prenorm)

    def __call__(
        self,
        x: Tensor,  # (R, n, d)
        own: Tensor,  # (2, R, H, T, D)
        positions: Tensor,  # (n) or (R, n)
        window: int,
        own_mask: Tensor | None,  # (n, window) or (R, 1, n, window)
        source: Tensor,  # (2, B, H, S, D)
        source_mask: Tensor | None,  # (B, 1, 1, S)
    ) -> Tensor:
        """Map the states of n new tokens; see Decoder.run."""
        x = self._around_own(x, lambda y: self._own_attention(y, own, positions, window, own_mask))
        x = self._around_source(x, lambda y: self._source_attention(y, source, source_mask))
        return self._around_feed_forward(x, self._feed_forward)

    def _own_attention(
        self, x: Tensor, own: Tensor, positions: Tensor, window: int, mask: Tensor | None
    ) -> Tensor:
        query, key, value = (heads(part, self._heads) for part in self._qkv(x).chunk(3, dim=-1))
        if positions.dim() == 1:
            own[0].index_copy_(2, positions, key)
            own[1].index_copy_(2, positions, value)
        else:  # each row has places of its own
            rows = torch.arange(len(positions), device=positions.device)[:, None]
            own[0][rows, :, positions] = key.transpose(1, 2)
            own[1][rows, :, positions] = value.transpose(1, 2)
        return self._own_out(attend(query, own[0, :, :, :window], own[1, :, :, :window], mask))

    def _source_attention(self, x: Tensor, source: Tensor, mask: Tensor | None) -> Tensor:
        # The rows of a sentence are queries of one attention, so that its keys are read once.
        sentences = source.shape[1]
        query = self._query(x).reshape(sentences, -1, x.shape[-1])  # (B, R/B · n, d)
        attended = attend(heads(query, self._heads), source[0], source[1], mask)
        return self._source_out(attended.reshape(x.shape))
