"""Which of two ways is taken on a GPU: the faster one, where both have been seen to agree.

A kernel that is right in a test may be wrong on a device, or slower there than what it replaces. So
the first problem of every kind is solved both ways, compared and timed, and the log says what came
of it. That costs a few seconds, most of them for compiling, and there is nothing to set.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from statistics import median
from typing import Generic, TypeVar

import torch
from torch import Tensor

from fastdecode.apart import TOLERANCE, difference

LOGGER = logging.getLogger(__name__)
REPEATS = 5

Result = TypeVar("Result", Tensor, tuple[Tensor, ...])
Work = Callable[[], object]


def gpu_seconds(work: Work) -> float:
    """Return the median time of `work` on the current GPU, the waiting for launches included."""
    found: list[float] = []
    for _ in range(REPEATS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        found.append(begin.elapsed_time(end) / 1e3)
    return median(found)


@cache
def has_triton() -> bool:
    """Return whether Triton is installed, without importing it."""
    return find_spec("triton") is not None


def takes_kernels(tensor: Tensor) -> bool:
    """Return whether a kernel could take `tensor`: on a GPU, where there is Triton."""
    return tensor.is_cuda and has_triton()


@dataclass
class Fastest(Generic[Result]):
    """A function of tensors that has two ways, of which `kernel` has to prove itself.

    Where it is not `possible`, `plain` is taken. Elsewhere the choice is made once for a device, a
    precision and a size: the last dimension of the first tensor, up to a power of two. A kernel
    that fails is not tried again.
    """

    name: str
    plain: Callable[..., Result]
    kernel: Callable[..., Result]
    possible: Callable[[Tensor], bool] = takes_kernels
    seconds: Callable[[Work], float] = gpu_seconds
    failed: bool = False
    chosen: dict[object, Callable[..., Result]] = field(default_factory=dict)

    def __call__(self, *problem: Tensor) -> Result:
        """Return the result of the way that is chosen, or of `plain` if the kernel fails."""
        first = problem[0]
        if self.failed or not self.possible(first):
            return self.plain(*problem)
        width = 1 << (first.shape[-1] - 1).bit_length()
        kind = first.device, first.dtype, width
        try:
            if kind not in self.chosen:
                name = f"{self.name} to {width} vertices"
                self.chosen[kind] = choose(name, self.plain, self.kernel, problem, self.seconds)
            if self.chosen[kind] is self.kernel:
                return self.kernel(*problem)
        except torch.OutOfMemoryError:
            pass  # both at once may be too much: a later problem decides
        except Exception as error:
            self.failed = True
            what = f"{type(error).__name__}: {error}".splitlines()[0]
            LOGGER.warning("%s: PyTorch is used, the kernel failed (%s)", self.name, what)
        return self.plain(*problem)


def choose(
    name: str,
    plain: Callable[..., Result],
    kernel: Callable[..., Result],
    problem: tuple[Tensor, ...],
    seconds: Callable[[Work], float],
) -> Callable[..., Result]:
    """Return `kernel` if on this problem it is equal to `plain` and takes fewer `seconds`.

    A line of the log says which is used.
    """
    apart = difference(plain(*problem), kernel(*problem))
    of_plain = seconds(lambda: plain(*problem))
    of_kernel = seconds(lambda: kernel(*problem))
    used = apart <= TOLERANCE and of_kernel < of_plain
    LOGGER.info(
        "%s: %s is used (kernel %.2f ms, PyTorch %.2f ms, largest difference %.1e)",
        name,
        "the kernel" if used else "PyTorch",
        of_kernel * 1e3,
        of_plain * 1e3,
        apart,
    )
    return kernel if used else plain
