from math import inf, nan

import pytest
import torch

from fastdecode.apart import difference


def test_differences_are_relative_to_large_numbers_and_see_what_is_not_finite() -> None:
    numbers = torch.tensor([-inf, 0.5, 1000.0])
    assert difference(numbers, numbers) == 0
    assert difference(numbers, numbers + torch.tensor([0, 0.25, 0])) == 0.25
    assert difference(numbers, numbers + torch.tensor([0, 0, 10])) == pytest.approx(0.01)
    assert difference(numbers, torch.tensor([-5.0, 0.5, 1000.0])) == inf
    assert difference(numbers, torch.tensor([-inf, nan, 1000.0])) == inf
    assert difference((numbers, numbers > 1), (numbers, numbers > 0)) == 1
