"""Greedy and beam search as fairseq does them, on tensors alone: no step waits for the device.

Both take a step at a time: logits of the next tokens in, these tokens out. Scores are added up in
single precision, as fairseq adds them up, in fp64 too.
"""

import torch
from torch import Tensor

from fastdecode.beams import GrowingBeam
from fastdecode.growing import Growing, RecordedStep
from fastdecode.stepping import Found, Rules
from fastdecode.transformer.highest import highest
from fastdecode.translation import finite


class Greedy(Growing):
    """The likeliest token at every step."""

    def __init__(self, rules: Rules, limits: Tensor, recorded: RecordedStep | None = None):
        """See Growing."""
        super().__init__(rules, limits, recorded)
        self._tokens = limits.new_empty(len(limits), self._room)
        self._scores = torch.zeros(len(limits), device=limits.device)

    def advance(self, logits: Tensor) -> tuple[None, Tensor]:
        """See Search."""
        (token,) = self.take(logits.to(torch.promote_types(logits.dtype, torch.float32)))
        return None, token

    def step(self, logits: Tensor) -> tuple[Tensor]:
        """Return the likeliest tokens (B) by `logits` (B, V)."""
        norm = logits.logsumexp(-1)
        self.forbid(logits)
        best, token = highest(logits)
        self.write(token.unsqueeze(1), self._tokens)
        self._scores += (best - norm).masked_fill(self.done, 0.0)
        self._passes += ~self.done
        self.done = self.done | (token == self._rules.eos)
        self._slot += 1
        return (token,)

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


class Beam(GrowingBeam):
    """Beam search with K hypotheses a sentence: the best 2K continuations are looked at."""

    def advance(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """See Search."""
        rows, tokens = super().advance(logits.float()[:, None])
        return rows, tokens[:, 0]

    def candidates(self, logits: Tensor, scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """See GrowingBeam."""
        norm = logits.logsumexp(-1)  # (B, K, 1)
        self.forbid(logits)
        count = 2 * self._rules.beam
        top, likeliest = logits[:, :, 0].topk(min(count, logits.shape[-1] - 1))
        following = scores[..., None] + (top - norm)  # (B, K, 2K)
        best, index = following.flatten(1).topk(min(count, following[0].numel()))
        tokens = likeliest.flatten(1).gather(1, index)
        return best, index // following.shape[-1], tokens[..., None]
