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
    best, links = graph.scores[..., 0], graph.links  # (B, L), (B, L, L)
    sentences, vertices = best.shape
    longest = longest.minimum(graph.sizes)
    count = int(longest.max())
    scores = best.new_full((count, sentences, vertices), -inf)  # of paths of i + 1 vertices to u
    scores[0, :, 0] = best[:, 0]
    for i in range(1, count):
        sums = scores[i - 1, :, i - 1 :, None] + links[:, i - 1 :, i:]
        scores[i, :, i:] = sums.amax(1) + best[:, i:]

    last = graph.sizes - 1
    ended = scores.gather(2, last.expand(count, -1)[..., None])[..., 0]  # (n, B)
    lengths = torch.arange(1, count + 1, device=best.device)[:, None]
    ranks = (ended.double() / lengths**penalty).masked_fill(lengths > longest, -inf)
    score, length = ranks.max(0)

    words = torch.empty(count, sentences, dtype=torch.long, device=best.device)
    here = last
    for i in range(count - 1, 0, -1):
        words[i] = graph.words[..., 0].gather(1, here[:, None])[:, 0]
        into = links.gather(2, here[:, None, None].expand(-1, vertices, 1))[..., 0]
        came_from = (scores[i - 1] + into).argmax(1)
        here = came_from.where(i <= length, here)
    found = zip(words.T.tolist(), length.tolist(), score.tolist(), strict=True)
    return [(tokens[1:end], score) for tokens, end, score in found]
