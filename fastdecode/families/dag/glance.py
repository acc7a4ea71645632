"""Glancing at the target (Huang et al. 2022, section 3.2): what of it the decoder sees in training.

A first pass over blank vertices assigns the target's tokens to vertices: those of the most probable
path. Some of them are then put into the input of the second pass, which is the one that learns.

Uniform glancing shows int(M · u + 0.5) of M tokens, their frame among them, u being uniform, as the
authors' code does (`cmlm`): all may be shown, and nothing is with a chance of 1 / 2M. Ghazvininejad
et al. (2019), whom the paper cites, mask 1 to N tokens of N: nothing is shown with one of 1 / N.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import torch
from torch import Tensor

from fastdecode.families.dag.paths import best_path
from fastdecode.glancing import dropout_of, reveal, to_reveal
from fastdecode.train.draws import keyed_uniforms

SALT = 1  # keeps the draw of how many apart from the draw of which


@dataclass
class Glance:
    """One batch's glance; `look` fills in what was shown."""

    targets: Tensor
    """(B, M), with their frame."""
    lengths: Tensor
    """(B)"""
    ids: Tensor
    """(B) numbers of the sentences, by which is drawn."""
    seed: int
    update: int
    ratio: float | None
    """Share of the number of wrong tokens that is shown; None: any number (uniform glancing)."""
    shown: Tensor = field(init=False)
    """(B, M) true where a token is shown."""
    path: Tensor = field(init=False)
    """(B, M) the vertices that the tokens are assigned to."""

    def dropout(self) -> AbstractContextManager[None]:
        """Return what both passes run in, so that they drop the same units."""
        return dropout_of(self.ids, self.seed, self.update)

    def look(
        self,
        scores: Tensor,
        links: Tensor,
        sizes: Tensor,
        vertices: Tensor,
        predict: Callable[[Tensor], Tensor],
    ) -> Tensor:
        """Return the second pass's input (B, L): the first one's `vertices` and what is shown.

        `scores` (B, M, L) of the targets' tokens and `links` (B, L, L) of graphs of `sizes` (B) are
        from the first pass, as is what `predict` returns: the likeliest tokens at the vertices of a
        path (B, M). Of a target that is longer than its graph, nothing is shown.
        """
        self.path = best_path(scores, links, self.lengths.minimum(sizes), sizes)
        there = torch.arange(self.targets.shape[1], device=sizes.device) < self.lengths[:, None]
        if self.ratio is None:
            shares = keyed_uniforms(self.ids, 1, self.seed ^ SALT, self.update)[:, 0]
            counts = (self.lengths * shares + 0.5).long()
        else:
            wrong = ((predict(self.path) != self.targets) & there).sum(1)
            counts = to_reveal(wrong, self.ratio, plus=0.5)
        counts = counts * (self.lengths <= sizes)
        self.shown = reveal(counts, there, self.ids, self.seed, self.update)
        rows, places = self.shown.nonzero(as_tuple=True)
        filled = vertices.clone()
        filled[rows, self.path[rows, places]] = self.targets[rows, places]
        return filled

    def force(self, scores: Tensor) -> Tensor:
        """Return the second pass's `scores` (B, M, L) as the loss of the authors' code has them.

        A vertex at which a token is shown writes no other, and the probability of that token there
        is a constant: what was shown is not learned, but the links to it are. Paths around such a
        vertex remain, and may write its token elsewhere.
        """
        vertices = torch.arange(scores.shape[2], device=scores.device)
        shown = (self.path[..., None] == vertices) & self.shown[..., None]  # (B, M, L)
        forced = scores.detach().masked_fill(~shown, float("-inf"))
        return torch.where(shown.any(1, keepdim=True), forced, scores)
