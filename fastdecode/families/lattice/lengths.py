"""How long a translation will be: least squares of target on source length.

Lengths are BPE tokens without `</s>` on both sides.
"""

from dataclasses import asdict, dataclass
from math import floor, sqrt
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from fastdecode.errors import UserError
from fastdecode.files import read_json, write_json


@dataclass(frozen=True)
class LengthLine:
    """The line T = a · S + b through the lengths of a training text."""

    a: float
    b: float
    pairs: int
    residual_sd: float
    """Standard deviation of T around the line, in tokens."""

    def predict(self, source: int) -> int:
        """Return T, at least 1, for a source of `source` tokens; halves are rounded up.

        A lattice has one slot more, for `</s>`: that is its search's business.
        """
        return max(1, floor(self.a * source + self.b + 0.5))


class LengthFit:
    """The sums that the line is found from, exact however long the text."""

    def __init__(self) -> None:
        """Begin without any pair."""
        self._n = self._x = self._y = self._xx = self._xy = self._yy = 0

    def add(self, source: NDArray[Any], target: NDArray[Any]) -> None:
        """Take in the lengths of some pairs."""
        self._n += len(source)
        self._x += int(source.sum())
        self._y += int(target.sum())
        self._xx += int(source @ source)
        self._xy += int(source @ target)
        self._yy += int(target @ target)

    def line(self) -> LengthLine:
        """Return the line; a level one if all sources are equally long.

        Raises UserError if there were no pairs.
        """
        if not self._n:
            raise UserError("no pairs to fit lengths to")
        n = self._n
        # n² times the variances and the covariance, in integers: nothing cancels.
        xx, xy, yy = (
            n * self._xx - self._x**2,
            n * self._xy - self._x * self._y,
            n * self._yy - self._y**2,
        )
        a = xy / xx if xx else 0.0
        b = (self._y - a * self._x) / n
        left = (yy * xx - xy**2) / (xx * n) if xx else yy / n  # sum of squared residuals
        return LengthLine(a, b, n, sqrt(left / (n - 2)) if n > 2 else 0.0)


def write_lengths(path: Path, lengths: LengthLine, origin: dict[str, Any]) -> None:
    """Write `lengths` to a JSON file, with its provenance `origin`."""
    write_json(path, {**asdict(lengths), "provenance": origin})


def read_lengths(path: Path) -> LengthLine:
    """Read what write_lengths wrote.

    Raises UserError if it is missing or something else.
    """
    values = read_json(path)
    try:
        values.pop("provenance")
        return LengthLine(**values)
    except (AttributeError, KeyError, TypeError):
        raise UserError(
            f"{path}: not the lengths of a training text: delete it and run again"
        ) from None
