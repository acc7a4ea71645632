"""Beam search over translations, whose paths add up (Huang et al. 2022, appendix B, algorithm 3).

A beam is a prefix of a translation. It may end at several vertices, at each with a mass s_v, the
probability of all paths that write it and end there. Vertices are visited in their order. At each
one the prefixes that end there are ranked by equation 11,

    (log Σ_v s_v + γ · log P_LM) / length^α,

in which the sum is over all vertices that have been reached so far, and the length counts `<s>` and
`</s>`. The best of each length, and of these the best of all, go on, with the few likeliest pairs
of a next vertex and a token. Masses are kept as their logarithms: no unit serves long translations
of which parts are sure and parts are vague.

The pairs of all vertices and sentences are found at once, on the device; the search itself needs no
network and runs on the host, one sentence after another, on arrays over prefixes. A prefix is a
number, given to a pair (shorter prefix, token) when it first occurs; equal prefixes so are equal
numbers and merge exactly. naive_beam.py says the same with dictionaries, beam.cpp on vectors
(compiled.py), several sentences at once, in a tenth of the time: tier optimised has that one.
"""

from dataclasses import dataclass
from math import inf
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastdecode.families.dag.graph import Found, Graph

Array = NDArray[Any]


class LanguageModel(Protocol):
    """What scores a translation token by token. States can be keys of a dictionary."""

    def begin(self) -> Any:
        """Return the state after `<s>`."""

    def score(self, state: Any, token: int) -> tuple[float, Any]:
        """Return log P(token | state) and the state after it."""


@dataclass(frozen=True)
class BeamSettings:
    """How wide a search is, and what it ranks by."""

    beams: int = 200
    per_length: int = 10
    expansions: int = 5
    alpha: float = 1.0
    """Power of the length that scores are divided by."""
    gamma: float = 0.0
    """Weight of the language model."""


@dataclass(frozen=True)
class Expansions:
    """The likeliest pairs of a next vertex and its token, at every vertex: (B, L, C) each."""

    vertices: Array
    words: Array
    scores: Array
    """log E_uv + log P_vt, -inf where there are fewer."""


