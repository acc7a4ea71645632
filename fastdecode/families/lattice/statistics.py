"""What is measured of a lattice beside the translations found in it.

Deng and Rush (2021), section 5: `recall` is for figure 1, `ranks` for figure 2;
`lattices` are drawn.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from fastdecode.families.lattice.drawn import lattices
from fastdecode.families.lattice.rows import CANDIDATES
from fastdecode.families.lattice.sentence import Lattices, candidates_of
from fastdecode.measure.recall import recall_curves
from fastdecode.measure.statistic import Counted, Lines, Split, Statistic
from fastdecode.progress import track
from fastdecode.system import System

READINGS = {
    "given_previous": "by its edge from the word that search selected before it: "
    "1 + how many candidates of the slot have a better edge from there",
    "best_edge": "by its best edge from any candidate of the slot before, which is known before "
    "any search: 1 + how many candidates of the slot have a better best edge",
}


def recall(system: System, split: Split) -> dict[str, Any]:
    """Measure how many reference tokens are among the candidates of their slot, for three ways.

    `counts` is the look-up by word and position that decoding uses; `shared` one set of K words for
    all slots of a sentence; `union` the K likeliest words of each source word, at its true size.
    """
    candidates = candidates_of(system)

    def find(
        sources: Lines, lengths: list[int], sizes: list[int]
    ) -> Iterator[tuple[str, int, list[Tensor]]]:
        ids = [[system.source.index(token) for token in line] for line in sources]
        pairs = track(zip(ids, lengths, strict=True), "recall", "lines", total=len(ids))
        counts = [candidates.single(line, slots, max(sizes))[0] for line, slots in pairs]
        shared = [candidates.shared_candidates(line, max(sizes)) for line in ids]
        for k in sizes:  # fewer candidates are the first of more
            yield "counts", k, [words[:, :k] for words in counts]
            yield "shared", k, [words[:k] for words in shared]
            yield "union", k, [candidates.shared_union(line, k) for line in ids]

    return recall_curves(system, split, find)


@torch.inference_mode()
def ranks(system: System, split: Split) -> dict[str, Any]:
    """Measure which rank the words that search selects have by edge scores alone, before search.

    As in figure 2: K = 64 or all the words there are, one length (ΔL = 0). The paper does not say
    what a rank before search is, so both of READINGS are counted. In the first slot edges come from
    the beginning of the sentence, and the two agree. `</s>` is fixed by the length: it has no rank
    and counts in none.
    """
    k = min(CANDIDATES, len(system.target) - system.target.nspecial)
    decoding = Lattices(system, k)
    chosen = split.readable(system)
    counts = {reading: torch.zeros(k, dtype=torch.long) for reading in READINGS}
    firsts: dict[str, dict[int, Counted]] = {reading: {} for reading in READINGS}
    for number in track(chosen, "ranks", "lines", total=len(chosen)):
        lattice = decoding(split.sources[number])
        found_ranks = selected_ranks(lattice.first, lattice.edges, lattice.selected)
        for reading, found in found_ranks.items():
            counts[reading] += torch.bincount(found.cpu() - 1, minlength=k)
            firsts[reading][number] = int((found == 1).sum()), len(found)
    tokens = int(counts["best_edge"].sum())
    return {
        "definition": "rank of a word that Viterbi search selects among the K candidates of its "
        "slot; counts: selected words by rank, from rank 1 on; first: the share of rank 1; "
        "by_line: words of rank 1 and all, of every line",
        "settings": {"k": k, "delta": 0, "normalise": "vocabulary"},
        "lines": len(chosen),
        "tokens": tokens,
        "left_out": len(split.sources) - len(chosen),
        "readings": {
            reading: {
                "definition": definition,
                "first": int(counts[reading][0]) / max(1, tokens),
                "counts": counts[reading].tolist(),
            }
            for reading, definition in READINGS.items()
        },
        "by_line": {f"{reading}/1": split.by_line(found) for reading, found in firsts.items()},
    }


def selected_ranks(first: Tensor, edges: Tensor, selected: Tensor) -> dict[str, Tensor]:
    """Return the ranks of the words `selected` (T - 1) of one sentence, for each of READINGS.

    `first` (K + 1) and `edges` (T - 1, K, K + 1) are its lattice, as in paths.py. Of equally good
    words all have the best rank.
    """
    begin = first[None, :-1]  # (1, K)
    steps = edges[:-1, :, :-1]  # (T - 2, K, K): the last edges lead to `</s>`
    before = torch.arange(len(steps), device=edges.device)
    scores = {
        "given_previous": torch.cat([begin, steps[before, selected[:-1]]]),
        "best_edge": torch.cat([begin, steps.amax(1)]),
    }
    return {
        reading: 1 + (score > score.gather(1, selected[:, None])).sum(1)  # (T - 1)
        for reading, score in scores.items()
    }


STATISTICS: dict[str, Statistic] = {"recall": recall, "ranks": ranks, "lattices": lattices}
