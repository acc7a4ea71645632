"""What can be said about graphs: plain functions of links and tokens (figures 3, 9, 15; table 2).

Links are (B, L, L) log-probabilities, -inf where there is none; graphs have `sizes` (B) and are
padded to L vertices, for which every number here is 0. For the posterior of every vertex given a
target (figure 3) see paths.posteriors. What is measured of a trained system with them stands at the
end, in STATISTICS.
"""

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from fastdecode.decode import decode_all
from fastdecode.families.dag.model import GraphModel
from fastdecode.families.dag.paths import best_path, token_scores
from fastdecode.framing import blank_slots, frame_sources
from fastdecode.measure.assignment import assigned
from fastdecode.measure.samples import SEED, TOP_P, sampled
from fastdecode.measure.statistic import Lines, Split, Statistic

if TYPE_CHECKING:
    from fastdecode.decode import System

MOST_TOKENS = 1024  # of a batch of sources


def passing(links: Tensor, sizes: Tensor) -> Tensor:
    """Return how likely a path drawn from the links passes through each vertex: (B, L).

    With p_1 = 1, p_u = Σ_v p_v E_vu. All paths end at the last vertex, so that what comes behind a
    vertex has the probability one, and this sum over what comes before it is all.
    """
    edges = links.exp()
    unit = torch.eye(edges.shape[1], dtype=edges.dtype, device=edges.device)
    first = unit[:, :1].expand(len(edges), -1, -1)
    found = torch.linalg.solve_triangular(unit - edges.transpose(1, 2), first, upper=False)
    place = torch.arange(edges.shape[1], device=sizes.device)
    passed: Tensor = found[..., 0].masked_fill(place >= sizes[:, None], 0.0)
    return passed


def token_probabilities(logits: Tensor, sizes: Tensor) -> Tensor:
    """Return the probability of each vertex's likeliest token: (B, L); `logits` are (B, L, V)."""
    best = logits.log_softmax(-1).amax(-1).exp()
    place = torch.arange(logits.shape[1], device=sizes.device)
    return best.masked_fill(place >= sizes[:, None], 0.0)


def main_edges(links: Tensor, share: float = 0.8) -> Tensor:
    """Return (B, L, L), true for the likeliest links of each vertex that together have a `share`.

    That is as few as possible, and with them the one that goes over the share.
    """
    best, order = links.exp().sort(dim=2, descending=True, stable=True)
    kept = (best.cumsum(2) - best < share) & (best > 0)
    return torch.zeros_like(kept).scatter(2, order, kept)


def out_degrees(links: Tensor, tokens: Tensor, share: float = 0.8) -> Tensor:
    """Return how many main edges leave each vertex (B, L), those to the same token being one.

    `tokens` (B, L) are the likeliest ones of the vertices. Figure 15 leaves out vertices that
    paths pass with a probability below 0.2.
    """
    edges = main_edges(links, share)
    # Of the edges to equal tokens the one to the first such vertex counts.
    same = tokens[:, :, None] == tokens[:, None, :]  # (B, L, L)
    before = same.tril(-1).to(edges.dtype)
    earlier = torch.einsum("bul,bvl->buv", edges.double(), before.double()) > 0
    return (edges & ~earlier).sum(2)


def path_counts(edges: Tensor, sizes: Tensor) -> Tensor:
    """Return through how many paths from the first vertex to the last each one is passed: (B, L).

    `edges` (B, L, L) says which links there are. Doubles: the counts grow exponentially.
    """
    steps = edges.double()
    unit = torch.eye(steps.shape[1], dtype=steps.dtype, device=steps.device)
    first = unit[:, :1].expand(len(steps), -1, -1)
    last = unit[sizes - 1][..., None]
    before = torch.linalg.solve_triangular(unit - steps.transpose(1, 2), first, upper=False)
    behind = torch.linalg.solve_triangular(unit - steps, last, upper=True)
    counts: Tensor = (before * behind)[..., 0]
    return counts


def best_assignment_accuracy(
    tokens: Tensor,
    links: Tensor,
    predicted: Tensor,
    targets: Tensor,
    lengths: Tensor,
    sizes: Tensor,
) -> tuple[int, int]:
    """Return how many target tokens are predicted at their vertex on the best path; of how many.

    `tokens` (B, M, L) are log P(y_i | vertex u) of `targets` (B, M), `predicted` (B, L) the
    likeliest tokens. Table 2; the frame is not counted. Targets may not be longer than graphs.
    """
    path = best_path(tokens, links, lengths, sizes)
    place = torch.arange(targets.shape[1], device=targets.device)
    inner = (place > 0) & (place < lengths[:, None] - 1)
    right = (predicted.gather(1, path) == targets) & inner
    return int(right.sum()), int(inner.sum())


def accuracy(system: "System", split: Split) -> dict[str, Any]:
    """Measure how many reference tokens are right on the best path (table 2)."""
    (model,) = system.models
    assert isinstance(model, GraphModel)  # the workflow asks no other

    @torch.inference_mode()
    def right(sources: Lines, references: Lines) -> tuple[float, int, int]:
        device = next(model.parameters()).device
        framed = frame_sources(sources, system.source).to(device)
        lengths = torch.tensor([len(tokens) + 2 for tokens in sources], device=device)
        targets = frame_sources(references, system.target).to(device)
        counts = torch.tensor([len(tokens) + 2 for tokens in references], device=device)
        sizes = model.decoder.sizes(lengths)
        vertices = blank_slots(sizes, system.target)
        encoded = model.encoder(framed, src_lengths=lengths)
        logits, links = model.decoder(vertices, encoded, sizes)
        kept = counts <= sizes  # a longer target has no path
        if not bool(kept.any()):
            return 0.0, 0, 0
        logits, links, targets = logits[kept], links[kept], targets[kept]
        targets = targets[:, : int(counts[kept].max())]
        scores = token_scores(logits, targets)
        found = best_assignment_accuracy(
            scores, links, logits.argmax(-1), targets, counts[kept], sizes[kept]
        )
        return *found, int(kept.sum())

    return assigned(system, split, right)


def samples(system: "System", split: Split) -> dict[str, Any]:
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


STATISTICS: dict[str, Statistic] = {"accuracy": accuracy, "samples": samples}
