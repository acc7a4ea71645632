"""Groups of tokens written greedily: what the search of algorithm 1 does with one hypothesis.

Of pairs there are two to choose from: the likeliest left token but EOD with the likeliest right
token, and EOD, if it is one of the two likeliest left tokens, which is followed by EOD at no cost.
The better one is written, of equal ones that with the likelier left token; an EOD in it ends the
sentence.
"""

from math import inf

import torch
from torch import Tensor

from fastdecode.families.bidirectional.ranking import first_best
from fastdecode.growing import Growing, RecordedStep
from fastdecode.stepping import Found, Rules
from fastdecode.transformer.highest import highest
from fastdecode.translation import finite


class Greedy(Growing):
    """The translations of B sentences while they grow; see Search."""

    def __init__(self, rules: Rules, limits: Tensor, recorded: RecordedStep | None = None):
        """See Growing."""
        super().__init__(rules, limits, recorded)
        self._tokens = limits.new_full((len(limits), self._room), rules.eos)
        self._scores = torch.zeros(len(limits), device=limits.device)

    def advance(self, logits: Tensor) -> tuple[None, Tensor]:
        """Take one step with the next groups' `logits` (B, size, V).

        Returns None, since every row goes on from itself, and its new tokens (B, size).
        """
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        self._scores = self._scores.to(logits)
        (tokens,) = self.take(logits)
        return None, tokens

    def step(self, logits: Tensor) -> tuple[Tensor]:
        """Do what `advance` does; return the tokens (B, size)."""
        rules = self._rules
        norm = logits.logsumexp(-1)  # (B, size)
        self.forbid(logits)
        best, tokens = highest(logits)  # (B, size)
        scores = best - norm
        if rules.size > 1:
            top, likeliest = first_best(logits[:, 0], 2, self.looks)  # (B, 2)
            top, is_end = top - norm[:, :1], likeliest == rules.eos
            word = is_end[:, :1].long()  # the first of the two that is no EOD
            pair = top.gather(1, word)[:, 0] + scores[:, 1]
            end = top.masked_fill(~is_end, -inf).amax(1)
            ends = (end > pair) | ((end == pair) & is_end[:, 0])
            tokens[:, 0] = likeliest.gather(1, word)[:, 0]
            tokens = tokens.masked_fill(ends[:, None], rules.eos)
            scores = end.where(ends, pair)[:, None]
        scores = scores[:, 0]
        self._scores = self._scores + scores.masked_fill(self.done, 0.0)
        self.write(tokens.masked_fill(self.done[:, None], rules.eos), self._tokens)
        self._passes += ~self.done
        self.done = self.done | (tokens == rules.eos).any(-1)
        self._slot += rules.size
        return (tokens,)

    def results(self, sentences: Tensor) -> list[Found]:
        """Return the translations of these sentences, which are done."""
        tokens, totals, passes = (
            part[sentences].tolist() for part in (self._tokens, self._scores, self._passes)
        )
        found = []
        for words, total, count in zip(tokens, finite(totals), passes, strict=True):
            length = words.index(self._rules.eos)
            score = total / (length + 1) ** self._rules.lenpen
            found.append((words[:length], score, count))
        return found

    def keep(self, sentences: Tensor) -> None:
        """Go on with these sentences alone."""
        self._limits, self._passes = self._limits[sentences], self._passes[sentences]
        self._tokens, self._scores = self._tokens[sentences], self._scores[sentences]
        self.done = self.done[sentences]
