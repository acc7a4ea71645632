"""Translations drawn from a graph: nucleus sampling, vertex by vertex.

Huang et al. (2022), section 4.3: from the vertex u the next vertex and
its token are drawn together, from the likeliest pairs that have a share p of the probability,

    P(v, t | u) ∝ (E_uv · P_vt)^(1 / temperature).

Of every vertex the NUCLEUS likeliest tokens are looked at. Their probabilities are exact, but
where the pairs of a step have less than p in all, what lacks is never drawn: the nucleus is cut
short, and a warning says so. It happens to flat distributions, of a high temperature or of little
training.

With p = 1 all L · V pairs of a step are looked at and sorted, in double precision: gigabytes for a
batch of a base model's graphs. The paper's p is 0.8.
"""

import warnings

import torch
from torch import Tensor

from fastdecode.families.dag.graph import Found, Graph
from fastdecode.nucleus import nucleus

NUCLEUS = 64  # tokens of a vertex that are looked at, unless all are wanted (p = 1)
ROUNDING = 1e-4  # by which all pairs of a step may miss their sum
# After how many steps it is asked whether all have ended: a GPU is waited for at every answer.
ASKED = {"cpu": 1, "cuda": 16}


def sample(graph: Graph, draws: Tensor, top_p: float, temperature: float) -> list[Found]:
    """Return drawn tokens, and their log P(Y, A | X), for each sentence.

    `draws` (B, L - 1) are uniform random numbers, one for each step. `graph` has its masses for
    this temperature, and NUCLEUS tokens at a vertex, or all. Warns where these have less than
    `top_p`.
    """
    assert graph.masses is not None
    sentences, _, count = graph.words.shape
    rows = torch.arange(sentences, device=draws.device)
    last = graph.sizes - 1
    here, score = torch.zeros_like(last), graph.scores[:, 0, 0].double()
    # From the last vertex to itself: a sentence that has ended stays there, at no cost to others.
    staying = torch.full_like(graph.links[:, 0], float("-inf")).scatter(1, last[:, None], 0.0)
    vertices = []
    words = []
    cut = torch.zeros_like(last)  # steps of each sentence whose nucleus lacks something
    asked = ASKED[draws.device.type]
    for step, draw in enumerate(draws.unbind(1)):
        links = graph.links[rows, here]  # (B, L)
        done = here == last
        if step % asked == 0 and bool(done.all()):
            break
        links = torch.where(done[:, None], staying, links)
        pairs = links[..., None] + graph.scores  # (B, L, K)
        norm = (links / temperature + graph.masses).logsumexp(1, keepdim=True)
        chances = ((pairs / temperature).flatten(1) - norm).double().exp()
        cut += ~done & (chances.sum(1) < top_p - ROUNDING)
        chosen = nucleus(chances, draw, top_p)
        there = torch.div(chosen, count, rounding_mode="floor")
        gained = pairs.flatten(1)[rows, chosen].double()
        score = torch.where(done, score, score + gained)
        words.append(graph.words.flatten(1)[rows, chosen])
        here = torch.where(done, here, there)
        vertices.append(here)
    path, tokens = (torch.stack(steps, 1) for steps in (vertices, words))
    steps = (path != last[:, None]).sum(1).tolist()
    if bool(cut.any()):
        # always the same text, so that Python says it once
        warnings.warn(
            f"the {NUCLEUS} likeliest tokens of a vertex have less than top_p at some steps: what "
            "is drawn there is of a smaller nucleus; take a lower top_p or temperature",
            stacklevel=2,
        )
    found = zip(tokens.tolist(), steps, score.tolist(), strict=True)
    return [(ids[:inner], total) for ids, inner, total in found]
