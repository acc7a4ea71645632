"""The naive twin of the beam search: Huang et al. (2022), algorithm 3."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, log

from torch import Tensor

from fastdecode.families.dag.beam import BeamSettings, LanguageModel

Prefix = tuple[int, ...]
Pair = tuple[float, int, int]  # log-probability, next vertex, token


@dataclass(frozen=True)
class Step:
    """What the search does at one vertex."""

    vertex: int
    beams: list[tuple[Prefix, float, float, float]]
    """The prefixes that end here, best first: with s_v, Σ_v s_v and the score."""
    kept: list[Prefix]
    pairs: list[Pair]
    """What they go on with."""


def naive_beam_search(
    links: Tensor,
    tokens: Tensor,
    first: int,
    settings: BeamSettings,
    model: LanguageModel | None = None,
    watch: Callable[[Step], None] = lambda step: None,
) -> tuple[list[int], float]:
    """Return tokens and score of one sentence's best translation.

    `links` (L, L) and `tokens` (L, V) are log-probabilities; `first` is the number of `<s>`, which
    the first vertex writes. Tokens that a vertex must not write have -inf. `watch` is called
    at every vertex that a prefix ends at.
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
        return float((total + settings.gamma * language) / len(beam) ** settings.alpha)

    def seen(here: int, beams: list[Prefix], kept: list[Prefix], pairs: list[Pair]) -> None:
        watch(Step(here, [(b, s[here][b], reached[b], score(b)) for b in beams], kept, pairs))

    for here in filter(s.get, range(vertices - 1)):
        by_length: dict[int, list[Prefix]] = defaultdict(list)
        ranked = sorted(s[here], key=lambda beam: -score(beam))
        for beam in ranked:
            by_length[len(beam)].append(beam)
        kept = [beam for beams in by_length.values() for beam in beams[: settings.per_length]]
        kept = sorted(kept, key=lambda beam: -score(beam))[: settings.beams]
        pairs = [
            (float(links[here, v] + tokens[v, t]), v, t)
            for v in range(vertices)
            for t in range(tokens.shape[1])
        ]
        best = sorted((pair for pair in pairs if pair[0] > -inf), reverse=True)
        best = best[: settings.expansions]
        seen(here, ranked, kept, best)
        for beam in kept:
            for weight, v, t in best:
                longer = (*beam, t)
                added = s[here][beam] * exp(weight)
                s[v][longer] = s[v].get(longer, 0.0) + added
                reached[longer] += added
    ranked = sorted(s[vertices - 1], key=lambda beam: -score(beam))
    seen(vertices - 1, ranked, ranked[:1], [])
    return list(ranked[0][1:-1]), score(ranked[0])
