"""How fast the loss is: `python -m fastdecode.families.dag.benchmark`.

Its parts with their gradients, as training takes them. The scores of the target's tokens: in blocks
(fastdecode/scores.py) and from the logits of the whole batch. The sum over all paths: by the scaled
products of sweep.py and by the loop of naive.py, in which automatic differentiation records every
step. The best path, which glancing and the loss over it look for: step by step and read back, and
by such a loop. Where there is a GPU, there too, and by the kernels. Each runs in a process of its
own.
"""

import argparse
from collections.abc import Callable
from dataclasses import asdict, astuple, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from fastdecode.errors import UserError, clear_errors
from fastdecode.families.dag.choose import has_triton
from fastdecode.families.dag.links import later, log_softmax
from fastdecode.families.dag.naive import max_paths, sum_paths
from fastdecode.families.dag.paths import (
    Sums,
    by_kernel,
    by_products,
    log_likelihood,
    path_by_kernel,
    path_by_maxima,
    score_path,
)
from fastdecode.files import write_json
from fastdecode.measure.child import in_child
from fastdecode.measure.memory import resident
from fastdecode.provenance import circumstances, describe, provenance
from fastdecode.scores import scores_in_blocks, token_scores


@dataclass(frozen=True)
class Size:
    """How large a batch is: sentences, tokens of a target, vertices, and the model's two sizes."""

    sentences: int
    tokens: int
    vertices: int
    words: int
    width: int


Problem = tuple[Tensor, ...]  # the first two want gradients


@dataclass(frozen=True)
class Way:
    """One way of computing one part: where, of what, and how."""

    device: str
    problem: Callable[[Size], Problem]
    total: Callable[..., Tensor]


def ways() -> dict[str, Way]:
    """Return what can be measured here. CUDA is not started: what is forked could not use it."""
    found = {
        "scores in blocks": Way("cpu", states, scores_in_blocks),
        "scores from all logits": Way("cpu", states, _from_logits),
        "paths by scaled products": Way("cpu", graphs, _by(by_products)),
        "paths by a loop in log space": Way("cpu", graphs, sum_paths),
        "best path by maxima": Way("cpu", graphs, _along(path_by_maxima)),
        "best path by a loop": Way("cpu", graphs, max_paths),
    }
    if torch.cuda.device_count():
        found["scores in blocks, GPU"] = Way("cuda", states, scores_in_blocks)
        found["scores from all logits, GPU"] = Way("cuda", states, _from_logits)
        found["paths by scaled products, GPU"] = Way("cuda", graphs, _by(by_products))
        found["best path by maxima, GPU"] = Way("cuda", graphs, _along(path_by_maxima))
        if has_triton():
            found["paths by the kernel, GPU"] = Way("cuda", graphs, _by(by_kernel))
            found["best path by the kernel, GPU"] = Way("cuda", graphs, _along(path_by_kernel))
    return found


def _by(sums: Sums) -> Callable[..., Tensor]:
    def total(tokens: Tensor, links: Tensor, lengths: Tensor, sizes: Tensor) -> Tensor:
        return log_likelihood(tokens, links, lengths, sizes, sums)[0]

    return total