def expansions(graph: Graph, count: int) -> Expansions:
    """Return the `count` best pairs of each vertex. `graph` has as many tokens at a vertex."""
    # They are among the successors that are best with their best token.
    width = min(count, graph.links.shape[2])
    _, vertices = (graph.links + graph.scores[:, None, :, 0]).topk(width, dim=2)  # (B, L, C)
    links = graph.links.gather(2, vertices)
    sentence = vertices.new_tensor(range(len(vertices)))[:, None, None]
    scores = (links[..., None] + graph.scores[sentence, vertices]).flatten(2)
    words = graph.words[sentence, vertices].flatten(2)
    best, pair = scores.topk(min(count, scores.shape[2]), dim=2)
    vertices = vertices.gather(2, pair // graph.words.shape[2])
    return Expansions(
        vertices.cpu().numpy(),
        words.gather(2, pair).cpu().numpy(),
        best.double().cpu().numpy(),
    )


def best_hypotheses(
    graph: Graph, count: int, settings: BeamSettings, model: LanguageModel | None = None
) -> list[list[Found]]:
    """Return the `count` best translations of each sentence, tokens and score (equation 11)."""
    pairs = expansions(graph, settings.expansions)
    sizes, starts = graph.sizes.tolist(), graph.scores[:, 0, 0].tolist()
    each = zip(pairs.vertices, pairs.words, pairs.scores, sizes, starts, strict=True)
    return [
        _search(vertices[:size], words[:size], scores[:size], start, count, settings, model)
        for vertices, words, scores, size, start in each
    ]


class _Prefixes:
    """All prefixes of a search: arrays by number; 0 is `<s>`."""

    def __init__(self, words: int, start: float, model: LanguageModel | None):
        """Begin with `<s>`, of log-probability `start`; `words` is more than any token's number."""
        self._words, self._model = words, model
        self._numbers: dict[int, int] = {}
        self.parents, self.tokens = [0], [0]
        self.length, self.total, self.language = np.ones(1), np.array([start]), np.zeros(1)
        self._states = [model.begin() if model else None]

    def longer(self, prefixes: Array, token: int) -> Array:
        """Return the numbers of `prefixes` that go on with `token`."""
        found = []
        for parent in prefixes.tolist():
            key = parent * self._words + token
            number = self._numbers.get(key)
            if number is None:
                number = self._numbers[key] = self._add(parent, token)
            found.append(number)
        return np.array(found)

    def _add(self, parent: int, token: int) -> int:
        number = len(self.tokens)
        self.parents.append(parent)
        self.tokens.append(token)
        if number == len(self.length):  # the arrays are full: double them
            self.length, self.total, self.language = (
                np.concatenate([array, np.zeros_like(array)])
                for array in (self.length, self.total, self.language)
            )
        self.length[number], self.total[number] = self.length[parent] + 1, -inf
        if self._model:
            gained, state = self._model.score(self._states[parent], token)
            self.language[number] = self.language[parent] + gained
            self._states.append(state)
        return number

    def rank(self, prefixes: Array, settings: BeamSettings) -> Array:
        """Return the scores of equation 11."""
        mass = self.total[prefixes] + settings.gamma * self.language[prefixes]
        scores: Array = mass / self.length[prefixes] ** settings.alpha
        return scores

    def words_of(self, prefix: int) -> list[int]:
        """Return a prefix's tokens, without `<s>`."""
        words = []
        while prefix:
            words.append(self.tokens[prefix])
            prefix = self.parents[prefix]
        return words[::-1]


def _search(
    vertices: Array,  # (L, C)
    words: Array,
    scores: Array,
    start: float,
    count: int,
    settings: BeamSettings,
    model: LanguageModel | None,
) -> list[Found]:
    last = len(vertices) - 1
    prefixes = _Prefixes(int(words.max()) + 1, start, model)
    arrived: list[list[tuple[Array, Array]]] = [[] for _ in vertices]  # prefixes and masses
    arrived[0].append((np.zeros(1, int), np.array([start])))
    for here in range(last):
        if not arrived[here]:
            continue
        beams, masses = _merge(arrived[here])
        kept = prune(prefixes.length[beams], prefixes.rank(beams, settings), settings)
        beams, masses = beams[kept], masses[kept]
        arrived[here] = []
        for vertex, word, score in zip(vertices[here], words[here], scores[here], strict=True):
            if score > -inf:
                longer = prefixes.longer(beams, int(word))
                added = masses + score
                # no two are equal: one token more each
                prefixes.total[longer] = np.logaddexp(prefixes.total[longer], added)
                arrived[vertex].append((longer, added))
    beams, _ = _merge(arrived[last])
    ranks = prefixes.rank(beams, settings)
    return [
        (prefixes.words_of(int(beams[place]))[:-1], float(ranks[place]))  # without </s>
        for place in (-ranks).argsort(kind="stable")[:count]
    ]


def _merge(arrived: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return the prefixes of a vertex, each once, and the sums of their masses."""
    every = np.concatenate([prefixes for prefixes, _ in arrived])
    masses = np.concatenate([masses for _, masses in arrived])
    beams, which = np.unique(every, return_inverse=True)
    sums = np.full(len(beams), -inf)
    np.logaddexp.at(sums, which, masses)
    return beams, sums


def prune(lengths: Array, ranks: Array, settings: BeamSettings) -> Array:
    """Return which beams to keep: the best `per_length` of each length, the best `beams` of all.

    Of equally good ones the first comes first.
    """
    order = np.lexsort((-ranks, lengths))
    ordered = lengths[order]
    place = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    kept = order[place < settings.per_length]
    return kept[np.lexsort((kept, -ranks[kept]))][: settings.beams]
