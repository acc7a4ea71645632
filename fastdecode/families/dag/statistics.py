"""What is measured of graphs beside the translations found in them (Huang et al. 2022).

`accuracy` is for table 2, `samples` for figure 8, `vertices` for figure 15; `graphs` and
`assignment` (drawn.py) are single sentences, for the drawings.
"""

from typing import Any

import torch
from torch import Tensor

from fastdecode.decode import batches, decode_all
from fastdecode.families.dag.drawn import assignment, graphs
from fastdecode.families.dag.graph import Shortlist
from fastdecode.families.dag.paths import best_path
from fastdecode.families.dag.shape import out_degrees, passing, token_probabilities
from fastdecode.families.dag.sources import Sources
from fastdecode.framing import FRAME, frame_sources
from fastdecode.measure.assignment import assigned
from fastdecode.measure.samples import SEED, TOP_P, sampled
from fastdecode.measure.statistic import Counted, Lines, Split, Statistic
from fastdecode.progress import track
from fastdecode.scores import token_scores
from fastdecode.system import System

MOST_TOKENS = 1024  # of a batch of sources
BINS = 20  # of a probability
SHARE, LEAST = 0.8, 0.2  # figure 15b: of the links' mass; passing probability of a vertex
GROUPS = {  # of the paper's appendix E
    "passed": "passing probability above 0.5",
    "sure": "passing probability below 0.5, that of the likeliest token above",
    "vague": "both probabilities below 0.2",
}


def right_on_best_path(
    tokens: Tensor,
    links: Tensor,
    predicted: Tensor,
    targets: Tensor,
    lengths: Tensor,
    sizes: Tensor,
) -> list[Counted]:
    """Return for each line how many of its tokens are predicted, and how many tokens it has.

    A token is predicted if it is the likeliest one of its vertex on the best path (table 2). The
    frame is not counted. `tokens` (B, M, L) are log P(y_i | vertex u) of `targets` (B, M), and
    `predicted` (B, L) the likeliest tokens. Targets may not be longer than graphs.
    """
    path = best_path(tokens, links, lengths, sizes)
    place = torch.arange(targets.shape[1], device=targets.device)
    inner = (place > 0) & (place < lengths[:, None] - 1)
    right = (predicted.gather(1, path) == targets) & inner
    return list(zip(right.sum(1).tolist(), inner.sum(1).tolist(), strict=True))


def accuracy(system: System, split: Split) -> dict[str, Any]:
    """Measure how many reference tokens are right on the best path (table 2)."""
    words = system.target
    never = [words.bos(), words.pad(), words.eos()]  # written between the ends

    @torch.inference_mode()
    def right(sources: Lines, references: Lines) -> list[Counted]:
        read = Sources.of(system, sources)
        sizes, (logits, links) = read.sizes, read.read(read.blanks)
        targets = frame_sources(references, words).to(sizes.device)
        counts = torch.tensor([len(tokens) + FRAME for tokens in references], device=sizes.device)
        kept = counts <= sizes  # a longer target has no path
        found: list[Counted] = []
        if bool(kept.any()):
            logits, links, targets = logits[kept], links[kept], targets[kept]
            targets = targets[:, : int(counts[kept].max())]
            scores = token_scores(logits, targets)
            logits[..., never] = float("-inf")
            predicted = logits.argmax(-1)
            found = right_on_best_path(scores, links, predicted, targets, counts[kept], sizes[kept])
        lines = iter(found)
        return [next(lines) if has_path else (0, 0) for has_path in kept.tolist()]

    return assigned(system, split, right)


def samples(system: System, split: Split) -> dict[str, Any]:
    """Measure translations drawn from graphs (figure 8)."""

    def draw(sources: Lines, temperature: float, count: int) -> list[Lines]:
        runs = []
        for seed in range(SEED, SEED + count):
            settings = {"search": "sample", "top_p": TOP_P, "temperature": temperature}
            decoder = system.decoder("dag", settings | {"sample_seed": seed}, " ".join)
            label = f"sample {seed} at temperature {temperature}"
            runs.append(decode_all(decoder, sources, MOST_TOKENS, label, system.longest))
        return [[one.tokens for one in several] for several in zip(*runs, strict=True)]

    return sampled(system, split, draw)


@torch.inference_mode()
def vertices(system: System, split: Split) -> dict[str, Any]:
    """Count the vertices of all graphs by how likely they are passed, sure, and branching.

    As in figure 15. Sources that do not fit the model are left out.
    """
    chosen = split.readable(system)
    sources = [split.sources[number] for number in chosen]
    grid = torch.zeros(BINS, BINS, dtype=torch.long)  # passing, token
    groups = dict.fromkeys(GROUPS, 0)
    degrees = torch.zeros(1, dtype=torch.long)
    for group in track(batches(sources, MOST_TOKENS), "vertices", "batches"):
        read = Sources.of(system, [sources[i] for i in group])
        sizes, (logits, links) = read.sizes, read.read(read.blanks)
        passed, sure = passing(links.double(), sizes), token_probabilities(logits, sizes)
        there = torch.arange(links.shape[1], device=sizes.device) < sizes[:, None]
        words = Shortlist(system.target, 1).read([logits.flatten(0, 1)], links, sizes).words
        counted = there & (passed >= LEAST) & (links > -torch.inf).any(2)
        found = torch.bincount(out_degrees(links, words[..., 0], SHARE)[counted])
        degrees = _add(degrees, found.cpu())
        passed, sure = passed[there].cpu(), sure[there].cpu()
        cells = _bins(passed) * BINS + _bins(sure)
        grid += torch.bincount(cells, minlength=BINS * BINS).unflatten(0, (BINS, BINS))
        for name, members in _groups(passed, sure).items():
            groups[name] += int(members.sum())
    return {
        "definition": "counts: vertices by passing probability (row) and by the probability of "
        f"their likeliest token (column), in {BINS} equal bins; groups: vertices of which this is "
        f"true; out_degrees: vertices of a passing probability of at least {LEAST} by how many of "
        f"the likeliest links that together have {SHARE} of the mass leave them, from none on, "
        "links to equal tokens as one; the last vertex, which no link leaves, is in none",
        "lines": len(chosen),
        "left_out": len(split.sources) - len(chosen),
        "vertices": int(grid.sum()),
        "counts": grid.tolist(),
        "groups": {
            name: {"definition": definition, "vertices": groups[name]}
            for name, definition in GROUPS.items()
        },
        "out_degrees": degrees.tolist(),
    }


def _groups(passed: Tensor, sure: Tensor) -> dict[str, Tensor]:
    """Return which of GROUPS some vertices are in."""
    return {
        "passed": passed > 0.5,
        "sure": (passed < 0.5) & (sure > 0.5),
        "vague": (passed < 0.2) & (sure < 0.2),
    }


def _bins(chances: Tensor) -> Tensor:
    return (chances * BINS).long().clamp(max=BINS - 1)


def _add(one: Tensor, other: Tensor) -> Tensor:
    """Add counts that may be of different lengths."""
    longer, shorter = sorted((one, other), key=len, reverse=True)
    total = longer.clone()
    total[: len(shorter)] += shorter
    return total


STATISTICS: dict[str, Statistic] = {
    "accuracy": accuracy,
    "samples": samples,
    "graphs": graphs,
    "assignment": assignment,
    "vertices": vertices,
}
