"""The likeliest of a vocabulary's words, without what PyTorch's search for it takes on a CPU."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

BY_NUMPY = (torch.float32, torch.float64)

Highest = Callable[[Tensor], tuple[Tensor, Tensor]]


def highest_of(engine: str) -> Highest:
    """Return what finds the likeliest words: PyTorch's search in the reference tier, or ours."""
    return highest if engine == "fastdecode" else _by_torch


def highest(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Return the highest of the last dimension of `scores` (…, V), and where it first is: (…) each.

    What `scores.max(-1)` is. On a CPU PyTorch takes for it as long as for the product that makes
    the scores, where that is 64 wide, or a seventh of it at 512; NumPy takes a tenth of that or
    less (docs/measurements/benchmark). Waits for nothing on a GPU.
    """
    if scores.device.type == "cpu" and scores.dtype in BY_NUMPY:
        places = torch.from_numpy(np.asarray(scores.numpy().argmax(-1)))
        return scores.gather(-1, places[..., None])[..., 0], places
    return _by_torch(scores)


def _by_torch(scores: Tensor) -> tuple[Tensor, Tensor]:
    best, places = scores.max(-1)
    return best, places
