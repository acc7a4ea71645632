"""One sentence at a time on a GPU: scoring and search are recorded (transformer/recording.py)."""

from collections.abc import Callable, Sequence

from torch import Tensor

from fastdecode.families.lattice.paths import Paths
from fastdecode.families.lattice.scorer import Scorer
from fastdecode.transformer.recording import Recorded, padded, seen

SLOTS = 8  # lattices have multiples of it: more would be scored than there is
Search = Callable[[Tensor, Tensor, Tensor, Tensor], Paths]


class GraphedScorer(Scorer):
    """A Scorer that records what it does with a sentence alone."""

    def __init__(self, scorer: Scorer):
        """Take over a scorer's weights, which lie in memory once."""
        vars(self).update(vars(scorer))
        self._recorded: Recorded[tuple[Tensor, ...]] = Recorded(
            scorer.__call__, "the scores of a lattice"
        )

    def __call__(
        self,
        candidates: Tensor,
        encoded: Tensor,
        mask: Tensor | None,
        bounds: Sequence[tuple[int, int]] = (),
    ) -> tuple[Tensor, Tensor]:
        """See Scorer. The scores of a sentence alone are overwritten by those of the next."""
        if len(candidates) > 1 or mask is not None:
            return super().__call__(candidates, encoded, mask)
        first, edges = self._recorded(candidates, padded(encoded, -2), seen(encoded, -2))
        return first, edges


def graphed(search: Search) -> Search:
    """Return `search`, which records what it does with a sentence alone."""

    def parts(*lattice: Tensor) -> tuple[Tensor, ...]:
        paths = search(*lattice)
        return paths.words, paths.lengths, paths.scores

    recorded = Recorded(parts, "the search of a lattice")

    def find(first: Tensor, edges: Tensor, shortest: Tensor, longest: Tensor) -> Paths:
        if len(first) > 1:
            return search(first, edges, shortest, longest)
        return Paths(*recorded(first, edges, shortest, longest))

    return find
