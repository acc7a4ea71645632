"""The naive twins: one sentence, one step, one state at a time, as the papers say it."""

from collections.abc import Callable, Sequence
from math import inf

Answer = list[tuple[str, float]]  # a word and its log-probability, slot by slot


def naive_alignment(
    log_probs: Sequence[Sequence[float]], words: Sequence[int], blank: int
) -> list[int] | None:
    """Return the likeliest CTC alignment of one translation; None if the slots are too few.

    `log_probs` (T, V). For ties see alignment.best_alignment.
    """
    states = [blank]
    for word in words:
        states += [word, blank]
    scores = [[-inf] * len(states) for _ in log_probs]
    before = [[0] * len(states) for _ in log_probs]
    for t, row in enumerate(log_probs):
        for n, label in enumerate(states):
            ways = [n, n - 1]
            if label != blank and n >= 2 and states[n - 2] != label:
                ways.append(n - 2)
            if t == 0:
                scores[t][n] = row[label] if n < 2 else -inf
                continue
            best = max((m for m in ways if m >= 0), key=lambda m: scores[t - 1][m])
            scores[t][n] = scores[t - 1][best] + row[label]
            before[t][n] = best
    state = max((len(states) - 1, max(len(states) - 2, 0)), key=lambda n: scores[-1][n])
    if scores[-1][state] == -inf:
        return None
    path = []
    for t in reversed(range(len(log_probs))):
        path.append(states[state])
        state = before[t][state]
    return path[::-1]


def naive_mask_predict(
    fill: Callable[[list[str | None]], Answer], length: int, passes: int, mask: str
) -> tuple[list[str], float]:
    """Return the words and their mean log-probability, of one sentence and one length.

    `fill` answers for a translation in which None is masked; `mask` is a word that stands for it.
    """
    words: list[str | None] = [None] * length
    scores = [0.0] * length
    for done in range(1, passes + 1):
        answer = fill(words)
        for slot in range(length):
            if words[slot] is None or words[slot] == mask:
                words[slot], scores[slot] = answer[slot]
        if done < passes:
            for slot in sorted(range(length), key=lambda slot: scores[slot])[
                : length * (passes - done) // passes
            ]:
                words[slot] = None
    return [word for word in words if word is not None], sum(scores) / max(length, 1)
