"""Work on a GPU that is recorded once and then repeated: one launch for a hundred kernels.

A CUDA graph repeats what it recorded on the very same memory. So what is recorded reads its input
from buffers that stay where they are, and sizes are rounded up, so that few graphs are recorded.
What cannot be recorded, or says something else when it is repeated, is done anew each time, and the
log says so, and the record of a timing.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any, Generic, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor

from fastdecode.apart import TOLERANCE, difference

LOGGER = logging.getLogger(__name__)
BLOCK = 32  # sizes are multiples of it
LARGE = 2**26  # bytes of an output: where there are as many, launches are not what takes the time
RESERVE = 1 / 8  # of a GPU's memory that recordings leave free

Output = TypeVar("Output", Tensor, tuple[Tensor, ...])
Work = Callable[[], Output]


def pays(module: Any) -> bool:
    """Whether passes of `module` over a sentence alone are recorded: where a GPU computes them."""
    return bool(next(module.parameters()).device.type == "cuda")


def up(count: int, to: int = BLOCK) -> int:
    """Return the next multiple of `to`."""
    return -(-count // to) * to


def padded(x: Tensor, *dims: int, value: float = 0) -> Tensor:
    """Return `x` with the sizes of these `dims`, counted from the last, -1, rounded up.

    What is new there is `value`.
    """
    more = [0] * -min(dims)
    for dim in dims:
        more[-dim - 1] = up(x.shape[dim]) - x.shape[dim]
    return F.pad(x, [size for one in more for size in (0, one)], value=value)


def seen(x: Tensor, dim: int) -> Tensor:
    """Return what of this dimension `padded` left as it was, a mask of attention (1, 1, 1, n)."""
    count = x.shape[dim]
    return (torch.arange(up(count), device=x.device) < count)[None, None, None]


class Pinned:
    """Tensors that stay where they are, so that what is recorded may read them there."""

    def __init__(self) -> None:
        """Keep none yet."""
        self._kept: dict[object, Tensor] = {}  # by name and size

    def __call__(self, name: str, x: Tensor) -> Tensor:
        """Return `x` in its place; the next of this `name` and size takes it over."""
        key = name, x.shape, x.dtype
        if key not in self._kept:
            self._kept[key] = torch.empty_like(x, memory_format=torch.contiguous_format)
        return self._kept[key].copy_(x)


class Recorded(Generic[Output]):
    """A function of tensors alone, recorded once for all inputs of the same sizes.

    It must neither wait for the device nor ask for anything but its inputs and what never changes.
    Of that the comparison, which is with the inputs that it is recorded with, does not tell all:
    tests repeat recordings with other inputs (tests/tape.py).
    """

    def __init__(self, function: Callable[..., Output], name: str):
        """Repeat `function`, of which the log speaks by its `name`."""
        self._function: Callable[..., Output] = function
        self._name = name
        self._repeats: dict[object, tuple[Work[Output], list[Tensor]]] = {}

    def __call__(self, *inputs: Tensor, pinned: Sequence[Tensor] = ()) -> Output:
        """Return what the function makes of `inputs` and, behind them, of what is `pinned`.

        The next call of these sizes overwrites it. What was returned may be an input of the next
        call. What is pinned is read where it lies, and not changed.
        """
        key = (
            tuple((one.shape, one.dtype) for one in inputs),
            tuple((one.shape, one.data_ptr()) for one in pinned),
        )
        if key not in self._repeats:
            own = [one.clone() for one in inputs]
            work = partial(self._function, *own, *pinned)
            self._repeats[key] = _repeated(self._name, work, own, inputs), own
        repeat, own = self._repeats[key]
        _put(inputs, own)
        return repeat()


def _repeated(
    name: str, work: Work[Output], own: Sequence[Tensor], inputs: Sequence[Tensor]
) -> Work[Output]:
    """Record `work`, which reads its input from the tensors `own` and may change them.

    Returns its repetition, if that gives what the work itself makes of `inputs`; else the work.
    """
    _put(inputs, own)
    output = work()
    parts = (output,) if isinstance(output, Tensor) else output
    if sum(part.nbytes for part in parts) > LARGE:
        return work
    expected = output.clone() if isinstance(output, Tensor) else tuple(x.clone() for x in output)
    try:
        repeat = cuda_graph(work)
    except RuntimeError as error:
        cause = error.__context__ or error  # of the end of a recording that had failed before
        _refuse(name, str(cause).partition("\n")[0])
        return work
    _put(inputs, own)
    apart = difference(expected, repeat())
    if apart > TOLERANCE:
        _refuse(name, f"the repetition differs by {apart:.1e}")
        return work
    return repeat


_refused: list[str] = []  # in this process


def _refuse(name: str, why: str) -> None:
    _refused.append(f"{name}: {why}")
    LOGGER.warning("%s is not recorded: %s", name, why)


def refusals() -> list[str]:
    """Return what should have been recorded in this process and was not, for a timing's record."""
    return list(dict.fromkeys(_refused))


def _put(inputs: Sequence[Tensor], own: Sequence[Tensor]) -> None:
    """Copy `inputs` into the tensors that are read, where they do not lie there already."""
    for buffer, one in zip(own, inputs, strict=True):
        if buffer is not one:
            buffer.copy_(one)


_failures: list[str] = []  # of recordings in this process


def cuda_graph(work: Work[Output]) -> Work[Output]:
    """Record `work` on the current GPU; return what runs it again and gives the same tensors.

    Raises RuntimeError where it cannot be recorded, and from then on always: what a recording that
    fails leaves behind in CUDA and PyTorch is not relied on for another. PyTorch's own draws on the
    GPU fail afterwards, too; no decoder asks for them. Where little memory is left, of which each
    recording keeps some, none is tried: then others may be, later.
    """
    if _failures:
        raise RuntimeError(f"a recording of this process failed before ({_failures[0]})")
    _check_memory()
    here = torch.cuda.current_stream()
    aside = _aside(here)
    aside.wait_stream(here)
    with torch.cuda.stream(aside):
        work()  # once before, as CUDA wants it: libraries set themselves up at their first call
    here.wait_stream(aside)
    graph, pool = torch.cuda.CUDAGraph(), torch.cuda.graph_pool_handle()
    try:
        with torch.cuda.graph(graph, pool=pool, stream=aside):
            output = work()
    except RuntimeError as error:
        _failures.append(str(error.__context__ or error).partition("\n")[0])
        torch.cuda.set_stream(here)  # PyTorch stays on the other one, and goes on to take memory
        with suppress(RuntimeError):  # from the pool of the graph that there is not
            torch._C._cuda_endAllocateToPool(here.device_index, pool)
        raise
    return partial(_replay, graph, output, work)


def _check_memory() -> None:
    free, total = torch.cuda.mem_get_info()
    if free < RESERVE * total:
        torch.cuda.empty_cache()  # what PyTorch keeps for others is of no use to a recording
        free, total = torch.cuda.mem_get_info()
    if free < RESERVE * total:
        raise RuntimeError(f"only {free / 2**30:.1f} GB of {total / 2**30:.1f} are free on the GPU")


def _replay(graph: Any, output: Output, work: Work[Output]) -> Output:
    """Run `graph`, which recorded `work`: kept, since the graph reads the tensors that it holds."""
    graph.replay()
    return output


@cache
def _aside(stream: Any) -> Any:
    """Return the stream on which work of `stream` is recorded.

    One for each, since it keeps memory of its own. Graphs that run at the same time, on two
    streams, must not have it in common: products use it while they add up.
    """
    return torch.cuda.Stream(stream.device)
