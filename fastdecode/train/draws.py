"""Random draws that depend on nothing but (seed, update, example).

A training that is killed and resumed, or whose batches are shared out differently, draws the same
numbers for the same sentences; the global random state is left alone.
"""

from collections.abc import Iterable, Sequence
from zlib import crc32

import torch
from torch import Tensor

WORD = 0xFFFFFFFFFFFFFFFF


def source_ids(sources: Iterable[Sequence[str]]) -> Tensor:
    """Return ids (B) for sources that have none, by what they say: no draw depends on a batch."""
    return torch.tensor([crc32(" ".join(tokens).encode()) for tokens in sources])


def keyed_integers(ids: Tensor, high: int, seed: int, update: int) -> Tensor:
    """Return an integer below `high` for every example id (B), on the device of `ids`."""
    numbers = [_mix(_mix(_mix(seed) ^ update) ^ number) % high for number in ids.tolist()]
    return torch.tensor(numbers, device=ids.device)


def keyed_uniforms(ids: Tensor, count: int, seed: int, update: int) -> Tensor:
    """Return numbers in [0, 1): (B, count) in fp64 for the example ids (B), on their device.

    The n-th number of an example depends on n, not on `count`: padding changes nothing.
    """
    key = _mix(_mix(seed) ^ update)
    of_example = _mix_all(ids ^ _signed(key))  # (B)
    mixed = _mix_all(of_example[:, None] ^ torch.arange(count, device=ids.device))
    return _shifted(mixed, 11).double() / (1 << 53)


def keyed_seed(example: int, seed: int, update: int) -> int:
    """Return a seed of 63 bits for a generator of random numbers."""
    return _mix(_mix(_mix(seed) ^ update) ^ example) >> 1


def _mix(number: int) -> int:
    """Scatter a number over 64 bits (the finaliser of SplitMix64, Steele et al. 2014)."""
    number = (number + 0x9E3779B97F4A7C15) & WORD
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & WORD
    return number ^ (number >> 31)


def _mix_all(numbers: Tensor) -> Tensor:
    """Do what `_mix` does to every number of an int64 tensor, which holds the 64 bits as signed."""
    numbers = numbers + _signed(0x9E3779B97F4A7C15)
    numbers = (numbers ^ _shifted(numbers, 30)) * _signed(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ _shifted(numbers, 27)) * _signed(0x94D049BB133111EB)
    return numbers ^ _shifted(numbers, 31)


def _shifted(numbers: Tensor, bits: int) -> Tensor:
    """Shift to the right, zeros coming in, whatever the sign."""
    return (numbers >> bits) & ((1 << (64 - bits)) - 1)


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number
