"""Beam search over groups of tokens, batched (Imamura and Sumita 2020, algorithm 1).

A step at a time: logits of the next group in, its tokens out. With W hypotheses a sentence and
pairs, a step's candidates are found in two stages (DOUBLETOPK): the 2W best left tokens after all
hypotheses, then the 3W best pairs of these and a right token. The two tokens are independent given
the hypothesis, so that the right tokens of a pair are those of its parent: the 2W best of them are
looked up once for each parent. They are enough: a pair with another one has 2W better pairs of the
same left token before it, of which one at most is finished, and W of each kind are all that counts.

A left EOD is followed by nothing: its right token is EOD too, at no cost. A group of one token has
no second stage: its candidates are the 2W left tokens, and the search is the ordinary beam search.

Ties: of equally good left tokens the one after the better hypothesis comes first, then the one of
the lower number; of equal pairs the one whose left token came first, then the one whose right token
has the lower number. Of equal finished hypotheses the first one found wins.
"""

from math import inf

import torch
import torch.nn.functional as F
from torch import Tensor

from fastdecode.devices import looks_are_free
from fastdecode.families.bidirectional.ranking import first_best
from fastdecode.stepping import Found, Rules
from fastdecode.translation import finite


class Search:
    """The hypotheses of B sentences, W rows to each, while they grow."""

    done: Tensor
    """(B), true where a sentence needs no further step."""

    def __init__(self, rules: Rules, limits: Tensor):
        """Begin; `limits` (B) are the longest outputs, without EOD."""
        self._rules, self._limits, self._first_limit = rules, limits, int(limits.min())
        sentences, longest = len(limits), int(limits.max()) + rules.size
        self._slot = 0  # the first of the next group
        self._tokens = limits.new_full((sentences, rules.beam, longest), rules.pad)
        self._scores: Tensor | None = None  # (B, W), in the arithmetic of the first logits
        self._best = limits.new_full((sentences, longest), rules.pad)  # finished hypotheses
        self._best_scores = torch.empty(0)
        self._lengths = torch.zeros_like(limits)  # theirs
        self._counts, self._passes = torch.zeros_like(limits), torch.zeros_like(limits)
        self.done = torch.zeros_like(limits, dtype=torch.bool)

    def advance(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """Take one step with the next groups' `logits` (rows, size, V).

        Returns the row that each row goes on from and its new tokens (rows, size).
        """
        rules, sentences = self._rules, len(self._limits)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        logits = logits.unflatten(0, (sentences, rules.beam))  # (B, W, size, V)
        if self._scores is None:
            self._scores = logits.new_full((sentences, rules.beam), -inf)
            self._scores[:, 0] = 0.0  # the W hypotheses are still one
            self._best_scores = logits.new_full((sentences,), -inf)
        scores, parent, tokens = self._candidates(logits, self._scores)
        ended = (tokens == rules.eos).any(-1) & (scores > -inf)

        # Most steps end no hypothesis.
        if not looks_are_free(ended.device) or bool(ended.any()):
            first = slice(0, rules.beam)
            self._finish(scores[:, first], parent[:, first], tokens[:, first], ended[:, first])
            rank = torch.arange(ended.shape[1], device=ended.device)
            order = (ended * ended.shape[1] + rank).topk(rules.beam, largest=False).indices
            scores, parent = scores.gather(1, order), parent.gather(1, order)
            tokens = tokens.gather(1, order[..., None].expand(-1, -1, rules.size))
        parent, tokens = parent[:, : rules.beam], tokens[:, : rules.beam]
        self._scores = scores[:, : rules.beam]

        self._tokens = self._tokens.gather(1, parent[..., None].expand_as(self._tokens))
        self._tokens[..., self._slot : self._slot + rules.size] = tokens
        self._slot += rules.size
        first_rows = torch.arange(0, sentences * rules.beam, rules.beam, device=parent.device)
        return (parent + first_rows[:, None]).flatten(), tokens.flatten(0, 1)

    def _candidates(self, logits: Tensor, scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return scores (B, n), parents and tokens (B, n, size) of the candidates, best first."""
        rules = self._rules
        norm = logits.logsumexp(-1, keepdim=True)
        for place in range(rules.size):
            limits = self._limits, self._first_limit
            rules.forbid(logits[:, :, place], self._slot + place, *limits)
        top, likeliest = first_best(logits, 2 * rules.beam)  # (B, W, size, 2W)
        top = top - norm

        left = scores[..., None] + top[:, :, 0]  # (B, W, 2W)
        scores, index = first_best(left.flatten(1), 2 * rules.beam)  # (B, 2W)
        parent = index // left.shape[-1]
        tokens = likeliest[:, :, 0].flatten(1).gather(1, index)
        if rules.size == 1:
            return scores, parent, tokens[..., None]

        # Behind a left EOD, as if it had a parent of its own, stands EOD at no cost.
        right = F.pad(top[:, :, 1], (0, 0, 0, 1), value=-inf)  # (B, W + 1, 2W)
        right[:, -1, 0] = 0.0
        right_tokens = F.pad(likeliest[:, :, 1], (0, 0, 0, 1), value=rules.eos)
        source = parent.masked_fill(tokens == rules.eos, rules.beam)
        source = source[..., None].expand(-1, -1, right.shape[-1])
        pairs = scores[..., None] + right.gather(1, source)  # (B, 2W, 2W)
        scores, index = first_best(pairs.flatten(1), 3 * rules.beam)  # (B, 3W)
        chosen = index // pairs.shape[-1]
        followers = right_tokens.gather(1, source).flatten(1).gather(1, index)
        pair = torch.stack([tokens.gather(1, chosen), followers], dim=-1)
        return scores, parent.gather(1, chosen), pair

    def _finish(self, scores: Tensor, parent: Tensor, tokens: Tensor, ended: Tensor) -> None:
        """Take note of the first W candidates (B, W) where `ended`: FINALIZE."""
        rules = self._rules
        lengths = self._slot + (tokens != rules.eos).sum(-1)  # all before the first EOD
        ended = ended & ~self.done[:, None]
        normalised = scores / (lengths + 1).to(scores) ** rules.lenpen
        normalised = normalised.masked_fill(~ended, -inf)
        best, rank = normalised.max(1)  # of equal ones the first
        better = best > self._best_scores
        row = torch.arange(len(rank), device=rank.device), rank
        words = self._tokens[row[0], parent[row]]  # (B, T)
        words[:, self._slot : self._slot + rules.size] = tokens[row]
        self._best = words.where(better[:, None], self._best)
        self._best_scores = best.where(better, self._best_scores)
        self._lengths = lengths[row].where(better, self._lengths)
        self._counts = self._counts + ended.sum(1)
        self._passes = self._passes.where(self.done, self._slot // rules.size + 1)
        at_limit = self._limits < self._slot + rules.size  # where no group goes on
        self.done = self.done | (self._counts >= rules.beam) | at_limit

    def results(self, sentences: Tensor) -> list[Found]:
        """Return the best hypotheses of these sentences, which are done."""
        parts = self._best, self._lengths, self._best_scores, self._passes
        words, lengths, scores, passes = (part[sentences].tolist() for part in parts)
        ids = [row[:length] for row, length in zip(words, lengths, strict=True)]
        return list(zip(ids, finite(scores), passes, strict=True))

    def keep(self, sentences: Tensor) -> None:
        """Go on with these sentences alone."""
        assert self._scores is not None
        self._limits, self._counts = self._limits[sentences], self._counts[sentences]
        self._tokens, self._scores = self._tokens[sentences], self._scores[sentences]
        self._best, self._best_scores = self._best[sentences], self._best_scores[sentences]
        self._lengths, self._passes = self._lengths[sentences], self._passes[sentences]
        self.done = self.done[sentences]
