"""Log-probabilities of the few tokens that a loss asks for, at all places of a sentence.

A place is a vertex of a graph or one of CTC's slots. There are many of them for every token of the
source, and each has a distribution over the whole vocabulary, of which the loss needs the tokens of
the target. `scores_in_blocks` never holds the logits of a batch: it makes those of some places,
takes what is asked for and their sum, and makes them again for the gradient. That takes about as
long and a fraction of the memory (families/dag/benchmark.py). `token_scores` is its naive twin.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from fastdecode.transformer.highest import highest

BLOCK = {"cpu": 2**20, "cuda": 2**26}  # logits at once: what caches hold; enough work for a GPU


def token_scores(logits: Tensor, targets: Tensor) -> Tensor:
    """Return log P(y_i | place u) (B, M, L) of `targets` (B, M) from `logits` (B, L, V)."""
    wanted = targets[:, None].expand(-1, logits.shape[1], -1)  # (B, L, M)
    scores = logits.gather(2, wanted).float() - logits.float().logsumexp(-1, keepdim=True)
    return scores.transpose(1, 2)


def scores_in_blocks(
    states: Tensor, embeddings: Tensor, targets: Tensor, block: int | None = None
) -> Tensor:
    """Return log P(y_i | place u) (B, M, L) of `targets` (B, M), where logits are products.

    `states` (B, L, d) are those of the places, `embeddings` (V, d) those of all tokens. At most
    `block` logits are made at once, but for one place at least. Scores are single precision at
    least, as are the sums that gradients of half precision are made of.
    """
    count, places, _ = states.shape
    wanted = targets[:, None].expand(-1, places, -1).flatten(0, 1)  # (B · L, M)
    scores: Tensor = _Scores.apply(  # type: ignore[no-untyped-call]
        states.flatten(0, 1), embeddings, wanted, _rows(states, embeddings, block)
    )
    by_place: Tensor = scores.unflatten(0, (count, places))  # (B, L, M)
    return by_place.transpose(1, 2)


@torch.no_grad()
def scores_and_likeliest(
    states: Tensor, embeddings: Tensor, targets: Tensor, block: int | None = None
) -> tuple[Tensor, Tensor]:
    """Return what scores_in_blocks does, and the likeliest token of every place (B, L).

    Of the same logits, without gradient.
    """
    count, places, _ = states.shape
    flat, wanted = states.flatten(0, 1), targets[:, None].expand(-1, places, -1).flatten(0, 1)
    found = []
    for some in _blocks(len(flat), _rows(states, embeddings, block)):
        logits = _logits(flat[some], embeddings)
        found.append((_gathered(logits, wanted[some])[0], highest(logits)[1]))
    scores, tokens = (
        torch.cat(part).unflatten(0, (count, places)) for part in zip(*found, strict=True)
    )
    return scores.transpose(1, 2), tokens


class _Scores(torch.autograd.Function):
    """log-softmax of states (N, d) · embeddings (V, d)ᵀ, at wanted tokens (N, M) alone."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, embeddings: Tensor, wanted: Tensor, rows: int) -> Tensor:
        precision = torch.promote_types(states.dtype, torch.float)
        scores = states.new_empty(wanted.shape, dtype=precision)
        totals = states.new_empty(len(states), 1, dtype=precision)
        for some in _blocks(len(states), rows):
            logits = _logits(states[some], embeddings)
            scores[some], totals[some] = _gathered(logits, wanted[some])
        ctx.save_for_backward(states, embeddings, wanted, totals)
        ctx.rows = rows
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *outputs: Tensor) -> Any:
        (gradient,) = outputs  # (N, M)
        states, embeddings, wanted, totals = ctx.saved_tensors
        of_states = torch.empty_like(states)
        of_embeddings = torch.zeros_like(embeddings, dtype=totals.dtype)
        mass = gradient.sum(1, keepdim=True)
        for some in _blocks(len(states), ctx.rows):
            # ∂ score / ∂ logit = [the token is the wanted one] - its probability
            logits = _logits(states[some], embeddings)
            chances = logits.sub_(totals[some]).exp_()
            of_logits = chances.mul_(-mass[some]).scatter_add_(1, wanted[some], gradient[some])
            of_logits = of_logits.to(states.dtype)
            of_states[some] = of_logits @ embeddings
            of_embeddings += of_logits.T @ states[some]
        return of_states, of_embeddings.to(embeddings.dtype), None, None


def _rows(states: Tensor, embeddings: Tensor, block: int | None) -> int:
    return max(1, (block or BLOCK[states.device.type]) // len(embeddings))


def _blocks(count: int, rows: int) -> list[slice]:
    return [slice(start, start + rows) for start in range(0, count, rows)]


def _logits(states: Tensor, embeddings: Tensor) -> Tensor:
    """Return logits (N, V) in single precision at least.

    Their products are of the precision of the states, as PyTorch's are under autocast: of bf16 a
    logit of ten is right to a few hundredths, of fp16 to a few thousandths.
    """
    logits = states @ embeddings.T
    return logits.to(torch.promote_types(logits.dtype, torch.float))


def _gathered(logits: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """Return the log-probabilities of the wanted tokens (N, M), and their norm (N, 1)."""
    totals = logits.logsumexp(-1, keepdim=True)
    return logits.gather(1, wanted) - totals, totals