def _along(best_path: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def total(tokens: Tensor, links: Tensor, lengths: Tensor, sizes: Tensor) -> Tensor:
        path = best_path(tokens.detach(), links.detach(), lengths, sizes)
        return score_path(tokens, links, lengths, path)

    return total


def _from_logits(states: Tensor, embeddings: Tensor, targets: Tensor) -> Tensor:
    return token_scores(states @ embeddings.T, targets)


def states(size: Size) -> Problem:
    """Return random states of vertices, embeddings of tokens, and targets."""
    return (
        torch.randn(size.sentences, size.vertices, size.width),
        torch.randn(size.words, size.width) * size.width**-0.5,
        torch.randint(0, size.words, (size.sentences, size.tokens)),
    )


def graphs(size: Size) -> Problem:
    """Return random scores and links, lengths and sizes, of targets without padding."""
    sizes = torch.full((size.sentences,), size.vertices)
    scores = torch.randn(size.sentences, size.tokens, size.vertices) - 7.0  # as of a thousand words
    logits = torch.randn(size.sentences, size.vertices, size.vertices)
    links = log_softmax(logits, later(sizes, size.vertices))
    return scores, links, torch.full_like(sizes, size.tokens), sizes


def measure(way: Way, size: Size, repeats: int) -> dict[str, Any]:
    """Return "seconds" of each repeat forward and backward, "bytes" at the peak, "sum".

    There is one thread. The first repeat is the warm-up and counts for memory alone. Bytes are
    those over what was held before, on a GPU of the GPU. The sum is that of minus what is computed:
    of paths, the loss.
    """
    torch.set_num_threads(1)
    torch.manual_seed(1)
    given = [part.to(way.device) for part in way.problem(size)]
    learned = [part.requires_grad_() for part in given[:2]]
    before, seconds, total = _held(way.device), [], torch.tensor(0.0)
    for _ in range(repeats + 1):
        for part in learned:
            part.grad = None
        start = _now(way.device)
        total = -way.total(*given).sum()
        total.backward()  # type: ignore[no-untyped-call]
        seconds.append(_now(way.device) - start)
    return {
        "seconds": seconds[1:],
        "bytes": _held(way.device, peak=True) - before,
        "sum": float(total.detach()),
    }


def _now(device: str) -> float:
    """Return the time at which all that was asked of `device` is done."""
    if device == "cuda":
        torch.cuda.synchronize()
    return perf_counter()


def _held(device: str, peak: bool = False) -> int:
    """Return the bytes that are held on `device`, or were at the `peak`."""
    if device == "cuda":
        return torch.cuda.max_memory_allocated() if peak else torch.cuda.memory_allocated()
    return resident("VmHWM" if peak else "VmRSS")


def main() -> None:
    """Print a line for each way; with --out also write every repeat as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--sentences", type=int, default=32, metavar="B")
    parser.add_argument("--tokens", type=int, default=30, metavar="M")
    parser.add_argument("--vertices", type=int, default=240, metavar="L")
    parser.add_argument("--words", type=int, default=8000, metavar="V")
    parser.add_argument("--width", type=int, default=128, metavar="d")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write all repeats to it, as JSON")
    given = vars(parser.parse_args())
    repeats, out, size = given.pop("repeats"), given.pop("out"), Size(**given)
    with clear_errors():
        _check(size, repeats)
        _measure_all(size, repeats, out)


def _check(size: Size, repeats: int) -> None:
    """Raise UserError where there is nothing to measure."""
    if min(repeats, *astuple(size)) < 1:
        raise UserError("every number is at least 1")
    if not 2 <= size.tokens <= size.vertices:
        raise UserError(
            f"--tokens {size.tokens}: no path of so many vertices from the first of "
            f"{size.vertices} to the last: take from 2 to as many as --vertices"
        )


def _measure_all(size: Size, repeats: int, out: Path | None) -> None:
    before, rows = circumstances(), []
    print(
        f"B={size.sentences} sentences, M={size.tokens} tokens, L={size.vertices} vertices, "
        f"V={size.words} words, d={size.width}; with gradients"
    )
    print("| way | ms | MB | sum |\n|---|---:|---:|---:|")
    for name, way in ways().items():
        found = in_child(partial(measure, way, size, repeats), name)
        rows.append({"way": name, "device": describe(way.device), **found})
        print(
            f"| {name} | {median(found['seconds']) * 1e3:.1f} | {found['bytes'] / 1e6:.0f} "
            f"| {found['sum']:.6g} |"
        )
    if out:
        origin = provenance(device="cpu", before=before, after=circumstances())
        write_json(out, {"provenance": origin, "threads": 1, **asdict(size), "rows": rows})


if __name__ == "__main__":
    main()
