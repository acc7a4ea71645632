"""Following links greedily, or with an eye to the next token (Huang et al. 2022, algorithm 1).

At every vertex the next one is chosen for all vertices at once; then one path is read off. The
choices are copied to the host in one go, and followed there.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from fastdecode.errors import UserError
from fastdecode.families.dag.graph import Found, Graph
from fastdecode.translation import NOT_FINITE


def walk(graph: Graph, lookahead: bool) -> list[Found]:
    """Return tokens and log P(Y, A | X) of the path that is chosen link by link.

    Greedily a vertex links to its likeliest successor; with `lookahead`, to the one of the highest
    product of link and token probability (equation 10).
    """
    following = successors(graph, lookahead)
    gained = graph.links.gather(2, following[..., None])[..., 0]
    return follow(following, gained + graph.scores[..., 0].gather(1, following), graph)


def successors(graph: Graph, lookahead: bool) -> Tensor:
    """Return the vertex that is chosen behind each: (B, L); see walk."""
    steps = graph.links + graph.scores[:, None, :, 0] if lookahead else graph.links
    return steps.argmax(2)


def follow(following: Tensor, gained: Tensor, graph: Graph) -> list[Found]:
    """Return tokens and score of the paths along `following` (B, L), which gain `gained` (B, L).

    A path begins with the score of `<s>` and ends at its graph's last vertex.
    """
    columns = (graph.sizes[:, None], graph.scores[:, :1, 0], following, graph.words[..., 0], gained)
    hosted = torch.cat([column.double() for column in columns], 1).cpu()  # exact for any index
    width = following.shape[1]
    found = []
    for row in hosted.numpy():
        size, score = int(row[0]), float(row[1])
        after, words, gain = row[2:].reshape(3, width)
        path = path_along(after, size - 1)
        for vertex in path[:-1]:
            score += float(gain[vertex])
        found.append(([int(words[vertex]) for vertex in path[1:-1]], score))  # without the frame
    return found


def path_along(following: Sequence[float], last: int) -> list[int]:
    """Return the vertices from the first to `last`, each the one that follows the one before.

    Raises UserError where one does not lie behind the one before: links of NaN lead anywhere.
    """
    path = [0]
    while path[-1] < last:
        after = int(following[path[-1]])
        if after <= path[-1]:
            raise UserError(NOT_FINITE)
        path.append(after)
    return path
