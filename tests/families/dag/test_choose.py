"""A kernel is used where it is equal and faster; the clock is ours."""

import logging
from collections.abc import Callable
from dataclasses import replace
from math import nan
from typing import Any

import pytest
import torch
from torch import Tensor

from fastdecode.families.dag import paths
from fastdecode.families.dag.choose import Fastest, choose, takes_kernels
from fastdecode.families.dag.paths import best_path, by_products, log_likelihood, path_by_maxima
from tests.families.dag.conftest import random_target

GIVEN = torch.arange(6.0).reshape(2, 3)


class Way:
    """A function that adds `error` to the sum, takes `seconds` and counts its calls."""

    def __init__(self, seconds: float, error: float = 0.0, failure: Exception | None = None):
        self.seconds, self.error, self.failure, self.calls = seconds, error, failure, 0

    def __call__(self, numbers: Tensor) -> tuple[Tensor, ...]:
        self.calls += 1
        if self.failure:
            raise self.failure
        clock.now += self.seconds
        return numbers.sum(1) + self.error, numbers > 2


class Clock:
    now = 0.0

    def __call__(self, work: Callable[[], object]) -> float:
        before = self.now
        work()
        return self.now - before


clock = Clock()


def fastest(plain: Way, kernel: Way) -> Fastest[tuple[Tensor, ...]]:
    return Fastest("sum", plain, kernel, possible=lambda _: True, seconds=clock)


@pytest.mark.parametrize(
    ("seconds", "error", "used"),
    [(1.0, 0.0, True), (1.0, 1e-6, True), (3.0, 0.0, False), (1.0, 0.01, False), (1.0, nan, False)],
)
def test_the_kernel_is_used_where_it_is_equal_and_faster(
    seconds: float, error: float, used: bool, caplog: pytest.LogCaptureFixture
) -> None:
    plain, kernel = Way(2.0), Way(seconds, error)
    caplog.set_level(logging.INFO)
    assert choose("sum", plain, kernel, (GIVEN,), clock) is (kernel if used else plain)
    (line,) = caplog.messages
    assert f"sum: {'the kernel' if used else 'PyTorch'} is used" in line
    assert f"kernel {seconds * 1e3:.2f} ms, PyTorch 2000.00 ms" in line


def test_the_choice_is_made_once_for_a_size_and_a_precision(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    function = fastest(Way(2.0), Way(1.0))
    for numbers in (GIVEN, GIVEN[:1], GIVEN.repeat(1, 2), GIVEN.double(), GIVEN):
        assert torch.equal(function(numbers)[0], numbers.sum(1))
    assert [line.partition(":")[0] for line in caplog.messages] == [
        "sum to 4 vertices",
        "sum to 8 vertices",
        "sum to 4 vertices",
    ]
    assert function.plain.calls == 3 * 2  # type: ignore[attr-defined]


@pytest.mark.parametrize("late", [False, True])
def test_a_kernel_that_fails_is_left_with_one_warning(
    late: bool, caplog: pytest.LogCaptureFixture
) -> None:
    plain, kernel = Way(2.0), Way(1.0)
    function = fastest(plain, kernel)
    if late:  # behind the choice, such as compiling for numbers of another kind
        function(GIVEN)
        caplog.clear()
    kernel.failure = RuntimeError("no such instruction\nat line 7")
    for _ in range(2):
        assert torch.equal(function(GIVEN)[0], GIVEN.sum(1))
        assert torch.equal(function(GIVEN.repeat(1, 4))[0], 4 * GIVEN.sum(1))
    assert caplog.messages == [
        "sum: PyTorch is used, the kernel failed (RuntimeError: no such instruction)"
    ]


def test_too_little_memory_is_no_failure_of_the_kernel(caplog: pytest.LogCaptureFixture) -> None:
    plain, kernel = Way(2.0), Way(1.0, failure=torch.OutOfMemoryError("full"))
    function = fastest(plain, kernel)
    function(GIVEN)
    assert not caplog.messages
    kernel.failure = None
    function(GIVEN)
    calls = plain.calls
    function(GIVEN)
    assert plain.calls == calls  # the kernel alone


def test_an_error_of_both_ways_is_raised() -> None:
    with pytest.raises(ValueError, match="bad"):
        fastest(Way(1.0, failure=ValueError("bad")), Way(1.0))(GIVEN)


def test_nothing_is_tried_on_a_cpu(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    assert not takes_kernels(GIVEN)
    plain, kernel = Way(2.0), Way(1.0)
    Fastest("sum", plain, kernel)(GIVEN)
    assert (plain.calls, kernel.calls, caplog.messages) == (1, 0, [])


@pytest.mark.parametrize(
    ("name", "twin", "function"),
    [("_fastest_sums", by_products, log_likelihood), ("_fastest_path", path_by_maxima, best_path)],
)
def test_the_loss_and_the_best_path_choose(
    name: str, twin: Any, function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = getattr(paths, name)
    assert (chosen.plain, chosen.possible) == (twin, takes_kernels)
    calls = []

    def kernel(*problem: Tensor) -> Any:
        calls.append(problem)
        return twin(*problem)

    def seconds(work: Callable[[], object]) -> float:
        work()
        return 1.0 / len(calls)

    always = replace(chosen, kernel=kernel, possible=lambda _: True, seconds=seconds, chosen={})
    monkeypatch.setattr(paths, name, always)
    function(*random_target(1))
    assert len(calls) == 3  # compared, timed, used
