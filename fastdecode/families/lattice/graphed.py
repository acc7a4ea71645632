"""One sentence at a time on a GPU: scoring and search are recorded (transformer/recording.py)."""

from collections.abc import Callable, Sequence

import torch.nn.functional as F
from torch import Tensor

from fastdecode.families.lattice.paths import Paths
from fastdecode.families.lattice.scorer import Scorer
from fastdecode.transformer.recording import Recorded, first_of, up

SLOTS = 8  # lattices have multiples of it: more would be scored than there is
Search = Callable[[Tensor, Tensor, Tensor, Tensor], Paths]


class GraphedScorer(Scorer):
    """A Scorer that records what it does with a sentence alone."""

    def __init__(self, scorer: Scorer):
        """Take over a scorer's weights, which lie in memory once."""
        vars(self).update(vars(scorer))
        self._recorded: Recorded[tuple[Tensor, ...]] = Recorded(scorer.__call__, "scoring")

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
        words = encoded.shape[1]
        size = up(words)
        seen = first_of(words, size, encoded.device)[None, None, None]
        padded = F.pad(encoded, (0, 0, 0, size - words))
        first, edges = self._recorded(candidates, padded, seen)
        return first, edges


def graphed(search: Search) -> Search:
    """Return `search`, which records what it does with a sentence alone."""

    def parts(*lattice: Tensor) -> tuple[Tensor, ...]:
        paths = search(*lattice)
        return paths.words, paths.lengths, paths.scores

    recorded = Recorded(parts, "search")

    def find(first: Tensor, edges: Tensor, shortest: Tensor, longest: Tensor) -> Paths:
        if len(first) > 1:
            return search(first, edges, shortest, longest)
        return Paths(*recorded(first, edges, shortest, longest))

    return find
