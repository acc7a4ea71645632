"""Work on a GPU that is recorded once and then repeated: one launch for a hundred kernels.

A CUDA graph repeats what it recorded on the very same memory. So what is recorded reads its input
from buffers that stay where they are, and sizes are rounded up, so that few graphs are recorded.
Each of them has to prove itself: where one cannot be recorded, or says something else than the work
itself, this is done instead, and the log says so.
"""

import logging
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from fastdecode.apart import TOLERANCE, difference

LOGGER = logging.getLogger(__name__)
BLOCK = 32  # sizes are multiples of it

Output = TypeVar("Output", Tensor, tuple[Tensor, ...])
Work = Callable[[], Output]


def pays(module: Any) -> bool:
    """Whether passes of `module` over a sentence alone are recorded: where a GPU computes them."""
    return bool(next(module.parameters()).device.type == "cuda")


def cuda_graph(work: Work[Output]) -> Work[Output]:
    """Record `work` on the current GPU; return what runs it again and gives the same tensors."""
    stream = _aside()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        work()  # once before, as CUDA wants it: libraries set themselves up at their first call
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = work()
    return partial(_replay, graph, output, work)


def _replay(graph: Any, output: Output, work: Work[Output]) -> Output:
    """Run `graph`, which recorded `work`: kept, since the graph reads the tensors that it holds."""
    graph.replay()
    return output


@cache
def _aside() -> Any:
    """Return the stream on which work runs first: one, since each keeps memory of its own."""
    return torch.cuda.Stream()


def repeated(
    name: str, work: Work[Output], own: Sequence[Tensor], inputs: Sequence[Tensor]
) -> Work[Output]:
    """Record `work`, which reads its input from the tensors `own` and may change them.

    Returns its repetition, if that gives what the work itself makes of `inputs`; else the work.
    """
    put(inputs, own)
    output = work()
    expected = output.clone() if isinstance(output, Tensor) else tuple(x.clone() for x in output)
    try:
        repeat = cuda_graph(work)
    except RuntimeError as error:
        LOGGER.warning("%s cannot be recorded: %s", name, str(error).splitlines()[0])
        return work
    put(inputs, own)
    apart = difference(expected, repeat())
    if apart > TOLERANCE:
        LOGGER.warning("%s is not recorded: the repetition differs by %.1e", name, apart)
        return work
    return repeat


def put(inputs: Sequence[Tensor], own: Sequence[Tensor]) -> None:
    """Copy `inputs` into the tensors that are read."""
    for buffer, one in zip(own, inputs, strict=True):
        buffer.copy_(one)


def up(count: int, to: int = BLOCK) -> int:
    """Return the next multiple of `to`."""
    return -(-count // to) * to


def first_of(count: int, size: int, device: torch.device) -> Tensor:
    """Return which of `size` places are among the first `count`: (size)."""
    return torch.arange(size, device=device) < count


class Recorded(Generic[Output]):
    """A function of tensors alone, recorded once for all inputs of the same sizes.

    It must neither wait for the device nor ask for anything but its inputs and what never changes.
    """

    def __init__(self, function: Callable[..., Output], name: str = ""):
        """Repeat `function`, of which the log speaks by its `name`."""
        self._function: Callable[..., Output] = function
        self._name = name or type(self).__name__
        self._repeats: dict[object, tuple[Work[Output], list[Tensor]]] = {}  # by sizes

    def __call__(self, *inputs: Tensor) -> Output:
        """Return what the function makes of `inputs`. The next call of these sizes overwrites it.

        What was returned may be an input of the next call.
        """
        sizes = tuple((one.shape, one.dtype) for one in inputs)
        if sizes not in self._repeats:
            own = [one.clone() for one in inputs]
            work = partial(self._function, *own)
            self._repeats[sizes] = repeated(self._name, work, own, inputs), own
        repeat, own = self._repeats[sizes]
        put(inputs, own)
        return repeat()
