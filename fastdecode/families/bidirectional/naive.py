"""The naive twin of the search: algorithm 1 of Imamura and Sumita (2020) for one sentence.

Python lists, every pair of a left and a right token tried, and no cache: the model sees the whole
of every hypothesis at every step.
"""

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import torch

from fastdecode.stepping import Found, Rules

Distributions = list[list[float]]  # log-probabilities, of each token of a group
Hypothesis = tuple[float, list[int]]  # score, tokens in the order of writing


def naive_search(
    next_group: Callable[[list[int]], Distributions], rules: Rules, limit: int
) -> Found:
    """Return the best translation of at most `limit` tokens.

    `next_group` says how the next group is distributed after some tokens.
    """
    beam: list[Hypothesis] = [(0.0, [])]  # line 1
    finished: list[Hypothesis] = []
    passes = 0
    while len(finished) < rules.beam and beam:  # line 4, and the limit
        passes += 1
        groups = [_allowed(next_group(words), len(words), rules, limit) for _, words in beam]
        candidates = double_top_k(beam, groups, rules)  # lines 6 and 7
        for score, words in candidates[: rules.beam]:  # lines 8 to 12
            if rules.eos in words:
                words = words[: words.index(rules.eos)]
                finished.append((score / (len(words) + 1) ** rules.lenpen, words))
        going_on = [candidate for candidate in candidates if rules.eos not in candidate[1]]
        beam = going_on[: rules.beam]  # lines 13 to 20
    score, words = max(finished, key=lambda hypothesis: hypothesis[0])
    return words, score, passes


def double_top_k(
    beam: list[Hypothesis], groups: list[Distributions], rules: Rules
) -> list[Hypothesis]:
    """Return the best continuations of `beam`, best first: the paper's DOUBLETOPK.

    First the 2W best left tokens, then the 3W best pairs of these and any right token.
    """
    left = [
        (score + chance, [*words, token], group)
        for (score, words), group in zip(beam, groups, strict=True)
        for token, chance in enumerate(group[0])
        if chance > -inf
    ]
    left = sorted(left, key=lambda one: -one[0])[: 2 * rules.beam]  # stable: ties stay in order
    if rules.size == 1:
        return [(score, words) for score, words, _ in left]
    pairs = []
    for score, words, group in left:
        if words[-1] == rules.eos:
            pairs.append((score, [*words, rules.eos]))
        else:
            right = enumerate(group[1])
            pairs += [(score + chance, [*words, token]) for token, chance in right if chance > -inf]
    return sorted(pairs, key=lambda one: -one[0])[: 3 * rules.beam]


def _allowed(group: Distributions, written: int, rules: Rules, limit: int) -> Distributions:
    """Return the distributions of the group behind `written` tokens with -inf at what is barred."""

    def barred(token: int, slot: int) -> bool:
        if token == rules.eos:
            return slot < (limit if rules.exact else rules.min_len)
        return token == rules.pad or slot >= limit

    return [
        [-inf if barred(token, slot) else chance for token, chance in enumerate(chances)]
        for slot, chances in enumerate(group, written)
    ]


@torch.inference_mode()
def translate(model: Any, source: Sequence[int], rules: Rules, limit: int) -> Found:
    """Translate word numbers, `</s>` among them, with a whole pass of `model` for every question.

    The tokens returned are in the order of reading.
    """
    numbers = torch.tensor([source])
    encoded = model.encoder(numbers, torch.tensor([len(source)]))

    def next_group(words: list[int]) -> Distributions:
        seen = torch.tensor([[*model.first, *words]])
        logits, _ = model.decoder(seen, encoded)  # (1, T, V)
        chances: Distributions = logits[0, -rules.size :].log_softmax(-1).tolist()
        return chances

    words, score, passes = naive_search(next_group, rules, limit)
    return model.fold.restore(words), score, passes
