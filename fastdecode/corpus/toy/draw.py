"""Random draws that are the same on every platform and Python version.

Weights are integers: `sum` rounds floats differently from Python 3.12 on.
"""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A stream of draws that depends on its key alone.

    Only `Random(text)` and `random()` are used: their results are part of Python's promise, those
    of `choice` or `sample` are not.
    """

    def __init__(self, *key: object) -> None:
        """Start the stream of this key."""
        self._random = random.Random("/".join(map(str, key)))

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self._random.random() < probability

    def below(self, end: int) -> int:
        """Return an integer from 0 up to `end` - 1."""
        return int(self._random.random() * end)

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options, each as likely as the others."""
        return options[self.below(len(options))]

    def early(self, options: Sequence[T]) -> T:
        """Return one of the options, early ones more often: option i weighs about 1 / (i + 3)."""
        return self.weighted([(9240 // (i + 3), option) for i, option in enumerate(options)])

    def weighted(self, options: Sequence[tuple[int, T]]) -> T:
        """Return one of the options by weight."""
        rest = self.below(sum(weight for weight, _ in options))
        for weight, option in options:
            if rest < weight:
                return option
            rest -= weight
        raise AssertionError("no weights")
