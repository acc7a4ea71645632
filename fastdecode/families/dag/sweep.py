"""Forward and backward sums over the paths of graphs, in probability space (appendix A).

Both are scaled anew at every step: a step is one product with the matrix of links, and there is no
logarithm. kernel.py does the same on a GPU.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

FORGET = 1e-30  # of a step's mass: less is 0, since a CPU is slow with the smallest numbers


class Swept(NamedTuple):
    """The sums at every token i and vertex u, each over its scale."""

    f: Tensor  # (M, B, L): of all paths that write the first i tokens and end at u
    g: Tensor  # (M, B, L): of all paths that go on from u and write the others
    ahead: Tensor  # (M, B, L): P_i ⊙ g_i, the same with token i
    scales: Tensor  # (M, B): what f had to be divided by at step i
    scales_back: Tensor  # (M, B): and g


Sweep = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Swept]


def sweep(chances: Tensor, edges: Tensor, allowed: Tensor, lengths: Tensor, sizes: Tensor) -> Swept:
    """Sum forward and backward, a product a step.

    `chances` (M, B, L) are P_i, 0 where a token is not `allowed` (B, M, L) to stand, `edges`
    (B, L, L) the links' probabilities, lengths and sizes as for naive.sum_paths.
    """
    count, sentences, vertices = chances.shape
    steps = min(count, vertices)
    room = int((sizes - lengths).max())  # by how much the band is wider than one vertex
    ends = torch.arange(count, device=lengths.device)[:, None] == lengths - 1  # (M, B)
    f, g, ahead = (torch.zeros_like(chances) for _ in range(3))
    scales, scales_back = chances.new_ones(2, count, sentences)

    def step(i: int) -> tuple[slice, slice]:
        return slice(i - 1, i + room), slice(i, i + room + 1)

    # Forward: f_i ← normalise((f_{i-1} · E) ⊙ P_i), equation 14.
    f[0, :, 0] = 1.0
    scales[0] = chances[0, :, 0]
    for i in range(1, steps):
        before, here = step(i)
        mass = torch.bmm(f[i - 1, :, None, before], edges[:, before, here])[:, 0]
        mass *= chances[i, :, here]
        scales[i] = mass.sum(1)
        _normalise(mass, scales[i], out=f[i, :, here])
    # Backward: g_i ← normalise(E · (P_{i+1} ⊙ g_{i+1})).
    g[-1] = ends[-1, :, None] * allowed[:, -1]
    for i in range(steps - 1, 0, -1):
        before, here = step(i)
        torch.mul(chances[i], g[i], out=ahead[i])
        mass = torch.bmm(edges[:, before, here], ahead[i, :, here, None])[..., 0]
        mass *= allowed[:, i - 1, before]
        scales_back[i - 1] = mass.sum(1)
        _normalise(mass, scales_back[i - 1], out=g[i - 1, :, before])
        g[i - 1] += ends[i - 1, :, None] * allowed[:, i - 1]
    return Swept(f, g, ahead, scales, scales_back)


def _normalise(mass: Tensor, scale: Tensor, out: Tensor) -> None:
    """Write `mass` (B, n) over its `scale` (B) into `out`; what has no mass stays 0."""
    share = mass / scale.clamp(min=torch.finfo(mass.dtype).tiny)[:, None]
    torch.mul(share, share > FORGET, out=out)
