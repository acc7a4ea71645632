"""Recording on a CPU as strictly as on a GPU: kernels alone are repeated, no line of Python."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

WAITS = ("_local_scalar_dense", "nonzero", "masked_select", "is_nonzero", "equal", "_to_copy")
OUTSIDE = [  # what passes the tape by
    *((torch, name) for name in ("tensor", "as_tensor", "from_numpy")),
    *((torch.Tensor, name) for name in ("tolist", "numpy", "cpu")),
]


class Tape(TorchDispatchMode):
    """Writes down what PyTorch computes, to compute it again from and into the same tensors."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._calls: list[Callable[[], None]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        assert name not in WAITS or (name == "_to_copy" and "device" not in kwargs), name
        if name.startswith("index"):
            indices = [one for one in tree_flatten(args[1:])[0] if torch.is_tensor(one)]
            assert not any(one.dtype == torch.bool for one in indices), "waits to count"
        found = func(*args, **(kwargs or {}))
        self._calls.append(lambda: _again(func, args, kwargs or {}, found))
        return found

    def play(self) -> None:
        """Compute it all again."""
        for call in self._calls:
            call()


def _again(func: Any, args: Any, kwargs: Any, found: Any) -> None:
    new = tree_flatten(func(*args, **kwargs))[0]
    for mine, other in zip(tree_flatten(found)[0], new, strict=True):
        # what lies in the memory of an input lies there again
        if torch.is_tensor(mine) and mine.data_ptr() != other.data_ptr():
            mine.copy_(other)


def _refused(name: str) -> Callable[..., Any]:
    def refuse(*values: object, **settings: object) -> Any:
        raise AssertionError(f"{name} is no work of the device")

    return refuse


class TapeRecorder:
    """What records in the place of `cuda_graph`: runs the work once before, as it does."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, work: Callable[[], Any]) -> Callable[[], Any]:
        self.count += 1
        work()
        with pytest.MonkeyPatch.context() as patch, Tape() as tape:
            for where, name in OUTSIDE:
                patch.setattr(where, name, _refused(name))
            output = work()

        def repeat() -> Any:
            tape.play()
            return output

        return repeat
