"""The attention of scorer.py in fewer operations: exact but for the rounding of sums.

**To the source**, S words with keys k and values v, by H heads: the logits (xQ + q)kᵀ of all heads
are one product of x with a matrix d × H·S, made once a sentence, and the values with the output
layer are another. They take the place of two products with d × d and of the attention itself where
H·S is at most d + S.

**To a word and to `<s>` one slot before**, two keys, so each head has a gate: a share s of the
word, the rest of `<s>`. In a first layer without normalisation before it, the input is a sum a + p
of word and position, so queries, keys and values are sums too. Then a gate's logit is a number of
the word, one of the slot, and the product of a + p with d × H numbers of the slot. Values with
their output layer are H vectors for each different word of a sentence, a quarter of the rows or so;
they are looked up and added, s times each. No product with d × d over all the rows is left.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from fastdecode.transformer.layers import Embedding, attend, heads
from fastdecode.transformer.linear import Linear, multiply

BLOCK = 2048  # words at a time
Words = Callable[[Tensor, slice], Tensor]  # the words (t, K, d) of some slots to what they get


class Pairs:
    """Self-attention with two keys, as in scorer.py."""

    def __init__(self, layer: Any):
        """Take the weights of a fairseq decoder layer."""
        attention = layer.self_attn
        self._heads = attention.num_heads
        self._qkv = Linear([attention.q_proj, attention.k_proj, attention.v_proj])
        self._out = Linear([attention.out_proj])

    def alone(self, begin: Tensor) -> Tensor:
        """Return what `<s>` (n, d) gets: its own value."""
        return self._out(self._qkv(begin).chunk(3, dim=-1)[2])

    def prepare(self, begin: Tensor, candidates: Tensor) -> Words:
        """Return the attention of words, given the states of `<s>` (T, d)."""
        del candidates
        _, key, value = self._split(begin[:-1, None])

        def attend_both(x: Tensor, part: slice) -> Tensor:
            q, k, v = self._split(x)  # (t, K, H, D)
            lead = (q * (k - key[part])).sum(-1, keepdim=True) / q.shape[-1] ** 0.5
            mixed = torch.lerp(value[part].expand_as(v), v, lead.sigmoid())
            return self._out(mixed.flatten(2))

        return attend_both

    def _split(self, x: Tensor) -> tuple[Tensor, ...]:
        parts: tuple[Tensor, ...] = self._qkv(x).unflatten(-1, (3, self._heads, -1)).unbind(-3)
        return parts


class Gates:
    """The same in a first layer that sees sums of words and positions.

    With b for `<s>` one slot before, a gate's logit is q(a + p) · (k(a + p) - k(b)) / √D.
    """

    @staticmethod
    def fit(module: Any) -> bool:
        """Whether the first layer of a decoder sees sums of words and positions."""
        return module.layernorm_embedding is None and not module.layers[0].normalize_before

    def __init__(self, layer: Any, embed: Embedding, words: int):
        """Take the weights of a fairseq decoder layer; `embed` knows so many words."""
        attention = layer.self_attn
        self._heads, self._embed = attention.num_heads, embed
        self._q, self._k, self._v = attention.q_proj, attention.k_proj, attention.v_proj
        self._out = attention.out_proj
        self._scale = (self._q.weight.shape[0] // self._heads) ** -0.5
        query, key, self._value = (_plain(part.weight) for part in (self._q, self._k, self._v))
        self._outs = [_plain(part) for part in self._out.weight.chunk(self._heads, dim=1)]
        every = torch.arange(words, device=self._q.weight.device)
        with torch.inference_mode():
            self._alike = torch.cat(  # (V, H): q(a) · k(a) / √D, biases left out
                [
                    self._per_head(query(a)).mul(self._per_head(key(a))).sum(-1) * self._scale
                    for a in map(embed.words, every.split(BLOCK))
                ]
            )
        self._slots: tuple[Tensor, ...] = ()

    def alone(self, begin: Tensor) -> Tensor:
        """See Pairs."""
        value: Tensor = self._out(self._v(begin))
        return value

    def prepare(self, begin: Tensor, candidates: Tensor) -> Words:
        """See Pairs; `candidates` (T - 1, K) are the words."""
        turn, level, gain, base = self._of_slots(begin)
        words, number = candidates.unique(return_inverse=True)  # (U), (T - 1, K)
        values = self._value(self._embed.words(words)).chunk(self._heads, dim=-1)
        # (H · U, d): what the value of a word adds to the output by way of each head
        table = torch.cat([out(v) for out, v in zip(self._outs, values, strict=True)])
        rows = number[..., None] + torch.arange(self._heads) * len(words)  # (T - 1, K, H)

        def gate(x: Tensor, part: slice) -> Tensor:
            logit = self._alike[candidates[part]] + torch.baddbmm(level[part], x, turn[part])
            share = logit.sigmoid()  # (t, K, H)
            found = F.embedding_bag(
                rows[part].flatten(0, 1),
                table,
                per_sample_weights=share.flatten(0, 1),
                mode="sum",
            )
            return torch.baddbmm(base[part], share, gain[part]) + found.view(x.shape)

        return gate

    def _of_slots(self, begin: Tensor) -> tuple[Tensor, ...]:
        """Return what depends on the slots 1 to T - 1 alone, given `<s>` (T, d) in all T.

        With n = T - 1: the matrices (n, d, H) and summands (n, 1, H) that give a gate's logit with
        a + p, and what a gate adds to the output, (n, H, d) times it and (n, 1, d) anyhow.
        """
        count = len(begin) - 1
        if not self._slots or len(self._slots[0]) < count:
            place = self._embed.positions(torch.arange(1, count + 1))  # (n, d)
            query = self._per_head(self._q(place)) * self._scale  # (n, H, D)
            key, value = (
                self._per_head(part(place) - part(begin[:-1])) for part in (self._k, self._v)
            )
            q, k = (part.weight.unflatten(0, (self._heads, -1)) for part in (self._q, self._k))
            turn = torch.einsum("nhk,hkd->ndh", key * self._scale, q)
            turn = turn + torch.einsum("nhk,hkd->ndh", query, k)
            level = (query * key).sum(-1)[:, None] - place[:, None] @ turn
            out = self._out.weight.unflatten(1, (self._heads, -1))  # (d, H, D)
            gain = torch.einsum("nhk,dhk->nhd", value, out)
            self._slots = turn, level, gain, self.alone(begin[:-1])[:, None]
        return tuple(part[:count] for part in self._slots)

    def _per_head(self, x: Tensor) -> Tensor:
        split: Tensor = x.unflatten(-1, (self._heads, -1))
        return split


class SourceAttention:
    """Attention to the source."""

    def __init__(self, layer: Any):
        """Take the weights of a fairseq decoder layer."""
        attention = layer.encoder_attn
        self._heads: int = attention.num_heads
        self._query = Linear([attention.q_proj])
        self._keys = Linear([attention.k_proj, attention.v_proj])
        self._out = Linear([attention.out_proj])
        self._q, self._o = attention.q_proj, attention.out_proj
        self._width: int = len(self._q.weight)
        self._scale = (self._width // self._heads) ** -0.5

    def prepare(self, source: Tensor) -> Callable[[Tensor], Tensor]:
        """Return the attention to `source` (S, d)."""
        key, value = (heads(part[None], self._heads) for part in self._keys(source).chunk(2, -1))
        if self._fold_pays(len(source)):
            return self._folded(key[0] * self._scale, value[0])
        return lambda x: self._plain(x, key, value)

    def _fold_pays(self, words: int) -> bool:
        return self._heads * words <= self._width + words

    def _plain(self, x: Tensor, key: Tensor, value: Tensor) -> Tensor:
        query = heads(self._query(x).reshape(1, -1, x.shape[-1]), self._heads)
        return self._out(attend(query, key, value, None)).view(x.shape)

    def _folded(self, key: Tensor, value: Tensor) -> Callable[[Tensor], Tensor]:
        """Return the attention to keys and values (H, S, D)."""
        q = self._q.weight.unflatten(0, (self._heads, -1))  # (H, D, d)
        out = self._o.weight.t().unflatten(0, (self._heads, -1))
        bias = key @ self._q.bias.view(self._heads, -1, 1)  # (H, S, 1)
        query, bias = (key @ q).flatten(0, 1), bias.flatten()  # (H · S, d), (H · S)
        result = (value @ out).flatten(0, 1).t()  # (d, H · S)

        def attention(x: Tensor) -> Tensor:
            logits = multiply(x, query, bias).unflatten(-1, (self._heads, -1))  # (t, K, H, S)
            return multiply(logits.softmax(-1).flatten(-2), result, self._o.bias)

        return attention


def _plain(weight: Tensor) -> Linear:
    """Return a product without a bias."""
    return Linear([SimpleNamespace(weight=weight, bias=None)])
