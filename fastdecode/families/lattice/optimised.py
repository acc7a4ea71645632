"""The scores of scorer.py in fewer operations, for a CPU: a sentence at a time, in blocks of rows.

What stays exact but for the rounding of sums taken in another order:

- **Cross-attention** of H heads to S source words: the logits xWᵩkᵀ of all heads are one product of
  x with a matrix d × H·S that is made once a sentence, and so are values and output. That takes the
  place of two products with d × d and of the attention itself where H·S is below d + S or so.
- **Self-attention in the first layer** has two keys, so it is a gate for each head: a weight s_h of
  the word itself, the rest for `<s>` one slot before. Words and positions come as a sum x = a + p
  (in a model that normalises after its sub-layers), so queries, keys and values are sums too. A
  gate's logit is then a number of the word, one of the slot, and a product of a with d × H numbers
  of the slot. Values with their output layer are looked up for the different words of a sentence,
  H vectors each, and added up, s_h times each: no product over all the rows is left.
- **The sum over the vocabulary** is taken only for the rows that may be on a best path (lazy.py),
  and over a few words and rows at a time, which stay in the caches.
- Slots that a sentence has no use for are left out, and of `<s>` only slot 0 is asked for a word.

`half` takes the feed-forward and the vocabulary's product in bfloat16, which is not exact.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from fastdecode.errors import UserError
from fastdecode.families.lattice.lazy import tighten
from fastdecode.transformer.layers import (
    Embedding,
    FeedForward,
    LayerNorm,
    Residual,
    attend,
    heads,
)
from fastdecode.transformer.linear import Linear, has_bf16, multiply

ROWS = 1024  # queries at a time
WORDS = 2048  # of the vocabulary at a time


class OptimisedScorer:
    """A Markov transformer's decoder, for scoring on a CPU: the twin of Scorer."""

    def __init__(self, module: Any, bos: int, eos: int, exact: bool, half: bool = False):
        """See Scorer; `half` as above. Raises UserError where a CPU has no bfloat16."""
        if half and not has_bf16():
            raise UserError("this CPU does not multiply in bfloat16: leave bf16 out")
        self._embed = Embedding(module)
        own: list[_Gates | _Pairs] = [_Pairs(layer) for layer in module.layers]
        if _Gates.fit(module):
            own[0] = _Gates(module.layers[0], self._embed, module.embed_tokens.num_embeddings, bos)
        self._layers = [
            _Layer(layer, attention, half)
            for layer, attention in zip(module.layers, own, strict=True)
        ]
        self._norm = LayerNorm(module.layer_norm) if module.layer_norm else None
        self._weight = module.output_projection.weight.detach()  # (V, d)
        self._bias = getattr(module.output_projection, "bias", None)
        self._project = _vocabulary(module.output_projection, half) if exact else []
        self._bos, self._eos = bos, eos
        self._arithmetic = torch.bfloat16 if half else self._weight.dtype

    def __call__(
        self,
        candidates: Tensor,
        encoded: Tensor,
        mask: Tensor | None,
        bounds: Sequence[tuple[int, int]],
    ) -> tuple[Tensor, Tensor]:
        """See Scorer, but what no best path needs is not computed.

        Edges beyond a sentence's own longest are undefined, and those of rows that cannot be on a
        best path are upper bounds.
        """
        sentences, slots, k = candidates.shape
        first = encoded.new_empty(sentences, k + 1, dtype=torch.float32)
        edges = encoded.new_empty(sentences, slots - 1, k, k + 1, dtype=torch.float32)
        for number, (shortest, longest) in enumerate(bounds):
            source = encoded[number]
            if mask is not None:
                source = source[mask[number, 0, 0]]
            own = edges[number, : longest - 1]
            self._sentence(candidates[number, :longest], source, shortest, first[number], own)
        return first, edges

    def _sentence(
        self, candidates: Tensor, source: Tensor, shortest: int, first: Tensor, edges: Tensor
    ) -> None:
        """Score `candidates` (T, K) given `source` (S, d); write (K + 1) and (T - 1, K, K + 1)."""
        slots, k = candidates.shape
        following = F.pad(candidates, (0, 1), value=self._eos)  # (T, K + 1)
        begin = self._embed(candidates.new_full((1, slots), self._bos), torch.arange(slots))[0]
        passes: list[_Pass] = []
        for layer in self._layers:
            passes.append(_Pass(layer, begin, source, candidates[:-1]))
            begin = passes[-1].begin(begin if len(passes) < len(self._layers) else begin[:1])
        parts = []  # hidden states and log Z over the candidates
        step = max(1, ROWS // k)
        for start in range(0, slots - 1, step):
            part = slice(start, min(start + step, slots - 1))
            place = torch.arange(part.start + 1, part.stop + 1)[:, None]
            x = self._embed(candidates[part], place)  # (t, K, d)
            for one in passes:
                x = one.words(x, part)
            after = following[part.start + 1 : part.stop + 1]
            parts.append(self._among_candidates(x, after, edges[part]))
        only = self._among_candidates(begin[:, None], following[:1], first[None, None])
        if self._project:
            first -= self._excess(*only)
            hidden, log_z = map(torch.cat, zip(*parts, strict=True))
            tighten(first, edges, shortest, lambda rows: self._excess(hidden[rows], log_z[rows]))

    def _among_candidates(
        self, hidden: Tensor, following: Tensor, out: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Write to `out` (t, n, m): of `following` (t, m) after `hidden` (t, n, d).

        Returns what is normalised, (t · n, d), and log Z (t · n) over the words `following`.
        """
        hidden = self._norm(hidden) if self._norm else hidden
        logits = hidden @ F.embedding(following, self._weight).transpose(1, 2)
        if self._bias is not None:
            logits = logits + self._bias[following][:, None]
        logits = logits.float()
        log_z = logits.logsumexp(-1)
        torch.sub(logits, log_z[..., None], out=out)
        return hidden.flatten(0, 1), log_z.flatten()

    def _excess(self, hidden: Tensor, log_z: Tensor) -> Tensor:
        """Return how much smaller `log_z` (n) is than log Z over the vocabulary."""
        found = []
        for rows in hidden.to(self._arithmetic).split(ROWS):
            parts = [project(rows).float().logsumexp(-1) for project in self._project]
            found.append(torch.stack(parts).logsumexp(0))
        return (torch.cat(found) - log_z).clamp(min=0)


Words = Callable[[Tensor, slice], Tensor]  # the words (t, K, d) of some slots to what they get


class _Layer:
    """The weights of a layer."""

    def __init__(self, layer: Any, own: "_Gates | _Pairs", half: bool):
        self.own, self.source = own, _SourceAttention(layer)
        self.feed_forward = FeedForward(_halved(layer) if half else layer)
        self.arithmetic = torch.bfloat16 if half else layer.fc1.weight.dtype
        prenorm = layer.normalize_before
        self.around_own = Residual(layer.self_attn_layer_norm, prenorm)
        self.around_source = Residual(layer.encoder_attn_layer_norm, prenorm)
        self.around_feed_forward = Residual(layer.final_layer_norm, prenorm)


class _Pass:
    """A layer for one sentence: the states of `<s>` (T, d), its source (S, d) and its words."""

    def __init__(self, layer: _Layer, begin: Tensor, source: Tensor, candidates: Tensor):
        self._layer = layer
        self._own = layer.own.prepare(layer.around_own.before(begin), candidates)
        self._source = layer.source.prepare(source)

    def begin(self, x: Tensor) -> Tensor:
        """Map states (n, d) of `<s>`, which sees itself alone."""
        return self._rest(self._layer.around_own(x, self._layer.own.alone))

    def words(self, x: Tensor, part: slice) -> Tensor:
        """Map the words (t, K, d) of some slots."""
        return self._rest(self._layer.around_own(x, lambda y: self._own(y, part)))

    def _rest(self, x: Tensor) -> Tensor:
        x = self._layer.around_source(x, self._source)
        return self._layer.around_feed_forward(x, self._feed)

    def _feed(self, x: Tensor) -> Tensor:
        return self._layer.feed_forward(x.to(self._layer.arithmetic))  # added up as x is


class _Pairs:
    """Self-attention with two keys, as in scorer.py."""

    def __init__(self, layer: Any):
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
        return self._qkv(x).unflatten(-1, (3, self._heads, -1)).unbind(-3)


class _Gates:
    """The same where the input is a + p, word and position: see above.

    With b for `<s>` one slot before, the gate's logit is q(a + p) · (k(a + p) - k(b)) / √D.
    """

    @staticmethod
    def fit(module: Any) -> bool:
        """Whether the first layer of a decoder sees sums of words and positions."""
        return module.layernorm_embedding is None and not module.layers[0].normalize_before

    def __init__(self, layer: Any, embed: Embedding, words: int, bos: int):
        attention = layer.self_attn
        self._heads, self._bos, self._embed = attention.num_heads, bos, embed
        self._q, self._k, self._v = attention.q_proj, attention.k_proj, attention.v_proj
        self._out = attention.out_proj
        self._scale = (self._q.weight.shape[0] // self._heads) ** -0.5
        query, key = (
            Linear([SimpleNamespace(weight=part.weight, bias=None)]) for part in (self._q, self._k)
        )
        self._value = Linear([SimpleNamespace(weight=self._v.weight, bias=None)])
        self._outs = [
            Linear([SimpleNamespace(weight=part, bias=None)])
            for part in self._out.weight.chunk(self._heads, dim=1)
        ]
        every = torch.arange(words, device=self._q.weight.device)
        with torch.inference_mode():
            self._alike = torch.cat(  # (V, H): q(a) · k(a) / √D, biases left out
                [
                    self._per_head(query(a)).mul(self._per_head(key(a))).sum(-1) * self._scale
                    for a in map(embed.words, every.split(WORDS))
                ]
            )
        self._slots: tuple[Tensor, ...] = ()

    def alone(self, begin: Tensor) -> Tensor:
        """See _Pairs."""
        return self._out(self._v(begin))

    def prepare(self, begin: Tensor, candidates: Tensor) -> Words:
        """See _Pairs; `candidates` (T - 1, K) are the words."""
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
                *(rows[part].flatten(0, 1), table),
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
        return x.unflatten(-1, (self._heads, -1))


class _SourceAttention:
    def __init__(self, layer: Any):
        attention = layer.encoder_attn
        self._heads = attention.num_heads
        self._query = Linear([attention.q_proj])
        self._keys = Linear([attention.k_proj, attention.v_proj])
        self._out = Linear([attention.out_proj])
        self._q, self._o = attention.q_proj, attention.out_proj
        self._width = len(self._q.weight)
        self._scale = (self._width // self._heads) ** -0.5

    def prepare(self, source: Tensor) -> Callable[[Tensor], Tensor]:
        """Return the attention to `source` (S, d)."""
        key, value = (heads(part[None], self._heads) for part in self._keys(source).chunk(2, -1))
        if self._heads * len(source) > self._width + len(source):
            return lambda x: self._plain(x, key, value)
        return self._folded(key[0] * self._scale, value[0])

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


def _vocabulary(projection: Any, half: bool) -> list[Linear]:
    """Return the products with the vocabulary, some words each."""
    weight, bias = projection.weight, getattr(projection, "bias", None)
    if half:
        weight, bias = weight.bfloat16(), bias if bias is None else bias.bfloat16()
    parts = weight.split(WORDS)
    biases = [None] * len(parts) if bias is None else bias.split(WORDS)
    pairs = zip(parts, biases, strict=True)
    return [Linear([SimpleNamespace(weight=some, bias=its)]) for some, its in pairs]


def _halved(layer: Any) -> Any:
    """Return the feed-forward of a layer in bfloat16."""
    parts = (deepcopy(part).bfloat16() for part in (layer.fc1, layer.fc2))
    return SimpleNamespace(**dict(zip(("fc1", "fc2"), parts)), activation_fn=layer.activation_fn)
