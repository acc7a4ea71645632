"""The naive twins: one sentence, one step, one state at a time, as the papers say it."""

from collections.abc import Callable, Sequence
from math import exp, inf, log

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


def naive_prefix_search(
    log_probs: Sequence[Sequence[float]], blank: int, beam: int
) -> tuple[list[int], float]:
    """Return the words and the log-probability of one translation, see prefixes.py.

    `log_probs` (T, V).
    """
    # log of the alignments that end with a blank, and with a word
    prefixes: dict[tuple[int, ...], tuple[float, float]] = {(): (0.0, -inf)}
    for row in log_probs:
        words = sorted(
            (label for label in range(len(row)) if label != blank), key=lambda w: -row[w]
        )
        found: dict[tuple[int, ...], tuple[float, float]] = {}
        for prefix, (silent, spoken) in prefixes.items():
            total = _log_sum(silent, spoken)
            ways = [(prefix, total + row[blank], spoken + row[prefix[-1]] if prefix else -inf)]
            for word in words[:beam]:
                again = prefix[-1:] == (word,)
                ways.append(((*prefix, word), -inf, (silent if again else total) + row[word]))
            for text, ended, went_on in ways:
                before = found.get(text, (-inf, -inf))
                found[text] = _log_sum(before[0], ended), _log_sum(before[1], went_on)
        prefixes = dict(sorted(found.items(), key=lambda one: -_log_sum(*one[1]))[:beam])
    best, sums = max(prefixes.items(), key=lambda one: _log_sum(*one[1]))
    return list(best), _log_sum(*sums)


def _log_sum(one: float, other: float) -> float:
    most = max(one, other)
    return most if most == -inf else most + log(exp(one - most) + exp(other - most))


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
    return [word for word in words if word is not None], sum(scores) / length
