"""Sums and maxima over all paths of a graph, fast (Huang et al. 2022, appendix A).

A target of M tokens is matched with paths 1 = a_1 < … < a_M = L. The i-th token can only stand at a
vertex with i - 1 vertices before it and M - i behind it: these form a band of the grid, and only
the band is computed.

The sum runs in probability space, forward and backward, scaled anew at every step (sweep.py). Both
together give the posterior of every vertex and link, which is the gradient, so nothing is recorded
for automatic differentiation. Rounding aside, no path is ever lost forward, and none is counted
too much backward: where single precision does not suffice for a sentence, both sums disagree, or a
scale is tiny, and it is computed anew in log space (naive.py). On a GPU kernel.py takes the place
of the loops over tokens, where it proves to be equal and faster.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from fastdecode.families.dag.choose import Fastest
from fastdecode.families.dag.naive import sum_paths
from fastdecode.families.dag.sweep import Sweep, Swept, sweep

Sums = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, ...]]
# Of scales: below it the products of two of them may leave single precision, and what has become 0
# forward may be more than FORGET makes up for.
LEAST = 1e-18
TOLERANCE = 1e-4  # of a logarithm's relative difference between the steps that it is read at


def log_likelihood(
    tokens: Tensor, links: Tensor, lengths: Tensor, sizes: Tensor, sums: Sums | None = None
) -> tuple[Tensor, Tensor]:
    """Return log P(Y | X) of some sentences (B), and which of them were computed in log space (B).

    Arguments as for naive.sum_paths; no target may be longer than its graph. `sums` can be
    `by_products` or `by_kernel` (default: the faster one).
    """
    total, trusted = _Sum.apply(  # type: ignore[no-untyped-call]
        tokens, links, lengths, sizes, sums or _fastest_sums
    )
    if not bool(trusted.all()):
        again = ~trusted
        total = total.masked_scatter(
            again, sum_paths(tokens[again], links[again], lengths[again], sizes[again])
        )
    return total, ~trusted


def band(lengths: Tensor, sizes: Tensor, tokens: int, vertices: int) -> Tensor:
    """Return (B, M, L), true where token i of a target may stand at vertex u of its graph."""
    i = torch.arange(tokens, device=lengths.device)[:, None]
    u = torch.arange(vertices, device=lengths.device)
    behind_i, behind_u = lengths[:, None, None] - 1 - i, sizes[:, None, None] - 1 - u
    inner = (u >= i) & (behind_u >= behind_i) & (behind_i >= 0)
    return inner & ((u == 0) == (i == 0)) & ((behind_u == 0) == (behind_i == 0))


def best_path(tokens: Tensor, links: Tensor, lengths: Tensor, sizes: Tensor) -> Tensor:
    """Return the most probable path argmax_A P(Y, A | X) of some sentences: vertices (B, M).

    Arguments as for naive.sum_paths; no target may be longer than its graph. Behind the end of a
    target the path stays at the last vertex. No gradient.
    """
    return _fastest_path(tokens.detach(), links.detach(), lengths, sizes)


def path_by_maxima(tokens: Tensor, links: Tensor, lengths: Tensor, sizes: Tensor) -> Tensor:
    """See best_path: with PyTorch, all sentences a step."""
    sentences, count, vertices = tokens.shape
    room = int((sizes - lengths).max())  # by how much the band is wider than one vertex
    scores = tokens.new_full((count, sentences, vertices), float("-inf"))
    scores[0, :, 0] = tokens[:, 0, 0]
    for i in range(1, min(count, vertices)):
        before, here = slice(i - 1, i + room), slice(i, i + room + 1)
        sums = scores[i - 1, :, before, None] + links[:, before, here]
        scores[i, :, here] = sums.amax(1) + tokens[:, i, here]
    path = torch.empty(sentences, count, dtype=torch.long, device=tokens.device)
    path[:, -1] = sizes - 1
    for i in range(count - 1, 0, -1):
        into = links.gather(2, path[:, i, None, None].expand(-1, vertices, 1))[..., 0]  # (B, L)
        came_from = (scores[i - 1] + into).argmax(1)
        path[:, i - 1] = came_from.where(i < lengths, sizes - 1)
    return path


def path_by_kernel(tokens: Tensor, links: Tensor, lengths: Tensor, sizes: Tensor) -> Tensor:
    """See best_path: with a kernel, all steps of a sentence at once."""
    from fastdecode.families.dag import kernel  # needs Triton

    return kernel.best_path(tokens, links, lengths, sizes)


def score_path(tokens: Tensor, links: Tensor, lengths: Tensor, path: Tensor) -> Tensor:
    """Return log P(Y, A | X) (B) of one path (B, M) each; see naive.sum_paths."""
    there = torch.arange(path.shape[1], device=path.device) < lengths[:, None]
    words = tokens.gather(2, path[..., None])[..., 0]
    rows = torch.arange(len(path), device=path.device)[:, None]
    steps = links[rows, path[:, :-1], path[:, 1:]]
    words = words.masked_fill(~there, 0.0)  # not a product: beyond the end links are -inf
    return words.sum(1) + steps.masked_fill(~there[:, 1:], 0.0).sum(1)


def posteriors(tokens: Tensor, links: Tensor, lengths: Tensor, sizes: Tensor) -> Tensor:
    """Return how likely each vertex holds each token, given the target: (B, M, L).

    These are the weights w_A of equation 7, added up over the paths that pass through a vertex.
    """
    tokens = tokens.detach().requires_grad_()
    with torch.enable_grad():
        total, _ = log_likelihood(tokens, links.detach(), lengths, sizes)
        (found,) = torch.autograd.grad(total.sum(), tokens)
    return found


class _Sum(torch.autograd.Function):
    """log Σ_A P(Y, A | X), and whether single precision sufficed."""

    @staticmethod
    def forward(
        ctx: Any, tokens: Tensor, links: Tensor, lengths: Tensor, sizes: Tensor, sums: Sums
    ) -> tuple[Tensor, Tensor]:
        total, trusted, of_tokens, of_links = sums(tokens, links, lengths, sizes)
        ctx.save_for_backward(of_tokens, of_links)
        ctx.mark_non_differentiable(trusted)
        return total, trusted

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> Any:
        gradient = outputs[0][:, None, None]
        of_tokens, of_links = ctx.saved_tensors
        return gradient * of_tokens, gradient * of_links, None, None, None


def _sums(
    sweep: Sweep, tokens: Tensor, links: Tensor, lengths: Tensor, sizes: Tensor
) -> tuple[Tensor, ...]:
    """Return totals (B), which to trust (B), and the gradients (B, M, L) and (B, L, L) of totals.

    Totals and gradients of those that are not to be trusted are 0.
    """
    _, count, vertices = tokens.shape
    allowed = band(lengths, sizes, count, vertices)
    there = torch.arange(count, device=lengths.device)[:, None] < lengths  # (M, B)
    chances, tops = _probabilities(tokens, allowed)  # (M, B, L), (M, B)
    edges = links.exp()
    f, g, ahead, scales, scales_back = sweep(chances, edges, allowed, lengths, sizes)
    begun = there.roll(-1, 0)
    begun[-1] = False  # (M, B): tokens that another one follows

    # At every step the masses of both sides meet in the same total: at the last one it is all
    # forward and never too small, at the first one all backward and never too large.
    meet = (f * g).sum(2)  # (M, B)
    forward = (scales.log() + tops).masked_fill(~there, 0.0).cumsum(0)
    back = (scales_back.log() + tops.roll(-1, 0)).masked_fill(~begun, 0.0)
    back = back.flip(0).cumsum(0).flip(0)
    totals = (forward + back + meet.log()).masked_fill(~there, 0.0)
    total = forward[-1]
    margin = TOLERANCE * total.abs().clamp(min=1.0)
    agree = ((totals - total).abs() <= margin) | ~there
    enough = ((scales_back >= LEAST) | ~begun) & ((scales.minimum(meet) >= LEAST) | ~there)
    trusted = total.isfinite() & (agree & enough).all(0)

    use = (there & trusted)[..., None]
    posterior = torch.where(use, f * g / meet[..., None], 0.0)
    left = torch.where(use & begun[..., None], f / meet[..., None], 0.0)[:-1]
    right = torch.where(use[1:], ahead[1:] / scales_back[:-1, :, None], 0.0)
    of_links = torch.bmm(left.permute(1, 2, 0), right.transpose(0, 1)) * edges
    return total.where(trusted, 0.0), trusted, posterior.transpose(0, 1), of_links


def _probabilities(tokens: Tensor, allowed: Tensor) -> tuple[Tensor, Tensor]:
    """Return P_i / max P_i (M, B, L), 0 where not `allowed`, and the maxima's logarithms (M, B)."""
    scores = tokens.masked_fill(~allowed, float("-inf")).transpose(0, 1)
    tops = scores.amax(2)
    tops = tops.where(tops.isfinite(), 0.0)
    return (scores - tops[..., None]).exp().contiguous(), tops


def _sweep_by_kernel(*problem: Tensor) -> Swept:
    from fastdecode.families.dag import kernel  # needs Triton

    return kernel.sweep(*problem)


by_products: Sums = partial(_sums, sweep)
by_kernel: Sums = partial(_sums, _sweep_by_kernel)
_fastest_sums = Fastest("sum over paths", by_products, by_kernel)
_fastest_path = Fastest("best path", path_by_maxima, path_by_kernel)
