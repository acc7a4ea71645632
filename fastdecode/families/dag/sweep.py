"""Forward and backward sums over the paths of graphs, in probability space (appendix A).

Both are scaled anew at every step: a step is one product with the matrix of links, and there is no
logarithm. kernel.py does the same on a GPU.

What is tiny at a step may be all that counts in the end. So each side errs its own way: forward, a
vertex has FORGET of a step's mass too much, and no path is ever lost; backward, a vertex with less
than FORGET has none, and paths are lost. But for rounding, f is never too small and g never too
large, so that P(Y | X) lies between the sum at the first token, all of g, and that at the last, all
of f. Where both agree, both are right, and the sums Σ_u f_iu · g_iu between.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

# Of a step's mass: what is too much forward, and forgotten backward. Less and a CPU would be slow,
# as it is with the smallest numbers; and it has to be more than what becomes 0 in a step's products
# in single precision: at most 1e-45 for each vertex, over a scale of paths.LEAST. That it is for up
# to a thousand vertices, if the smallest numbers are not flushed to 0 (by default they are not).
FORGET = 1e-24


class Swept(NamedTuple):
    """The sums at every token i and vertex u, each over its scale."""

    f: Tensor  # (M, B, L): of all paths that write the first i tokens and end at u; or more
    g: Tensor  # (M, B, L): of all paths that go on from u and write the others; or less
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

    # Forward: f_i ← normalise((f_{i-1} · E) ⊙ P_i) + FORGET, equation 14.
    more = FORGET * allowed.transpose(0, 1).to(chances.dtype)  # (M, B, L): none outside the band
    f[0, :, 0] = 1.0
    scales[0] = chances[0, :, 0]
    for i in range(1, steps):
        before, here = step(i)
        mass = torch.bmm(f[i - 1, :, None, before], edges[:, before, here])[:, 0]
        mass *= chances[i, :, here]
        scales[i] = mass.sum(1)
        scale = _divisor(scales[i])
        torch.addcdiv(more[i, :, here], mass, scale, out=f[i, :, here])
    # Backward: g_i ← normalise(E · (P_{i+1} ⊙ g_{i+1})), and 0 for less than FORGET.
    g[steps - 1] = ends[steps - 1, :, None] * allowed[:, steps - 1]
    for i in range(steps - 1, 0, -1):
        before, here = step(i)
        torch.mul(chances[i], g[i], out=ahead[i])
        mass = torch.bmm(edges[:, before, here], ahead[i, :, here, None])[..., 0]
        mass *= allowed[:, i - 1, before]
        scales_back[i - 1] = mass.sum(1)
        share = mass / _divisor(scales_back[i - 1])
        torch.mul(share, share > FORGET, out=g[i - 1, :, before])
        g[i - 1] += ends[i - 1, :, None] * allowed[:, i - 1]
    return Swept(f, g, ahead, scales, scales_back)


def _divisor(scale: Tensor) -> Tensor:
    """Return what a step's mass (B, n) is to be divided by (B, 1): no mass stays none."""
    return scale.clamp(min=torch.finfo(scale.dtype).tiny)[:, None]
