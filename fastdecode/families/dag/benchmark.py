"""How fast the loss is: `python -m fastdecode.families.dag.benchmark`.

The sum over all paths with its gradients, as training takes it: by the scaled products of sweep.py
and by the loop of naive.py, in which automatic differentiation records every step; where there is a
GPU, there by the products and by the kernel. Each runs in a process of its own.
"""

import argparse
from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter

import torch
from torch import Tensor

from fastdecode.families.dag.choose import has_triton
from fastdecode.families.dag.links import later, log_softmax
from fastdecode.families.dag.naive import sum_paths
from fastdecode.families.dag.paths import Sums, by_kernel, by_products, log_likelihood
from fastdecode.measure.child import in_child
from fastdecode.measure.memory import resident

Problem = tuple[Tensor, Tensor, Tensor, Tensor]  # as for naive.sum_paths
Way = tuple[str, Callable[..., Tensor]]  # device, function


def ways() -> dict[str, Way]:
    """Return what can be measured here. CUDA is not started: what is forked could not use it."""

    def value(sums: Sums) -> Callable[..., Tensor]:
        def total(tokens: Tensor, links: Tensor, lengths: Tensor, sizes: Tensor) -> Tensor:
            return log_likelihood(tokens, links, lengths, sizes, sums)[0]

        return total

    found = {
        "scaled products": ("cpu", value(by_products)),
        "loop in log space": ("cpu", sum_paths),
    }
    if torch.cuda.device_count():
        found["scaled products, GPU"] = "cuda", value(by_products)
        if has_triton():
            found["kernel, GPU"] = "cuda", value(by_kernel)
    return found


def problem(sentences: int, tokens: int, vertices: int, device: str) -> Problem:
    """Return random scores and links, which want gradients, of targets without padding."""
    torch.manual_seed(1)
    sizes = torch.full((sentences,), vertices)
    scores = torch.randn(sentences, tokens, vertices) - 7.0  # as of a thousand words
    logits = torch.randn(sentences, vertices, vertices)
    links = log_softmax(logits, later(sizes, vertices)).to(device)
    lengths = torch.full_like(sizes, tokens)
    wanted = scores.to(device).requires_grad_(), links.requires_grad_()
    return *wanted, lengths.to(device), sizes.to(device)


def measure(way: Way, size: tuple[int, int, int], repeats: int) -> dict[str, float]:
    """Return median "seconds" forward and backward, "bytes" at the peak over those before, "loss".

    There is one thread. The first repeat is the warm-up and counts for memory alone. On a GPU the
    bytes are those of the GPU.
    """
    torch.set_num_threads(1)
    device, total = way
    scores, links, *rest = problem(*size, device)
    before, seconds, loss = _held(device), [], torch.tensor(0.0)
    for _ in range(repeats + 1):
        scores.grad = links.grad = None
        start = _now(device)
        loss = -total(scores, links, *rest).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        seconds.append(_now(device) - start)
    return {
        "seconds": median(seconds[1:]),
        "bytes": _held(device, peak=True) - before,
        "loss": float(loss.detach()),
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
    for name, way in ways().items():
        found = in_child(partial(measure, way, size, given.repeats), name)
        print(
            f"| {name} | {found['seconds'] * 1e3:.1f} | {found['bytes'] / 1e6:.0f} "
            f"| {found['loss']:.2f} |"
        )


if __name__ == "__main__":
    main()
