"""Which drafted tokens are accepted (Xia et al. 2022, section 4), on tensors alone."""

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import torch
from torch import Tensor

from fastdecode.devices import looks_are_free
from fastdecode.transformer.highest import Highest, highest


@dataclass(frozen=True)
class Rules:
    """What may be written, by drafter and verifier alike: just what greedy search may write."""

    eos: int
    pad: int
    min_len: int  # without `</s>`

    def forbid(self, logits: Tensor, first: Tensor, limits: Tensor, near: bool) -> Tensor:
        """Return `logits` (R, n, V) with -inf at the tokens that may not come there.

        A row's n places begin behind its first `first` (R) tokens. Forbidden are padding, `</s>`
        before min_len, and all else from a sentence's limit on, in `limits` (R); `near` tells
        whether any of the places is that far. Changes its argument.
        """
        steps = self.forbid_early(logits, first)
        if near:
            others = torch.arange(logits.shape[-1], device=logits.device) != self.eos
            over = (steps >= limits[:, None])[..., None]
            logits = logits.masked_fill(over & others, -inf)
        return logits

    def forbid_early(self, logits: Tensor, first: Tensor) -> Tensor:
        """Set padding and, before min_len, `</s>` to -inf in `logits` (R, n, V), in place.

        That is all that a drafter has to know: what is drafted at a limit is refused, or cut off.
        Returns how many tokens stand before each place (R, n).
        """
        steps = first[:, None] + torch.arange(logits.shape[1], device=logits.device)
        logits[..., self.pad] = -inf
        logits[..., self.eos].masked_fill_(steps < self.min_len, -inf)
        return steps


class Accepted(NamedTuple):
    """What an iteration adds to each of R translations."""

    tokens: Tensor  # (R, n + 1); behind the counts they mean nothing
    counts: Tensor  # (R), at least 1
    ended: Tensor  # (R), whether the last of them is `</s>`
    scores: Tensor  # (R), the sum of their log-probabilities by the verifier


def accept(
    drafts: Tensor,
    logits: Tensor,
    norms: Tensor,
    beta: int,
    tau: float,
    rules: Rules,
    find: Highest = highest,
) -> Accepted:
    """Accept drafted tokens (R, n) by the verifier's `logits` (R, n + 1, V), forbidden ones -inf.

    The i-th token is accepted if those before it are and it is among the β likeliest (equation 6)
    with a log-probability at most τ below the highest (equation 7); with β = 1 if it is the argmax
    (equation 5). Behind the accepted ones, unless they end with `</s>`, comes the verifier's
    argmax: at the first token that is refused, or as a bonus behind the whole draft.

    `norms` (R, n + 1) turn logits into log-probabilities: log Σ exp before anything was forbidden.
    The argmax is what `find` finds.
    """
    n = drafts.shape[1]
    most, best = find(logits)  # (R, n + 1)
    if beta == 1:
        match = drafts == best[:, :n]
    else:
        match = _tolerated(drafts, logits[:, :n], most[:, :n], beta, tau)
    ends = drafts == rules.eos
    behind = ends.cumsum(1) - ends.long() > 0  # an end of the sentence came before
    kept = (match & ~behind).long().cumprod(1).sum(1)  # (R)
    by_draft = ((torch.arange(n, device=drafts.device) < kept[:, None]) & ends).any(1)
    own_word = best.gather(1, kept[:, None])  # (R, 1), where the first token was refused
    tokens = torch.cat([drafts, own_word], dim=1).scatter(1, kept[:, None], own_word)
    counts = kept + (~by_draft).long()
    ended = by_draft | (own_word[:, 0] == rules.eos)
    logs = logits.gather(2, tokens[..., None])[..., 0] - norms
    written = torch.arange(n + 1, device=drafts.device) < counts[:, None]
    return Accepted(tokens, counts, ended, logs.masked_fill(~written, 0.0).sum(1))


def _tolerated(drafts: Tensor, logits: Tensor, most: Tensor, beta: int, tau: float) -> Tensor:
    """Tell which of the drafted tokens (R, n) equations 6 and 7 allow, as far as it matters.

    That is up to the first in each row that is refused; where a look at it costs nothing, those
    behind it are not compared with all words. `most` (R, n) are the highest `logits` (R, n, V).
    """
    own = logits.gather(2, drafts[..., None])[..., 0]
    near = (most - own <= tau) & (own > -inf)  # equation 7
    if looks_are_free(logits.device):
        some = int(near.long().cumprod(1).sum(1).max())
        logits, own = logits[:, :some], own[:, :some]
    likeliest = logits.topk(min(beta, logits.shape[-1]), dim=-1).values  # (R, n, β)
    near[:, : own.shape[1]] &= own >= likeliest[..., -1]  # equation 6
    return near
