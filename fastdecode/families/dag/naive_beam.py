"""The naive twin of the beam search: Huang et al. (2022), algorithm 3, word for word."""

from collections import defaultdict
from math import exp, inf, log

from torch import Tensor

from fastdecode.families.dag.beam import LanguageModel, Limits

Prefix = tuple[int, ...]


def naive_beam_search(
    links: Tensor, tokens: Tensor, first: int, limits: Limits, model: LanguageModel | None = None
) -> tuple[list[int], float]:
    """Return tokens and score of one sentence's best translation.

    `links` (L, L) and `tokens` (L, V) are log-probabilities; `first` is the number of `<s>`, which
    the first vertex writes. Tokens that a vertex must not write have -inf.
    """
    vertices = len(links)
    s: dict[int, dict[Prefix, float]] = {v: {} for v in range(vertices)}
    s[0][(first,)] = exp(float(tokens[0, first]))
    reached: dict[Prefix, float] = defaultdict(float)  # Σ_v s_v
    reached[(first,)] = s[0][(first,)]

    def score(beam: Prefix) -> float:
        state, language = (model.begin() if model else None), 0.0
        for token in beam[1:] if model else ():
            assert model
            gained, state = model.score(state, token)
            language += gained
        total = log(reached[beam]) if reached[beam] else -inf
        return float((total + limits.gamma * language) / len(beam) ** limits.alpha)

    for here in range(vertices - 1):
        by_length: dict[int, list[Prefix]] = defaultdict(list)
        for beam in sorted(s[here], key=lambda beam: -score(beam)):
            by_length[len(beam)].append(beam)
        kept = [beam for beams in by_length.values() for beam in beams[: limits.per_length]]
        kept = sorted(kept, key=lambda beam: -score(beam))[: limits.beams]
        pairs = [
            (float(links[here, v] + tokens[v, t]), v, t)
            for v in range(vertices)
            for t in range(tokens.shape[1])
        ]
        best = sorted((pair for pair in pairs if pair[0] > -inf), reverse=True)
        for beam in kept:
            for weight, v, t in best[: limits.expansions]:
                longer = (*beam, t)
                added = s[here][beam] * exp(weight)
                s[v][longer] = s[v].get(longer, 0.0) + added
                reached[longer] += added
    ended = max(s[vertices - 1], key=score)
    return list(ended[1:-1]), score(ended)
