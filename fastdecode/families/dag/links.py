"""The links of a graph: from every vertex a distribution over the later ones.

Huang et al. (2022), equation 2. A vertex links to those behind it, up to the last one of its own
graph; the last one has no link, and neither has padding: their rows are -inf throughout.
"""

from math import inf

import torch
from torch import Tensor, nn

from fastdecode.transformer.layers import heads

STD = 0.02  # of weights in the beginning, as BERT's


def later(sizes: Tensor, width: int) -> Tensor:
    """Return (B, L, L), true where a link from row to column may be; `sizes` is (B)."""
    vertex = torch.arange(width, device=sizes.device)
    return (vertex[:, None] < vertex) & (vertex < sizes[:, None, None])


def log_softmax(logits: Tensor, allowed: Tensor) -> Tensor:
    """Return log-probabilities over the `allowed`; -inf elsewhere, where gradients are 0.

    A row in which nothing is allowed is -inf throughout.
    """
    # Finite logits in such a row, since a softmax over nothing has no gradient.
    some = logits.masked_fill(~allowed & allowed.any(-1, keepdim=True), -inf)
    return some.log_softmax(-1).masked_fill(~allowed, -inf)


class Links(nn.Module):
    """E = softmax(QKᵀ/√d) with Q = V·W_Q, K = V·W_K (equation 2)."""

    def __init__(self, width: int):
        """Take the width d of the vertices' states."""
        super().__init__()
        self.query = _linear(width, width, bias=False)
        self.key = _linear(width, width, bias=False)

    def forward(self, states: Tensor, sizes: Tensor) -> Tensor:
        """Return log E (B, L, L) for `states` (B, L, d) of graphs of `sizes` (B)."""
        query, key = self.query(states), self.key(states)
        logits = query @ key.transpose(1, 2) / query.shape[-1] ** 0.5
        return log_softmax(logits.float(), later(sizes, states.shape[1]))


class GatedLinks(nn.Module):
    """What the authors' code has instead: heads of links, mixed by a gate at every vertex.

    Queries, keys and gates see the state and a position of their own, learned apart:
    E = Σ_h g_h · softmax(Q_h K_hᵀ/√(d/h)).
    """

    def __init__(self, width: int, count: int, positions: int):
        """Take the width of states, the number of heads, and the vertices of the largest graph."""
        super().__init__()
        self.count = count
        self.positions = nn.Embedding(positions, width)
        nn.init.normal_(self.positions.weight, std=STD)
        self.query = _linear(2 * width, width)
        self.key = _linear(2 * width, width)
        self.gate = _linear(2 * width, count)

    def forward(self, states: Tensor, sizes: Tensor) -> Tensor:
        """See Links."""
        positions = self.positions.weight[: states.shape[1]].expand_as(states)
        seen = torch.cat([states, positions], dim=-1)
        query, key = (heads(part(seen), self.count) for part in (self.query, self.key))
        logits = query @ key.transpose(2, 3) / query.shape[-1] ** 0.5  # (B, H, L, L)
        gates = self.gate(seen).float().log_softmax(-1).transpose(1, 2)[..., None]  # (B, H, L, 1)
        allowed = later(sizes, states.shape[1])
        each = log_softmax(logits.float(), allowed[:, None])
        # Of links that are not there all heads say -inf, whose sum has no gradient either.
        mixed = (each + gates).masked_fill(~allowed[:, None], 0.0).logsumexp(1)
        return mixed.masked_fill(~allowed, -inf)


def _linear(inputs: int, outputs: int, bias: bool = True) -> nn.Linear:
    layer = nn.Linear(inputs, outputs, bias=bias)
    nn.init.normal_(layer.weight, std=STD)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer
