"""Greedy and beam search as fairseq does them, on tensors alone: no step waits for the device.

Both take a step at a time: logits of the next tokens in, these tokens out. Scores are added up in
single precision, as fairseq adds them up, in fp64 too.
"""

from math import inf

import torch
from torch import Tensor

from fastdecode.devices import looks_are_free
from fastdecode.stepping import Found, Rules
from fastdecode.transformer.highest import highest
from fastdecode.translation import finite


class Greedy:
    """The likeliest token at every step."""

    def __init__(self, rules: Rules, limits: Tensor):
        """Begin; `limits` (B) are the longest outputs, without `</s>`."""
        self._rules, self._limits, self._first_limit = rules, limits, int(limits.min())
        self._step = 0
        self._tokens = limits.new_empty(len(limits), int(limits.max()) + 1)
        self._scores = torch.zeros(len(limits), device=limits.device)
        self._passes = torch.zeros_like(limits)
        self.done = torch.zeros_like(limits, dtype=torch.bool)

    def advance(self, logits: Tensor) -> tuple[None, Tensor]:
        """See Search."""
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        norm = logits.logsumexp(-1)
        self._rules.forbid(logits, self._step, self._limits, self._first_limit)
        best, token = highest(logits)
        self._tokens[:, self._step] = token
        self._scores += (best - norm).masked_fill(self.done, 0.0)
        self._passes += ~self.done
        self.done = self.done | (token == self._rules.eos)
        self._step += 1
        return None, token

    def results(self, sentences: Tensor) -> list[Found]:
        """See Search."""
        tokens, scores, passes = (
            part[sentences].tolist() for part in (self._tokens, self._scores, self._passes)
        )
        return [
            (words[: steps - 1], score / steps**self._rules.lenpen, steps)
            for words, score, steps in zip(tokens, finite(scores), passes, strict=True)
        ]

    def keep(self, sentences: Tensor) -> None:
        """See Search."""
        self._limits, self._tokens = self._limits[sentences], self._tokens[sentences]
        self._scores, self._passes = self._scores[sentences], self._passes[sentences]
        self.done = self.done[sentences]


class Beam:
    """Beam search with K hypotheses a sentence.

    At every step the best 2K continuations of the K hypotheses are looked at. Those among the first
    K that end with `</s>` are finished; the best K of the others go on. A sentence is done when K
    hypotheses are finished, or at its limit, where all end.
    """

    def __init__(self, rules: Rules, limits: Tensor):
        """Begin; `limits` (B) are the longest outputs, without `</s>`."""
        self._rules, self._limits, self._first_limit = rules, limits, int(limits.min())
        self._step = 0
        sentences, longest = len(limits), int(limits.max()) + 1
        self._tokens = limits.new_full((sentences, rules.beam, longest), rules.pad)
        self._scores = torch.full((sentences, rules.beam), -inf, device=limits.device)
        self._scores[:, 0] = 0.0  # the K hypotheses are still one
        self.done = torch.zeros_like(limits, dtype=torch.bool)
        # The finished ones, and behind them one place for what is not to be kept.
        self._ended = limits.new_full((sentences, rules.beam + 1, longest), rules.pad)
        self._ended_scores = torch.full((sentences, rules.beam + 1), -inf, device=limits.device)
        self._counts, self._passes = torch.zeros_like(limits), torch.zeros_like(limits)

    def advance(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """See Search."""
        beam, sentences = self._rules.beam, len(self._limits)
        scores, tokens = self._continuations(logits.float().view(sentences, beam, -1))
        # Two for each hypothesis, since each of them can end in one way only.
        count = min(2 * beam, scores[0].numel())
        best, index = scores.flatten(1).topk(count, dim=1)  # (B, 2K), best first
        token = tokens.flatten(1).gather(1, index)
        parent = index // scores.shape[-1]
        ends = (token == self._rules.eos) & (best > -inf)

        # Most steps end no hypothesis.
        if not looks_are_free(ends.device) or bool(ends.any()):
            self._finish(best[:, :beam], parent[:, :beam], ends[:, :beam])
            rank = torch.arange(ends.shape[1], device=ends.device)
            order = (ends * ends.shape[1] + rank).topk(beam, dim=1, largest=False).indices
            best, token, parent = (x.gather(1, order) for x in (best, token, parent))
        parent, token, self._scores = parent[:, :beam], token[:, :beam], best[:, :beam]

        self._tokens = self._tokens.gather(1, parent[:, :, None].expand_as(self._tokens))
        self._tokens[:, :, self._step] = token
        self._step += 1
        first_rows = torch.arange(0, sentences * beam, beam, device=parent.device)
        return (parent + first_rows[:, None]).flatten(), token.flatten()

    def _continuations(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """Return scores and tokens (B, K, 2K) of the best continuations of each hypothesis."""
        norm = logits.logsumexp(-1, keepdim=True)
        self._rules.forbid(logits, self._step, self._limits, self._first_limit)
        top, tokens = logits.topk(min(2 * self._rules.beam, logits.shape[-1] - 1), dim=-1)
        return self._scores[..., None] + (top - norm), tokens

    def _finish(self, scores: Tensor, parents: Tensor, ends: Tensor) -> None:
        """Keep the first K candidates (B, K) where `ends`, best first, as far as there is room."""
        beam = self._rules.beam
        slots = self._counts[:, None] + ends.cumsum(1) - 1
        kept = ends & (slots < beam) & ~self.done[:, None]
        slots = slots.where(kept, beam)
        words = self._tokens.gather(1, parents[:, :, None].expand_as(self._tokens))
        words[:, :, self._step] = self._rules.eos
        self._ended.scatter_(1, slots[:, :, None].expand_as(words), words)
        self._ended_scores.scatter_(1, slots, scores / (self._step + 1) ** self._rules.lenpen)
        self._ended_scores[:, beam] = -inf
        self._counts += kept.sum(1)
        self._passes = self._passes.where(self.done, self._step + 1)
        self.done = self.done | (self._counts >= beam) | (self._limits <= self._step)

    def results(self, sentences: Tensor) -> list[Found]:
        """See Search. Of equally good hypotheses the one that ended first wins."""
        scores, best = self._ended_scores[sentences].max(1)
        numbers = finite(scores.tolist())
        words = self._ended[sentences, best].tolist()
        ids = [row[: row.index(self._rules.eos)] for row in words]
        return list(zip(ids, numbers, self._passes[sentences].tolist(), strict=True))

    def keep(self, sentences: Tensor) -> None:
        """See Search."""
        self._limits, self._counts = self._limits[sentences], self._counts[sentences]
        self._tokens, self._scores = self._tokens[sentences], self._scores[sentences]
        self._ended, self._ended_scores = self._ended[sentences], self._ended_scores[sentences]
        self.done, self._passes = self.done[sentences], self._passes[sentences]
