"""What a drawing of a lattice is made of: good candidates, and how good the paths through them are.

A word and an edge are as good as the best path that goes through them (its max-marginal): 0 on the
path that search selects, and so many nats behind it elsewhere. Forward and backward Viterbi scores
add up to it.
"""

from typing import Any

import torch
from torch import Tensor

from fastdecode.families.lattice.rows import CANDIDATES
from fastdecode.families.lattice.sentence import Lattice, Lattices
from fastdecode.measure.statistic import DRAWN, Split
from fastdecode.system import System

WORDS = 5  # of a slot
BEHIND = 8.0  # nats; what is further behind is left out


@torch.inference_mode()
def lattices(system: System, split: Split) -> dict[str, Any]:
    """Return the lattices of the first short sentences, and the path through each.

    Raises UserError if no sentence is short enough.
    """
    candidates = min(CANDIDATES, len(system.target) - system.target.nspecial)
    decoding = Lattices(system, candidates)
    sentences = []
    for number in split.short(DRAWN):
        lattice = decoding(split.sources[number])
        sentences.append(
            {
                "line": number,
                "source": split.sources[number],
                "reference": split.references["real"][number],
                **_drawn(lattice, system),
            }
        )
    return {
        "definition": f"of the {candidates} candidates of a slot up to {WORDS}: [word, nats by "
        "which the best path through it is behind the best of all], the better first; edges: [word "
        "in the slot, word in the next, nats], by their numbers from 0; selected: the path of the "
        "search",
        "sentences": sentences,
    }


def _drawn(lattice: Lattice, system: System) -> dict[str, Any]:
    words, edges = behind(lattice.first, lattice.edges)
    shown = [_best(slot) for slot in words]
    return {
        "slots": [
            [[system.target[int(ids[i])], round(float(slot[i]), 4)] for i in kept]
            for ids, slot, kept in zip(lattice.words, words, shown, strict=True)
        ],
        "edges": [
            [
                [a, b, round(float(pair[i, j]), 4)]
                for a, i in enumerate(before)
                for b, j in enumerate(after)
                if pair[i, j] <= BEHIND
            ]
            for pair, before, after in zip(edges, shown[:-1], shown[1:], strict=True)
        ],
        "selected": [
            system.target[int(slot[i])]
            for slot, i in zip(lattice.words, lattice.selected, strict=True)
        ],
    }


def _best(slot: Tensor) -> list[int]:
    """Return the candidates of a slot (K) that are shown, the best first."""
    order = slot.argsort(stable=True)[:WORDS]
    return [int(i) for i in order if slot[i] <= BEHIND]


def behind(first: Tensor, edges: Tensor) -> tuple[Tensor, Tensor]:
    """Return by how much the best paths through words and edges are behind the best of all.

    `first` (K + 1) and `edges` (T - 1, K, K + 1) are a lattice as in paths.py, all of whose paths
    have T - 1 words. The results are (T - 1, K) and (T - 2, K, K), nats, 0 or more.
    """
    steps = edges[:-1, :, :-1]  # (T - 2, K, K)
    to, back = [first[:-1]], [edges[-1, :, -1]]
    for step in steps:
        to.append((to[-1][:, None] + step).amax(0))
    for step in steps.flip(0):
        back.append((step + back[-1]).amax(1))
    reach, rest = torch.stack(to), torch.stack(back[::-1])  # (T - 1, K)
    through = reach + rest
    across = reach[:-1, :, None] + steps + rest[1:, None, :]  # (T - 2, K, K)
    best = through[0].max()
    return (best - through).clamp(min=0), (best - across).clamp(min=0)
