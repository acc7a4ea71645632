"""The most probable path of a graph, whatever its length: joint Viterbi decoding.

Shao, Ma and Feng (2022), a later improvement on lookahead: of all paths of n vertices the one of
the highest P(Y, A | X), every vertex writing its likeliest token; and of all n the one of the
highest log-probability over n to the power of a penalty.
"""

from math import inf

import torch
from torch import Tensor

from fastdecode.families.dag.graph import Found, Graph


def viterbi(graph: Graph, longest: Tensor, penalty: float) -> list[Found]:
    """Return tokens and score, log P(Y, A | X) / n^penalty, of the best path of each sentence.

    A path has at most `longest` (B) vertices, n counting the first and the last.
    """
    count = int(longest.minimum(graph.sizes).max())
    return listed(*best_paths(*inputs(graph), longest, count=count, penalty=penalty))


def inputs(graph: Graph) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return what best_paths takes of a graph."""
    return graph.scores[..., 0], graph.links, graph.words[..., 0], graph.sizes


def listed(words: Tensor, length: Tensor, score: Tensor) -> list[Found]:
    """Return what best_paths found as tokens without the frame, and scores."""
    found = zip(words.T.tolist(), length.tolist(), score.tolist(), strict=True)
    return [(tokens[1:end], score) for tokens, end, score in found]


def best_paths(
    best: Tensor,  # (B, L), of each vertex's likeliest token
    links: Tensor,  # (B, L, L)
    tokens: Tensor,  # (B, L), the likeliest
    sizes: Tensor,  # (B)
    longest: Tensor,  # (B)
    *,
    count: int,
    penalty: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the tokens (count, B) along the best paths, the places of their last ones, the scores.

    `count` vertices are enough for every path, and no more than L. Waits for no device.
    """
    sentences, vertices = best.shape
    longest = longest.minimum(sizes)
    scores = best.new_full((count, sentences, vertices), -inf)  # of paths of i + 1 vertices to u
    scores[0, :, 0] = best[:, 0]
    for i in range(1, count):
        sums = scores[i - 1, :, i - 1 :, None] + links[:, i - 1 :, i:]
        scores[i, :, i:] = sums.amax(1) + best[:, i:]

    last = sizes - 1
    ended = scores.gather(2, last.expand(count, -1)[..., None])[..., 0]  # (n, B)
    lengths = torch.arange(1, count + 1, device=best.device)[:, None]
    ranks = (ended.double() / lengths**penalty).masked_fill(lengths > longest, -inf)
    score, length = ranks.max(0)

    words = tokens.new_zeros(count, sentences)
    here = last
    for i in range(count - 1, 0, -1):
        words[i] = tokens.gather(1, here[:, None])[:, 0]
        into = links.gather(2, here[:, None, None].expand(-1, vertices, 1))[..., 0]
        came_from = (scores[i - 1] + into).argmax(1)
        here = came_from.where(i <= length, here)
    return words, length, score
