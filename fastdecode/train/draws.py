"""Random draws that depend on nothing but (seed, update, example).

A training that is killed and resumed, or whose batches are shared out differently, draws the same
numbers for the same sentences; the global random state is left alone.
"""

import torch
from torch import Tensor

WORD = 0xFFFFFFFFFFFFFFFF


def keyed_integers(ids: Tensor, high: int, seed: int, update: int) -> Tensor:
    """Return an integer below `high` for every example id (B), on the device of `ids`."""
    numbers = [_mix(_mix(_mix(seed) ^ update) ^ number) % high for number in ids.tolist()]
    return torch.tensor(numbers, device=ids.device)


def keyed_generator(example: int, seed: int, update: int) -> torch.Generator:
    """Return a generator of random numbers for one example, on the CPU."""
    return torch.Generator().manual_seed(_mix(_mix(_mix(seed) ^ update) ^ example) >> 1)


def _mix(number: int) -> int:
    """Scatter a number over 64 bits (the finaliser of SplitMix64, Steele et al. 2014)."""
    number = (number + 0x9E3779B97F4A7C15) & WORD
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & WORD
    return number ^ (number >> 31)
