"""The loop of every search that writes from step to step, many sentences in one batch."""

from dataclasses import dataclass
from math import inf
from typing import Protocol

import torch
from torch import Tensor

from fastdecode.errors import UserError
from fastdecode.stages import Stopwatch
from fastdecode.translation import NOT_FINITE

Found = tuple[list[int], float, int]
"""Ids in the order of writing, without the end; the score that hypotheses are ranked by; the
sentence's own decoder passes."""
LEAVE = 8  # done sentences leave the batch when they are at least an eighth of it


@dataclass(frozen=True)
class Rules:
    """What a search may write."""

    beam: int
    lenpen: float  # a score is divided by (length with one `</s>`) ** lenpen
    min_len: int  # without `</s>`
    eos: int
    pad: int
    exact: bool = False  # whether every sentence has to reach its limit
    size: int = 1  # tokens that are written at once

    def forbid(self, logits: Tensor, place: int, limits: Tensor, first_limit: int) -> None:
        """Put -inf into `logits` (B, …, V) at the tokens that may not come at `place`.

        That is padding, `</s>` before min_len (before the limit if `exact`), and all else from a
        sentence's limit on; `first_limit` is the lowest of the `limits` (B), each at least min_len.
        """
        logits.select(-1, self.pad).fill_(-inf)
        if place < (first_limit if self.exact else self.min_len):
            logits.select(-1, self.eos).fill_(-inf)
        elif self.exact:
            early = (limits > place).view(-1, *[1] * (logits.dim() - 2))
            logits[..., self.eos].masked_fill_(early, -inf)
        if place >= first_limit:
            others = torch.arange(logits.shape[-1], device=logits.device) != self.eos
            over = (limits <= place).view(-1, *[1] * (logits.dim() - 1))
            logits.masked_fill_(over & others, -inf)

    def forbid_at(self, logits: Tensor, places: Tensor, limits: Tensor) -> None:
        """Do the same for the groups' `logits` (B, …, n, V), without a look at the `places` (n)."""
        words = torch.arange(logits.shape[-1], device=logits.device)
        early = places < (limits[:, None] if self.exact else self.min_len)  # (B, n) or (n)
        over = limits[:, None] <= places  # (B, n)
        wrong = torch.where(words == self.eos, early[..., None], over[..., None])  # (B, n, V)
        wrong = wrong | (words == self.pad)
        logits.view(len(limits), -1, *wrong.shape[1:]).masked_fill_(wrong[:, None], -inf)


class Steps(Protocol):
    """The passes of one batch of B sentences, W rows to each, with all that is kept between."""

    def step(self, tokens: Tensor) -> Tensor:
        """Feed the next `tokens` (R, …) of every row; return the logits (R, …, V) of what follows.

        Tokens that are fed at once see each other and all before them.
        """

    def keep_rows(self, rows: Tensor) -> None:
        """Put row `rows[r]` in the place of row r; `rows` (R) stay with their sentences."""

    def keep_sentences(self, sentences: Tensor) -> None:
        """Keep these `sentences` (numbers in the batch, rising) alone, with all their rows."""


class Search(Protocol):
    """The hypotheses of B sentences, W rows to each, while they grow."""

    done: Tensor
    """(B), true where a sentence needs no further step."""

    def advance(self, logits: Tensor) -> tuple[Tensor | None, Tensor]:
        """Take one step with the `logits` (R, …, V) of the next tokens.

        Returns the row that each row goes on from (None: itself) and its new tokens (R, …).
        """

    def results(self, sentences: Tensor) -> list[Found]:
        """Return the best hypotheses of these `sentences` (their numbers), which are done."""

    def keep(self, sentences: Tensor) -> None:
        """Go on with these `sentences` (their numbers, rising) alone."""


def run_search(
    steps: Steps, search: Search, tokens: Tensor, most: int, watch: Stopwatch
) -> list[Found]:
    """Feed passes with what is found until every sentence is done; return the best of each.

    `tokens` (R, …) are what stands before the first ones, and `most` is how many passes the longest
    translation takes. Stages of the `watch`: decode (the passes), search (all between).

    Raises UserError where they are not enough: at its limit every sentence ends, unless its scores
    are no numbers, which are not compared with any others.
    """
    count = len(search.done)
    rows_each = len(tokens) // count
    found: dict[int, Found] = {}
    numbers = torch.arange(count, device=tokens.device)  # of the sentences in the batch
    for _ in range(most):
        logits = steps.step(tokens)
        watch.lap("decode")
        rows, tokens = search.advance(logits)
        done = int(search.done.sum())  # waits for the device, as the tie rule of pairs does
        leave = done > 0 and done * LEAVE >= len(numbers)
        if leave:
            over = search.done.nonzero().flatten()
            found |= zip(numbers[over].tolist(), search.results(over), strict=True)
            if done == len(numbers):
                watch.lap("search")
                return [found[number] for number in range(count)]
        if rows is not None:
            steps.keep_rows(rows)
        if leave:
            stay = (~search.done).nonzero().flatten()
            numbers = numbers[stay]
            tokens = tokens.unflatten(0, (-1, rows_each))[stay].flatten(0, 1)
            steps.keep_sentences(stay)
            search.keep(stay)
        watch.lap("search")
    raise UserError(NOT_FINITE)
