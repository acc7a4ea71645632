"""What drawings of single sentences are made of (Huang et al. 2022, figures 1 to 4, 9 to 11, 14).

`graphs` are those of the first short sentences of a split, as they are decoded; `assignment` is
what training makes of the first short pair: which tokens of the target go to which vertices.
"""

from heapq import nlargest
from math import exp
from typing import Any

import torch
from torch import Tensor

from fastdecode.errors import UserError
from fastdecode.families.dag.beam import BeamSettings, best_hypotheses
from fastdecode.families.dag.glance import Glance
from fastdecode.families.dag.graph import Graph, Shortlist
from fastdecode.families.dag.naive import prefix_sums
from fastdecode.families.dag.naive_beam import Step, naive_beam_search
from fastdecode.families.dag.paths import best_path, posteriors
from fastdecode.families.dag.shape import main_edges, passing
from fastdecode.families.dag.sources import Sources
from fastdecode.families.dag.walk import path_along, successors
from fastdecode.framing import FRAME, frame_sources
from fastdecode.measure.statistic import DRAWN, Split
from fastdecode.scores import token_scores
from fastdecode.system import System

HYPOTHESES = 5
TOKENS = 3  # of a vertex
SHARE = 0.9  # of the links' mass
NARROW = BeamSettings(beams=1, per_length=1, expansions=2)  # figure 11: α = 1, γ = 0
RATIO = 0.5  # glancing as it begins
PATHS = 2  # of figure 10
Path = tuple[float, tuple[int, ...]]  # log P(Y, A | X), vertices


@torch.inference_mode()
def graphs(system: System, split: Split) -> dict[str, Any]:
    """Return the graphs of the first short sentences, and what searches find in them.

    Raises UserError if no sentence is short enough.
    """
    sentences = []
    for number in split.short(DRAWN):
        found = Sources.of(system, [split.sources[number]])
        logits, links = found.read(found.blanks)
        graph = Shortlist(system.target, BeamSettings().expansions).read(
            [logits[0].clone()], links, found.sizes
        )
        sentences.append(
            {
                "line": number,
                "source": split.sources[number],
                "reference": split.references["real"][number],
                **_vertices(system, graph),
                "lookahead": lookahead_path(graph),
                "hypotheses": _hypotheses(system, graph, logits),
                "beam": _beam(system, graph),
            }
        )
    return {
        "definition": "vertices: the likeliest tokens, their probabilities, and how likely a path "
        "that is drawn from the links passes; links: of each vertex the likeliest that together "
        f"have {SHARE} of its mass, as [next vertex, probability]; lookahead: the path that this "
        f"search walks; hypotheses: the {HYPOTHESES} best of the beam search (α = 1, without a "
        "language model), with score and most probable path; beam: the steps of a search that "
        "keeps one prefix a vertex and goes on with two pairs",
        "sentences": sentences,
    }


def assignment(system: System, split: Split) -> dict[str, Any]:
    """Return how the target of the first short pair is matched with its graph, and a glance at it.

    Nothing is dropped, as in decoding. A target that is longer than its graph has no path, and is
    passed over. Raises UserError if no other pair is short enough.
    """
    for number in split.short(len(split.sources)):
        found = Sources.of(system, [split.sources[number]])
        words = split.references["real"][number]
        if len(words) + FRAME <= int(found.sizes):
            break
    else:
        raise UserError(
            "no short line has a graph as long as its target: train one with a larger factor, or "
            "leave what is drawn of it out of `papers:`"
        )
    targets = frame_sources([words], system.target).to(system.device)  # (1, M)
    lengths = torch.tensor([targets.shape[1]], device=system.device)
    ids = torch.tensor([number], device=system.device)
    glance = Glance(targets, lengths, ids, seed=1, update=0, ratio=RATIO)
    with torch.no_grad():
        logits, links = found.read(found.blanks)
        tokens = token_scores(logits, targets)  # (1, M, L)
        likeliest = logits.argmax(-1)
        shown = glance.look(
            tokens, links, found.sizes, found.blanks, lambda path: likeliest.gather(1, path)
        )
        again, _ = found.read(shown)
    sums = prefix_sums(tokens.double(), links.double())[0]  # (M, L)
    total = float(sums[-1, -1])
    on_path = glance.path[0]  # (M)
    best = likeliest[0, on_path]
    return {
        "definition": "forward: log f(i, u) of equation 14, null where nothing is summed; loss: "
        "-log f(M, L); posteriors: weight of the paths on which vertex u holds token i (equation "
        "7), added up; paths: the most probable ones, with their share of all paths' probability; "
        f"glance: τ = {RATIO}, the most probable path, whether its vertex has the token for its "
        "likeliest, whether it is shown, P(token) there before and after",
        "line": number * split.step,
        "source": split.sources[number],
        "target": [system.target[token] for token in targets[0].tolist()],
        "size": int(found.sizes),
        "loss": -total,
        "forward": [[f if f > -torch.inf else None for f in row] for row in sums.tolist()],
        "posteriors": posteriors(tokens, links, lengths, found.sizes)[0].tolist(),
        "paths": [
            {"path": list(path), "share": exp(score - total)}
            for score, path in best_paths(tokens[0], links[0], PATHS)
        ],
        "glance": {
            "ratio": RATIO,
            "path": on_path.tolist(),
            "right": (best == targets[0]).tolist(),
            "shown": glance.shown[0].tolist(),
            "before": _along(tokens, on_path),
            "after": _along(token_scores(again, targets), on_path),
        },
    }


