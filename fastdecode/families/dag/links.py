"""The links of a graph: from every vertex a distribution over the later ones.

Huang et al. (2022), equation 2. A vertex links to those behind it, up to the last one of its own
graph; the last one has no link, and neither has padding: their rows are -inf throughout.
"""

from math import inf

import torch
from torch import Tensor, nn

from fastdecode.transformer.layers import heads


def later(sizes: Tensor, width: int) -> Tensor:
    """Return (B, L, L), true where a link from row to column may be; `sizes` is (B)."""
    vertex = torch.arange(width, device=sizes.device)
    return (vertex[:, None] < vertex) & (vertex < sizes[:, None, None])


def log_softmax(logits: Tensor, allowed: Tensor) -> Tensor:
    """Return log-probabilities (…, L) over the `allowed` (…, L), -inf and no gradient elsewhere.

    A row in which nothing is allowed is -inf throughout.
    """
    # Finite logits in such a row, since a softmax over nothing has no gradient.
    some = logits.masked_fill(~allowed & allowed.any(-1, keepdim=True), -inf)
    return some.log_softmax(-1).masked_fill(~allowed, -inf)


def softmax_links(query: Tensor, key: Tensor, sizes: Tensor) -> Tensor:
    """Return log softmax(QKᵀ/√d) (B, L, L) of `query` and `key` (B, L, d) (equation 2)."""
    return log_softmax(_logits(query, key), later(sizes, query.shape[1]))


def gated_links(query: Tensor, key: Tensor, gates: Tensor, sizes: Tensor) -> Tensor:
    """Return log Σ_h g_h · softmax(Q_h K_hᵀ/√(d/h)) (B, L, L), g being softmax(`gates`) (B, L, h).

    `query` and `key` (B, L, d) hold the heads side by side.
    """
    count = gates.shape[-1]
    query, key = heads(query, count), heads(key, count)
    allowed = later(sizes, query.shape[2])
    each = log_softmax(_logits(query, key), allowed[:, None])  # (B, h, L, L)
    mixed = each + gates.float().log_softmax(-1).transpose(1, 2)[..., None]
    # Where no link may be, all heads say -inf, and the sum of nothing has no gradient.
    return mixed.masked_fill(~allowed[:, None], 0.0).logsumexp(1).masked_fill(~allowed, -inf)


class Links(nn.Module):
    """The paper's: one softmax, with Q = V·W_Q and K = V·W_K."""

    def __init__(self, width: int):
        """Take the width d of the vertices' states."""
        super().__init__()
        self.query = _linear(width, width, bias=False)
        self.key = _linear(width, width, bias=False)

    def forward(self, states: Tensor, sizes: Tensor) -> Tensor:
        """Return log E (B, L, L) for `states` (B, L, d) of graphs of `sizes` (B)."""
        return softmax_links(self.query(states), self.key(states), sizes)


class GatedLinks(nn.Module):
    """What the authors' code has instead: heads of links, mixed by a gate at every vertex.

    Queries, keys and gates see the state and a position of their own, learned apart.
    """

    def __init__(self, width: int, count: int, positions: int):
        """Take the width of states, the number of heads, and the vertices of the largest graph."""
        super().__init__()
        self.positions = nn.Embedding(positions, width)
        nn.init.normal_(self.positions.weight, std=width**-0.5)
        self.query = _linear(2 * width, width)
        self.key = _linear(2 * width, width)
        self.gate = _linear(2 * width, count)

    def forward(self, states: Tensor, sizes: Tensor) -> Tensor:
        """See Links."""
        positions = self.positions.weight[: states.shape[1]].expand_as(states)
        seen = torch.cat([states, positions], dim=-1)
        return gated_links(self.query(seen), self.key(seen), self.gate(seen), sizes)


def _logits(query: Tensor, key: Tensor) -> Tensor:
    """Return QKᵀ/√d (…, L, L) of `query` and `key` (…, L, d), in single precision.

    Half precision is left before the product, as in the authors' code: rounded to bf16 afterwards,
    links were seen to be wrong by 0.085 nats, and a path adds up many of them.
    """
    query, key = (x.to(torch.promote_types(x.dtype, torch.float32)) for x in (query, key))
    logits: Tensor = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
    return logits.float()


def _linear(inputs: int, outputs: int, bias: bool = True) -> nn.Linear:
    layer = nn.Linear(inputs, outputs, bias=bias)
    nn.init.xavier_uniform_(layer.weight)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer
