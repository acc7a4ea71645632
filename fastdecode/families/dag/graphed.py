"""One sentence at a time on a GPU: what makes a graph is recorded, and so is joint Viterbi.

See transformer/recording.py. The steps of Viterbi are small, and hundreds follow on one another.
"""

from functools import partial
from math import inf

from torch import Tensor

from fastdecode.families.dag.graph import Found, Graph, Shortlist
from fastdecode.families.dag.vertices import Vertices
from fastdecode.families.dag.viterbi import best_paths, inputs, listed
from fastdecode.transformer.recording import Recorded, padded, seen, up

STEPS = 8  # the vertices of the longest path are a multiple of it: more steps would be taken


class GraphedVertices:
    """What Vertices and Shortlist do for a sentence alone."""

    def __init__(self, vertices: Vertices, shortlist: Shortlist):
        """Read with `shortlist` what `vertices` say."""
        self._vertices, self._shortlist = vertices, shortlist
        self._recorded: Recorded[tuple[Tensor, ...]] = Recorded(self._parts, "reading a graph")

    def __call__(self, vertices: Tensor, sizes: Tensor, encoded: Tensor) -> Graph:
        """Return the graph of blank `vertices` (1, L), L its size, and of `encoded` (1, S, d).

        The graph of the next sentence overwrites it.
        """
        count = vertices.shape[1]
        links, *others = self._recorded(
            padded(vertices, -1),
            sizes,
            seen(vertices, -1),
            padded(encoded, -2),
            seen(encoded, -2),
        )
        mine = [other[:, :count] for other in others]
        masses = mine[2] if len(mine) > 2 else None
        return Graph(links[:, :count, :count], mine[0], mine[1], sizes, masses)

    def _parts(self, *batch: Tensor) -> tuple[Tensor, ...]:
        _, sizes, *_ = batch
        graph = self._shortlist.read(*self._vertices(*batch), sizes)
        masses = () if graph.masses is None else (graph.masses,)
        return graph.links, graph.words, graph.scores, *masses


class GraphedViterbi:
    """What viterbi does with a graph alone."""

    def __init__(self, penalty: float):
        """Rank paths by their log-probability over their length to the power of `penalty`."""
        self._penalty = penalty
        self._recorded: dict[int, Recorded[tuple[Tensor, ...]]] = {}  # by the count of steps

    def __call__(self, graph: Graph, longest: Tensor, most: int) -> list[Found]:
        """See viterbi; `most` is what `longest` (1) says, known without asking the device."""
        best, links, tokens, sizes = inputs(graph)
        count = up(min(most, links.shape[1]), STEPS)
        if count not in self._recorded:
            search = partial(best_paths, count=count, penalty=self._penalty)
            self._recorded[count] = Recorded(search, "joint Viterbi")
        words, length, score = self._recorded[count](
            padded(best, -1),
            padded(links, -1, -2, value=-inf),  # no link leads to what is new
            padded(tokens, -1),
            sizes,
            longest,
        )
        return listed(words, length, score)
