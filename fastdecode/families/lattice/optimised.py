"""The scores of scorer.py in fewer operations, for a CPU: a sentence at a time, in blocks of rows.

What stays exact but for the rounding of sums taken in another order:

- **Attention** to the source, and in the first layer to the two words of a block, takes products
  made once a sentence or a slot in the place of products over all the rows (attention.py).
- **The sum over the vocabulary** is taken only for the rows that may be on a best path (lazy.py),
  and over a few words and rows at a time, which stay in the caches.
- Slots that a sentence has no use for are left out, and of `<s>` only slot 0 is asked for a word.

`half` takes the feed-forward and the vocabulary's product in bfloat16, which is not exact.
"""

from collections.abc import Sequence
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from fastdecode.errors import UserError
from fastdecode.families.lattice.attention import Gates, Pairs, SourceAttention
from fastdecode.families.lattice.lazy import tighten
from fastdecode.transformer.layers import Embedding, FeedForward, LayerNorm, Residual
from fastdecode.transformer.linear import Linear, has_bf16

ROWS = 1024  # queries at a time
WORDS = 2048  # of the vocabulary at a time


class OptimisedScorer:
    """A Markov transformer's decoder, for scoring on a CPU: the twin of Scorer."""

    def __init__(self, module: Any, bos: int, eos: int, exact: bool, half: bool = False):
        """See Scorer; `half` as above. Raises UserError where a CPU has no bfloat16."""
        if half and not has_bf16():
            raise UserError("this CPU does not multiply in bfloat16: leave bf16 out")
        self._embed = Embedding(module)
        own: list[Gates | Pairs] = [Pairs(layer) for layer in module.layers]
        if Gates.fit(module):
            own[0] = Gates(module.layers[0], self._embed, module.embed_tokens.num_embeddings)
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
        """See Scorer; `bounds` are each sentence's Tmin (from 2 on) and Tmax.

        What no best path needs is not computed: edges beyond a sentence's own longest are
        undefined, and those of rows that cannot be on a best path are upper bounds.
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


class _Layer:
    """The weights of a layer."""

    def __init__(self, layer: Any, own: "Gates | Pairs", half: bool):
        self.own, self.source = own, SourceAttention(layer)
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
    inner, outer = (deepcopy(part).bfloat16() for part in (layer.fc1, layer.fc2))
    return SimpleNamespace(fc1=inner, fc2=outer, activation_fn=layer.activation_fn)
