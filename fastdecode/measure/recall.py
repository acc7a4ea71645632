"""Recall of candidates: how much of a right translation a lattice has room for.

Figure 1 of Deng and Rush (2021) compares ways to find K candidates for every slot by the share of
target tokens that are among them. Theirs are the tokens of a distilled validation set; ours are
measured against the corpus's references, too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from fastdecode.measure.statistic import Counted, Lines, Split, share
from fastdecode.system import System

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
DEFINITION = (
    "share of reference tokens (BPE, without </s>) that are candidates of their slot: token t of "
    "the reference against slot t of a lattice as long as the reference; a token that the "
    "dictionary lacks is never a candidate; size: candidates a slot, the mean over all tokens; "
    "by_line: tokens found and all, of every line, by references, way and k"
)

Find = Callable[[Lines, list[int], list[int]], Iterator[tuple[str, int, list[Tensor]]]]
"""Takes sources (BPE tokens), the number of slots of each, and sizes K. Yields the name of a way to
find candidates, K, and the candidates of each source as `recall` takes them."""


def recall_curves(system: System, split: Split, find: Find) -> dict[str, Any]:
    """Return the statistic `recall`: all that `find` yields against all references of the split.

    The sizes asked for are those of SIZES that the target dictionary has words for; `left_out`
    counts lines without words and lines that are too long for the model.

    Raises UserError if a split has no line to measure.
    """
    words = len(system.target) - system.target.nspecial
    sizes = [k for k in SIZES if k <= words]
    counted: dict[str, Any] = {}
    points = []
    by_line = {}
    for name, lines in split.references.items():
        chosen = split.readable(system, name)
        references = [[system.target.index(token) for token in lines[i]] for i in chosen]
        lengths = [len(reference) for reference in references]
        counted[name] = {
            "lines": len(chosen),
            "tokens": sum(lengths),
            "left_out": len(lines) - len(chosen),
        }
        for way, k, candidates in find([split.sources[i] for i in chosen], lengths, sizes):
            found = recalled(candidates, references)
            point = {"references": name, "candidates": way, "k": k}
            by_line[part_of(point)] = split.by_line(dict(zip(chosen, found, strict=True)))
            points.append(
                {
                    **point,
                    "size": _mean_size(candidates, lengths),
                    "recall": share(found, "recall of candidates"),
                }
            )
    return {
        "definition": DEFINITION,
        "references": counted,
        "points": points,
        "by_line": by_line,
    }


def part_of(point: Mapping[str, Any]) -> str:
    """Return the name of a point's counts: its references, its way to find candidates, its k."""
    return "/".join(str(point[key]) for key in ("references", "candidates", "k"))


def recalled(candidates: Iterable[Tensor], references: Iterable[Sequence[int]]) -> list[Counted]:
    """Return how many tokens of each reference are among the candidates of their slot, of how many.

    `candidates` are (T, K) for a reference of T tokens, or (K,) where all slots share one set;
    `</s>` belongs to neither.
    """
    counted: list[Counted] = []
    for sets, reference in zip(candidates, references, strict=True):
        words = torch.tensor(reference, device=sets.device)[:, None]
        counted.append((int((sets == words).any(1).sum()), len(reference)))
    return counted


def _mean_size(candidates: Sequence[Tensor], lengths: Sequence[int]) -> float:
    """Return how many candidates a slot has, on average over all slots."""
    sizes = sum(sets.shape[-1] * length for sets, length in zip(candidates, lengths, strict=True))
    return sizes / max(1, sum(lengths))
