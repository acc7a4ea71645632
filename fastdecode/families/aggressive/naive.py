"""Draft and verify straight from the paper: one sentence, one token at a time, nothing kept.

The naive twin of `decoders.py`: slow, and short enough to be read beside the equations.
"""

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import torch
from torch import Tensor

from fastdecode.families.aggressive.blocks import blocks_after

Scores = Callable[[list[int]], Tensor]  # log-probabilities (V) of what may follow a prefix
Draft = Callable[[list[int]], list[int]]  # tokens proposed behind a prefix


def greedy(scores: Scores, eos: int) -> list[int]:
    """Return the translation that follows the likeliest token, without `</s>`."""
    words: list[int] = []
    while True:
        word = int(scores(words).argmax())
        if word == eos:
            return words
        words.append(word)


def draft_and_verify(
    draft: Draft, scores: Scores, eos: int, beta: int, tau: float
) -> tuple[list[int], list[int]]:
    """Return the translation without `</s>`, and how many tokens each iteration added with it."""
    words: list[int] = []
    accepted = []
    while True:
        verified = _verify(draft(words), words, scores, eos, beta, tau)
        accepted.append(len(verified))
        words += verified
        if words[-1] == eos:
            return words[:-1], accepted


def _verify(
    drafted: list[int], words: list[int], scores: Scores, eos: int, beta: int, tau: float
) -> list[int]:
    """Return what is accepted of `drafted` behind `words`, and the verifier's own next token."""
    verified: list[int] = []
    for token in drafted:
        after = scores(words + verified)
        best = after.topk(beta).values
        likely = bool(after[token] >= best[-1])  # equation 6
        near = bool(best[0] - after[token] <= tau) and bool(after[token] > -inf)  # equation 7
        first = token == int(after.argmax())  # equation 5
        if not (first if beta == 1 else likely and near):
            return [*verified, int(after.argmax())]
        verified.append(token)
        if token == eos:
            return verified
    return [*verified, int(scores(words + verified).argmax())]


def scores_of(
    model: Any, source: Sequence[int], limit: int, min_len: int, pad: int, eos: int
) -> Scores:
    """Return what a Transformer says of the token after a prefix, forbidden ones -inf.

    `source` are token numbers with `</s>`; a translation has `min_len` to `limit` tokens.
    """
    src_tokens = torch.tensor([source])

    def scores(words: list[int]) -> Tensor:
        lengths = torch.tensor([len(source)])
        logits, _ = model(src_tokens, lengths, torch.tensor([[eos, *words]]))
        logs: Tensor = logits[0, -1].log_softmax(-1)
        logs[pad] = -inf
        if len(words) < min_len:
            logs[eos] = -inf
        if len(words) >= limit:
            logs[torch.arange(len(logs)) != eos] = -inf
        return logs

    return scores


def drafts_of(
    model: Any, source: Sequence[int], min_len: int, pad: int, eos: int, unk: int
) -> Draft:
    """Return what a drafter proposes behind a prefix: the likeliest word of each slot.

    No draft ends a translation before it has `min_len` tokens.
    """
    src_tokens = torch.tensor([source])

    def draft(words: list[int]) -> list[int]:
        prefix, length = torch.tensor([words], dtype=torch.long), torch.tensor([len(words)])
        blocks = blocks_after(prefix, length, len(words), model.decoder.block, pad, unk)
        logits = model(src_tokens, torch.tensor([len(source)]), blocks)[0]  # (k, V)
        logits[:, pad] = -inf
        logits[: max(min_len - len(words), 0), eos] = -inf
        tokens: list[int] = logits.argmax(-1).tolist()
        return tokens

    return draft
