"""How far apart two results are, of which one has to prove itself against the other."""

from math import inf

from torch import Tensor

TOLERANCE = 1e-4  # of a difference, relative where numbers are larger than 1

Result = Tensor | tuple[Tensor, ...]


def difference(expected: Result, found: Result) -> float:
    """Return the largest difference of two results, over what is expected where that is above 1."""
    if isinstance(expected, Tensor) or isinstance(found, Tensor):
        assert isinstance(expected, Tensor) and isinstance(found, Tensor)
        return difference((expected,), (found,))
    worst = 0.0
    for a, b in zip(expected, found, strict=True):
        if not a.numel():
            continue
        a, b = a.double(), b.double()
        apart = ((a - b).abs() / a.abs().clamp(min=1.0)).where(a != b, 0.0)  # infinities may agree
        worst = max(worst, float(apart.nan_to_num(nan=inf, posinf=inf).max()))
    return worst
