"""What is measured of a non-autoregressive system beside its translations."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from torch import Tensor

from fastdecode.families.parallel.candidates import nat_candidates
from fastdecode.measure.recall import recall_curves
from fastdecode.measure.statistic import Lines, Split, Statistic

if TYPE_CHECKING:
    from fastdecode.decode import System


def recall(system: "System", split: Split) -> dict[str, Any]:
    """Measure how many reference tokens are among the K likeliest words of their slot.

    Deng and Rush (2021), figure 1: the model as a way to find a lattice's candidates.
    """

    def find(
        sources: Lines, lengths: list[int], sizes: list[int]
    ) -> Iterator[tuple[str, int, list[Tensor]]]:
        best = nat_candidates(system, sources, lengths, max(sizes))
        for k in sizes:
            yield "model", k, [words[:, :k] for words in best]

    return recall_curves(system, split, find)


STATISTICS: dict[str, Statistic] = {"recall": recall}
