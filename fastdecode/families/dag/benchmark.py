"""How fast the loss is: `python -m fastdecode.families.dag.benchmark`.

The sum over all paths with its gradients, as training takes it: by the scaled products of paths.py
and by the loop of naive.py, in which automatic differentiation records every step. Each runs in a
process of its own.
"""

import argparse
from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter

import torch
from torch import Tensor

from fastdecode.families.dag.links import later, log_softmax
from fastdecode.families.dag.naive import sum_paths
from fastdecode.families.dag.paths import log_likelihood
from fastdecode.measure.child import in_child
from fastdecode.measure.memory import resident

Problem = tuple[Tensor, Tensor, Tensor, Tensor]  # as for naive.sum_paths
WAYS: dict[str, Callable[..., Tensor]] = {
    "scaled products": lambda *problem: log_likelihood(*problem)[0],
    "loop in log space": sum_paths,
}


def problem(sentences: int, tokens: int, vertices: int) -> Problem:
    """Return random scores and links, which want gradients, of targets without padding."""
    torch.manual_seed(1)
    sizes = torch.full((sentences,), vertices)
    scores = torch.randn(sentences, tokens, vertices) - 7.0  # as of a thousand words
    logits = torch.randn(sentences, vertices, vertices)
    links = log_softmax(logits, later(sizes, vertices))
    return scores.requires_grad_(), links.requires_grad_(), torch.full_like(sizes, tokens), sizes


def measure(way: str, size: tuple[int, int, int], repeats: int) -> dict[str, float]:
    """Return median "seconds" forward and backward, "bytes" at the peak over those before, "loss".

    There is one thread. The first repeat is the warm-up and counts for memory alone.
    """
    torch.set_num_threads(1)
    scores, links, *rest = problem(*size)
    before, seconds, loss = resident("VmRSS"), [], torch.tensor(0.0)
    for _ in range(repeats + 1):
        scores.grad = links.grad = None
        start = perf_counter()
        loss = -WAYS[way](scores, links, *rest).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        seconds.append(perf_counter() - start)
    return {
        "seconds": median(seconds[1:]),
        "bytes": resident("VmHWM") - before,
        "loss": float(loss.detach()),
    }


def main() -> None:
    """Print a line for each way."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--sentences", type=int, default=32, metavar="B")
    parser.add_argument("--tokens", type=int, default=30, metavar="M")
    parser.add_argument("--vertices", type=int, default=240, metavar="L")
    parser.add_argument("--repeats", type=int, default=9)
    given = parser.parse_args()
    size = given.sentences, given.tokens, given.vertices
    print("loss and gradients of B={} sentences, M={} tokens, L={} vertices".format(*size))
    print("| way | ms | MB | loss |\n|---|---:|---:|---:|")
    for way in WAYS:
        found = in_child(partial(measure, way, size, given.repeats), way)
        print(
            f"| {way} | {found['seconds'] * 1e3:.0f} | {found['bytes'] / 1e6:.0f} "
            f"| {found['loss']:.2f} |"
        )


if __name__ == "__main__":
    main()
