"""What can be said about graphs: plain functions of links and tokens (figures 9 and 15).

Links are (B, L, L) log-probabilities, -inf where there is none; graphs have `sizes` (B) and are
padded to L vertices, for which every number here is 0. For the posterior of every vertex given a
target (figure 3) see paths.posteriors.
"""

import torch
from torch import Tensor


def passing(links: Tensor, sizes: Tensor) -> Tensor:
    """Return how likely a path drawn from the links passes through each vertex: (B, L).

    With p_1 = 1, p_u = Σ_v p_v E_vu. All paths end at the last vertex, so that what comes behind a
    vertex has the probability one, and this sum over what comes before it is all.
    """
    edges = links.exp()
    unit = torch.eye(edges.shape[1], dtype=edges.dtype, device=edges.device)
    first = unit[:, :1].expand(len(edges), -1, -1)
    found = torch.linalg.solve_triangular(unit - edges.transpose(1, 2), first, upper=False)
    place = torch.arange(edges.shape[1], device=sizes.device)
    passed: Tensor = found[..., 0].masked_fill(place >= sizes[:, None], 0.0)
    return passed


def token_probabilities(logits: Tensor, sizes: Tensor) -> Tensor:
    """Return the probability of each vertex's likeliest token: (B, L); `logits` are (B, L, V)."""
    best = logits.log_softmax(-1).amax(-1).exp()
    place = torch.arange(logits.shape[1], device=sizes.device)
    return best.masked_fill(place >= sizes[:, None], 0.0)


def main_edges(links: Tensor, share: float) -> Tensor:
    """Return (B, L, L), true for the likeliest links of each vertex that together have a `share`.

    That is as few as possible, and with them the one that goes over the share.
    """
    best, order = links.exp().sort(dim=2, descending=True, stable=True)
    kept = (best.cumsum(2) - best < share) & (best > 0)
    return torch.zeros_like(kept).scatter(2, order, kept)


def out_degrees(links: Tensor, tokens: Tensor, share: float) -> Tensor:
    """Return how many main edges leave each vertex (B, L), those to the same token being one.

    `tokens` (B, L) are the likeliest ones of the vertices. Figure 15 leaves out vertices that
    paths pass with a probability below 0.2.
    """
    edges = main_edges(links, share)
    # Of the edges to equal tokens the one to the first such vertex counts.
    same = tokens[:, :, None] == tokens[:, None, :]  # (B, L, L)
    before = same.tril(-1).to(edges.dtype)
    earlier = torch.einsum("bul,bvl->buv", edges.double(), before.double()) > 0
    return (edges & ~earlier).sum(2)
