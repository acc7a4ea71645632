"""The hypotheses of a beam search while they grow: batched, a group of tokens a step.

What the searches of single tokens and of pairs have in common. How a step's candidates are found is
their own.
"""

from abc import abstractmethod
from math import inf

import torch
from torch import Tensor

from fastdecode.devices import looks_are_free
from fastdecode.growing import Growing, RecordedStep
from fastdecode.stepping import Found, Rules
from fastdecode.translation import finite


class GrowingBeam(Growing):
    """W hypotheses of each of B sentences; see Search for what it can do.

    Of a step's candidates those among the first W that end are finished; the best W of the others
    go on. A sentence is done when W hypotheses are finished, or at its limit, where all end. Only
    the best finished one is kept: no other is ever asked for. Of equal ones it is the first found.
    """

    def __init__(self, rules: Rules, limits: Tensor, recorded: RecordedStep | None = None):
        """See Growing."""
        super().__init__(rules, limits, recorded)
        sentences, room = len(limits), self._room
        self._tokens = limits.new_full((sentences, rules.beam, room), rules.pad)
        self._scores: Tensor | None = None  # (B, W), in the arithmetic of the first logits
        self._best = limits.new_full((sentences, room), rules.pad)  # finished hypotheses
        self._best_scores = torch.empty(0)
        self._lengths = torch.zeros_like(limits)  # theirs
        # What the score of a hypothesis of n tokens is divided by; its end counts to the length.
        powers = [(length + 1) ** rules.lenpen for length in range(room + 1)]
        self._divisors = torch.tensor(powers, dtype=torch.double, device=limits.device)
        self._counts = torch.zeros_like(limits)

    @abstractmethod
    def candidates(self, logits: Tensor, scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return scores (B, n), parents and tokens (B, n, size) of what may follow, best first.

        `logits` (B, W, size, V) are those of the next group, `scores` (B, W) the hypotheses'. Two
        candidates for each hypothesis are enough if each of them can end in one way only.
        """

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
            self._divisors = self._divisors.to(logits)
        rows, tokens = self.take(logits)
        return rows, tokens

    def step(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """Do what `advance` does with `logits` (B, W, size, V)."""
        rules, sentences = self._rules, len(self._limits)
        assert self._scores is not None
        scores, parent, tokens = self.candidates(logits, self._scores)
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
        self.write(tokens, self._tokens)
        self._slot += rules.size
        first_rows = torch.arange(0, sentences * rules.beam, rules.beam, device=parent.device)
        return (parent + first_rows[:, None]).flatten(), tokens.flatten(0, 1)

    def _finish(self, scores: Tensor, parent: Tensor, tokens: Tensor, ended: Tensor) -> None:
        """Take note of the first W candidates (B, W) where `ended`."""
        rules = self._rules
        lengths = self._slot + (tokens != rules.eos).sum(-1)  # all before the first end
        ended = ended & ~self.done[:, None]
        normalised = (scores / self._divisors[lengths]).masked_fill(~ended, -inf)
        best, rank = normalised.max(1)  # of equal ones the first
        better = best > self._best_scores
        row = torch.arange(len(rank), device=rank.device), rank
        words = self._tokens[row[0], parent[row]]  # (B, T)
        self.write(tokens[row], words)
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
