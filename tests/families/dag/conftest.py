"""Random graphs, all their paths, and random models."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise, product
from math import exp, inf
from random import Random
from typing import Any

import pytest
import torch
from fairseq.data import Dictionary
from torch import Tensor

from fastdecode.config.models import Architecture
from fastdecode.families.dag.beam import BeamSettings
from fastdecode.families.dag.graph import Found, Graph, Shortlist
from fastdecode.families.dag.links import later, log_softmax
from fastdecode.families.dag.model import GraphModel
from fastdecode.measure.untrained import untrained_system
from fastdecode.system import System

BOS, PAD, EOS, UNK = range(4)
BestHypotheses = Callable[..., list[list[Found]]]
ARPA = """\\data\\
ngram 1=5
ngram 2=3

\\1-grams:
-1.0\t<unk>\t0
0\t<s>\t-0.3
-0.7\t</s>\t0
-0.4\tw0\t-0.2
-0.9\tw1\t-0.1

\\2-grams:
-0.5\t<s> w0
-0.2\tw0 w1
-0.1\tw1 </s>

\\end\\
"""


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> list[Tensor]:
    """The tensors that came to the host, or were asked for a number: a GPU is waited for there."""
    found: list[Tensor] = []
    for name in ("item", "tolist", "numpy", "cpu", "__int__", "__float__", "__bool__"):
        read = getattr(Tensor, name)
        monkeypatch.setattr(
            Tensor, name, lambda it, *rest, read=read: found.append(it) or read(it, *rest)
        )
    return found


def dictionary(words: int) -> Dictionary:
    """`words` words and fairseq's four symbols."""
    found = Dictionary()
    for number in range(words):
        found.add_symbol(f"w{number}")
    return found


def random_links(sizes: Tensor, generator: torch.Generator, spread: float = 1.5) -> Tensor:
    width = int(sizes.max())
    logits = spread * torch.randn(
        len(sizes), width, width, generator=generator, dtype=torch.float64
    )
    return log_softmax(logits, later(sizes, width))


