"""Glancing (Huang et al. 2022, section 3.2): what of the target the decoder sees in training."""

from dataclasses import dataclass

import torch
from torch import Tensor

from fastdecode.train.draws import keyed_generator


@dataclass(frozen=True)
class Revealed:
    """Target tokens (B, M) that are shown, and the vertices that they stand at."""

    shown: Tensor
    path: Tensor

    def put(self, targets: Tensor, vertices: Tensor) -> Tensor:
        """Return the input `vertices` (B, L) with the shown `targets` (B, M) in it."""
        rows, places = self.shown.nonzero(as_tuple=True)
        filled = vertices.clone()
        filled[rows, self.path[rows, places]] = targets[rows, places]
        return filled

    def fix(self, tokens: Tensor) -> Tensor:
        """Return the scores `tokens` (B, M, L) with shown tokens certain where they are shown."""
        here = torch.arange(tokens.shape[2], device=tokens.device) == self.path[..., None]
        certain = torch.zeros_like(tokens).masked_fill(~here, float("-inf"))
        return certain.where(self.shown[..., None], tokens)


def adaptive_counts(wrong: Tensor, ratio: float) -> Tensor:
    """Return how many tokens to show (B): a share `ratio` of the number of `wrong` ones (B)."""
    return (wrong * ratio + 0.5).long()


def uniform_counts(lengths: Tensor, shares: Tensor) -> Tensor:
    """Return how many tokens to show (B): the drawn `shares` (B) of the `lengths` (B)."""
    return (lengths * shares + 0.5).long()


def draw(ids: Tensor, longest: int, seed: int, update: int) -> tuple[Tensor, Tensor]:
    """Return random numbers for each sentence of `ids` (B): a share (B), an order (B, longest).

    They depend on nothing but the sentence's id, the seed and the update: not on the batch.
    """
    draws = torch.stack(
        [
            torch.cat([torch.rand(1, generator=g), torch.rand(longest, generator=g)])
            for g in (keyed_generator(int(i), seed, update) for i in ids.tolist())
        ]
    ).to(ids.device)
    return draws[:, 0], draws[:, 1:]


def choose(counts: Tensor, lengths: Tensor, order: Tensor) -> Tensor:
    """Return (B, M), true at `counts` (B) of the first `lengths` (B) places, by their `order`."""
    there = torch.arange(order.shape[1], device=order.device) < lengths[:, None]
    ranks = order.masked_fill(~there, 2.0).argsort(1).argsort(1)
    return (ranks < counts[:, None]) & there
