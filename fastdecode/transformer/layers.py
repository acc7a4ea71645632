"""The pieces that encoder and decoder layers have in common."""

from collections.abc import Callable
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from fastdecode.errors import UserError
from fastdecode.transformer.linear import Linear


class LayerNorm:
    """Layer normalisation with a trained module's weights."""

    def __init__(self, module: Any):
        """Take the weights of a torch LayerNorm."""
        self._shape, self._eps = module.normalized_shape, module.eps
        self._weight, self._bias = module.weight.detach(), module.bias.detach()

    def __call__(self, x: Tensor) -> Tensor:
        """Normalise the last dimension."""
        return F.layer_norm(x, self._shape, self._weight, self._bias, self._eps)


class Residual:
    """x + f(x) with the layer normalisation where the model has it: before f, or after the sum."""

    def __init__(self, norm: Any, prenorm: bool):
        """Take the sub-layer's normalisation."""
        self._norm, self._prenorm = LayerNorm(norm), prenorm

    def __call__(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Apply `sublayer` to `x`."""
        return self.after(x + sublayer(self.before(x)))

    def before(self, x: Tensor) -> Tensor:
        """Return what f is applied to."""
        return self._norm(x) if self._prenorm else x

    def after(self, total: Tensor) -> Tensor:
        """Return what becomes of x + f(x)."""
        return total if self._prenorm else self._norm(total)


class FeedForward:
    """The two position-wise layers."""

    def __init__(self, layer: Any, pack: bool = True):
        """Take fc1, fc2 and the activation of a fairseq layer; `pack` as in Linear."""
        relu = layer.activation_fn is F.relu
        self._inner = Linear([layer.fc1], relu=relu, pack=pack)
        self._activation = None if relu else layer.activation_fn
        self._outer = Linear([layer.fc2], pack=pack)

    def __call__(self, x: Tensor) -> Tensor:
        """Map (…, d) to (…, d)."""
        inner = self._inner(x)
        return self._outer(self._activation(inner) if self._activation else inner)


class Embedding:
    """Scaled token embeddings plus positions, sinusoidal or learned."""

    def __init__(self, module: Any, further: int = 0):
        """Take the embeddings of a fairseq encoder or decoder.

        Sinusoids go on for `further` positions behind the last that a translation may take.
        """
        self._tokens = module.embed_tokens.weight.detach()
        self._scale = module.embed_scale
        self._norm = LayerNorm(module.layernorm_embedding) if module.layernorm_embedding else None
        self._positions, self._offset = _position_table(module, further)

    def __call__(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Embed `tokens` (B, n), which stand at `positions` (n) or (B, n), counted from 0."""
        x = self.words(tokens) + self.positions(positions)
        return self._norm(x) if self._norm else x

    def words(self, tokens: Tensor) -> Tensor:
        """Return the first summand (…, d): what `tokens` are, wherever they stand."""
        found: Tensor = F.embedding(tokens, self._tokens) * self._scale
        return found

    def positions(self, positions: Tensor) -> Tensor:
        """Return the second summand (…, d); behind the last position, the last one's."""
        rows = (positions + self._offset).clamp(max=len(self._positions) - 1)
        return F.embedding(rows, self._positions)


def _position_table(module: Any, further: int) -> tuple[Tensor, int]:
    """Return (positions, d) and the row of the first position: fairseq leaves room for padding."""
    positions = module.embed_positions
    offset = int(module.padding_idx) + 1
    if hasattr(positions, "weights"):  # sinusoidal: computed up to the length met so far
        framed = int(module.max_positions()) + 1  # for families that frame both ends
        longest = offset + framed + further
        table = type(positions).get_embedding(longest, positions.embedding_dim, offset - 1)
        return table.to(module.embed_tokens.weight), offset
    learned: Tensor = positions.weight.detach()
    return learned, offset


def heads(x: Tensor, count: int) -> Tensor:
    """Split (B, n, count · D) into (B, count, n, D)."""
    split: Tensor = x.unflatten(-1, (count, -1)).transpose(1, 2)
    return split


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """Return softmax(QKᵀ/√D)V, heads joined: (B, n, H · D).

    All are (B, H, n, D); `mask` is true where a query may look, broadcast to (B, H, n, m).
    """
    return F.scaled_dot_product_attention(query, key, value, mask).transpose(1, 2).flatten(2)


def check_supported(model: Any) -> None:
    """Raise UserError on a fairseq Transformer with parts that are not built here."""
    if parts := unsupported(model):
        raise UserError(f"the fast path knows no {parts}: take the decoder of tier reference")


def unsupported(model: Any) -> str:
    """Say which parts a fairseq Transformer has that a plain one has not; none: an empty text."""
    for part in (model.encoder, model.decoder):
        extras = ("quant_noise", "project_in_dim", "project_out_dim", "adaptive_softmax")
        found = [name for name in extras if getattr(part, name, None) is not None]
        found += [
            name
            for layer in part.layers
            for name in ("attn_ln", "ffn_layernorm", "c_attn", "w_resid")
            if getattr(layer, name, None) is not None
        ]
        if getattr(part, "cross_self_attention", False):
            found.append("cross_self_attention")
        if found:
            return f"{', '.join(found)} in a {type(part).__name__}"
        if part.embed_positions is None:
            return f"{type(part).__name__} without positions"
    return ""