def random_target(
    seed: int, sentences: int = 4, tokens: int = 5, vertices: int = 7, spread: float = 1.5
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Scores of a target (B, M, L), links (B, L, L), lengths and sizes (B), in fp64."""
    draw = torch.Generator().manual_seed(seed)
    lengths = torch.randint(2, tokens + 1, (sentences,), generator=draw)
    lengths[0] = tokens
    room = torch.randint(0, vertices - tokens + 1, (sentences,), generator=draw)
    sizes = lengths + room
    sizes[-1] = vertices
    scores = spread * torch.randn(
        sentences, tokens, int(sizes.max()), generator=draw, dtype=torch.float64
    )
    return scores.log_softmax(-1) - 1, random_links(sizes, draw, spread), lengths, sizes


def two_chains(
    cross: float = -300.0, middle: float = -160.0, end: float = -72.0, inner: int = 12
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """One sentence, as random_target's, of whose better paths neither side alone keeps all.

    Two chains of `inner` vertices stand side by side, with links of e^`cross` between them. The
    upper one writes the first two tokens with e^`end` of the lower one's probability, and the last
    two again, the lower one what is between them with e^`middle`. So the upper one is the better,
    and has next to nothing of the sums at its beginning, and from behind at its end.
    """
    sizes, lengths = torch.tensor([2 * inner + 2]), torch.tensor([inner + 2])
    vertex = torch.arange(2 * inner + 2)
    upper, place = vertex % 2 == 0, (vertex + 1) // 2
    ends = (vertex == 0) | (vertex == vertex[-1])
    follows = (place[:, None] + 1 == place) & ((upper[:, None] == upper) | ends[:, None] | ends)
    logits = torch.full(follows.shape, cross, dtype=torch.float64).masked_fill(follows, 0.0)
    scores = torch.full((inner + 2, len(vertex)), -5.0, dtype=torch.float64)
    scores[[1, 2, inner - 1, inner]] += end / 2 * (upper & ~ends)
    scores[3 : inner - 1] += middle / (inner - 4) * (~upper & ~ends)
    return scores[None], log_softmax(logits[None], later(sizes, len(vertex))), lengths, sizes


def one_best(best_hypotheses: BestHypotheses) -> Callable[..., list[Found]]:
    """Make a beam search that returns one hypothesis a sentence."""

    def search(graph: Graph, settings: BeamSettings, model: Any = None) -> list[Found]:
        return [found for (found,) in best_hypotheses(graph, 1, settings, model)]

    return search


def every_path(length: int, size: int) -> Iterator[tuple[int, ...]]:
    """All paths of `length` vertices through a graph of `size`."""
    for inner in combinations(range(1, size - 1), length - 2):
        yield (0, *inner, size - 1)


def path_scores(tokens: Tensor, links: Tensor, length: int, size: int) -> dict[Any, float]:
    """log P(Y, A | X) of all paths of one sentence: tokens (M, L), links (L, L)."""
    return {
        path: float(sum(tokens[i, u] for i, u in enumerate(path)))
        + float(sum(links[u, v] for u, v in pairwise(path)))
        for path in every_path(length, size)
    }


def random_graph(
    seed: int,
    sizes: Sequence[int],
    words: int = 3,
    count: int | None = None,
    temperature: float | None = None,
    spread: float = 1.5,
) -> tuple[Graph, Tensor]:
    """A graph as decoders see it, with `count` tokens a vertex (None: all), and (B, L, V) scores.

    The scores are log-probabilities, -inf where a vertex must not write a token.
    """
    draw = torch.Generator().manual_seed(seed)
    size = torch.tensor(sizes)
    links = random_links(size, draw, spread)
    vocabulary = dictionary(words)
    logits = spread * torch.randn(
        *links.shape[:2], len(vocabulary), generator=draw, dtype=torch.float64
    )
    scores = logits.log_softmax(-1)
    place = torch.arange(links.shape[1])
    first, last = place == 0, place == size[:, None] - 1
    for token in range(len(vocabulary)):
        allowed = {BOS: first.expand_as(last), EOS: last}.get(token, ~first & ~last)
        forbidden = ~allowed if token != PAD else torch.ones_like(allowed)
        scores[..., token].masked_fill_(forbidden, -inf)
    shortlist = Shortlist(vocabulary, count or len(vocabulary), temperature)
    return shortlist.read([logits.flatten(0, 1).clone()], links, size), scores


def translations(links: Tensor, scores: Tensor) -> dict[tuple[int, ...], float]:
    """P(Y | X) of all translations of one graph: links (L, L), scores (L, V); without frames."""
    found: dict[tuple[int, ...], float] = defaultdict(float)
    size = len(links)
    for length in range(2, size + 1):
        for path in every_path(length, size):
            for tokens in product(range(UNK, scores.shape[1]), repeat=length - 2):
                written = (BOS, *tokens, EOS)
                total = sum(float(scores[u, t]) for u, t in zip(path, written, strict=True))
                total += sum(float(links[u, v]) for u, v in pairwise(path))
                found[tokens] += exp(total)
    return found


def untrained_graphs(links: str = "softmax", **options: Any) -> System:
    """A random model in fp64 that has an opinion at every vertex, ready to decode."""
    size = Architecture(16, 24, 2, 2, 2, prenorm=True)
    settings: dict[str, Any] = {
        "graph_factor": 2.0,
        "links": links,
        "activation_fn": "gelu",
        "decoder_learned_pos": True,
    }
    system = untrained_system(size, 30, precision="fp64", kind=GraphModel, **settings | options)
    (model,) = system.models
    torch.manual_seed(5)
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.5 * torch.randn_like(weight)
    return system


@pytest.fixture(scope="session")
def ragged() -> list[list[str]]:
    """Sentences of all lengths, with an unknown word now and then."""
    draw = Random(3)
    vocabulary = [*(f"w{number}" for number in range(12)), "unheard"]
    return [draw.choices(vocabulary, k=draw.randint(1, 9)) for _ in range(20)]