def lookahead_path(graph: Graph) -> list[int]:
    """Return the vertices that lookahead walks in the first graph."""
    return path_along(successors(graph, lookahead=True)[0].tolist(), int(graph.sizes[0]) - 1)


def best_paths(tokens: Tensor, links: Tensor, count: int) -> list[Path]:
    """Return the `count` most probable paths that write a target, the best first.

    `tokens` (M, L) are log P(y_i | vertex u), `links` (L, L) log-probabilities.
    """
    scores, steps = tokens.tolist(), links.tolist()
    vertices = range(len(steps))
    ended: list[list[Path]] = [[(scores[0][0], (0,))], *([] for _ in vertices[1:])]
    for row in scores[1:]:
        ended = [
            nlargest(
                count,
                [
                    (score + steps[v][u] + row[u], (*path, u))
                    for v in range(u)
                    for score, path in ended[v]
                    if steps[v][u] > -torch.inf
                ],
            )
            for u in vertices
        ]
    return ended[-1]


def _along(tokens: Tensor, path: Tensor) -> list[float]:
    """Return P(y_i | vertex) (M) along a path from log-probabilities (1, M, L)."""
    along: list[float] = tokens[0].gather(1, path[:, None])[:, 0].exp().tolist()
    return along


def _vertices(system: System, graph: Graph) -> dict[str, Any]:
    passed = passing(graph.links.double(), graph.sizes)[0].tolist()
    kept = main_edges(graph.links, SHARE)[0]
    links = graph.links[0].exp().tolist()
    vertices = []
    for words, chances, passes in zip(
        graph.words[0].tolist(), graph.scores[0].exp().tolist(), passed, strict=True
    ):
        # The first vertex and the last have one token each.
        best = [(w, p) for w, p in zip(words, chances, strict=True) if p > 0][:TOKENS]
        vertices.append(
            {
                "tokens": [system.target[word] for word, _ in best],
                "probabilities": [chance for _, chance in best],
                "passing": passes,
            }
        )
    return {
        "vertices": vertices,
        "links": [
            sorted(([v, row[v]] for v in edges.nonzero()[:, 0].tolist()), key=lambda e: -e[1])
            for row, edges in zip(links, kept, strict=True)
        ],
    }


def _hypotheses(system: System, graph: Graph, logits: Tensor) -> list[dict[str, Any]]:
    """Return the best translations, each with the most probable of the paths that write it."""
    (found,) = best_hypotheses(graph, HYPOTHESES, BeamSettings())
    bos, eos = system.target.bos(), system.target.eos()
    hypotheses = []
    for ids, score in found:
        targets = torch.tensor([[bos, *ids, eos]], device=logits.device)
        lengths = torch.tensor([targets.shape[1]], device=logits.device)
        path = best_path(token_scores(logits, targets), graph.links, lengths, graph.sizes)
        tokens = [system.target[i] for i in ids]
        hypotheses.append({"tokens": tokens, "score": score, "path": path[0].tolist()})
    return hypotheses


def _beam(system: System, graph: Graph) -> list[dict[str, Any]]:
    """Return the steps of the naive beam search, narrow enough to be read."""
    words = sorted(set(graph.words.flatten().tolist()))
    column = {word: number for number, word in enumerate(words)}
    tokens = torch.full((graph.words.shape[1], len(words)), -torch.inf)
    for vertex, (ids, scores) in enumerate(
        zip(graph.words[0].tolist(), graph.scores[0].tolist(), strict=True)
    ):
        for word, score in zip(ids, scores, strict=True):
            if score > -torch.inf:
                tokens[vertex, column[word]] = score
    names = [system.target[word] for word in words]
    steps: list[Step] = []
    first = column[system.target.bos()]
    naive_beam_search(graph.links[0].cpu(), tokens, first, NARROW, watch=steps.append)
    return [
        {
            "vertex": step.vertex,
            "beams": [
                {
                    "tokens": [names[token] for token in beam],
                    "here": here,
                    "all": reached,
                    "score": score,
                    "kept": beam in step.kept,
                }
                for beam, here, reached, score in step.beams
            ],
            "pairs": [[exp(weight), vertex, names[token]] for weight, vertex, token in step.pairs],
        }
        for step in steps
    ]
