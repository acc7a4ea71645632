"""The kernels in Triton's interpreter, on a CPU, against the naive twins; compiled for a GPU.

Both in new processes, not forked ones: the interpreter is chosen when Triton is imported, and some
of PyTorch imports it.
"""

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.util import find_spec
from math import inf
from multiprocessing import get_context
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest
import torch
from torch import Tensor

from fastdecode.families.dag.links import later, log_softmax
from fastdecode.families.dag.naive import max_paths, sum_paths
from fastdecode.families.dag.paths import (
    Sums,
    band,
    by_kernel,
    by_products,
    log_likelihood,
    path_by_kernel,
    path_by_maxima,
    score_path,
)
from fastdecode.families.dag.sweep import Sweep, sweep
from tests.families.dag.conftest import path_scores, random_target, two_chains
from tests.gpu import needs_gpu

Problem = tuple[Tensor, Tensor, Tensor, Tensor]
T = TypeVar("T")

pytestmark = pytest.mark.skipif(  # without importing it
    find_spec("triton") is None, reason="Triton is not installed: pip install -e '.[triton]'"
)


def in_new_process(task: Callable[[], T]) -> T:
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(task).result()


def hard() -> Problem:
    """Paths that single precision forgets, in the second sentence; see test_paths.py.

    Some tokens are so improbable there that both sides end with no mass at all, and no total: this
    is noticed without the sides being compared. In `two_chains` they have to be.
    """
    scores, links, lengths, sizes = (x[:1] for x in random_target(5, 1, 6, 12))
    far, jumps = scores.clone(), links.clone()
    far[0, 1:3, 6:] -= 100
    far[0, 3:5, :6] -= 250
    jumps[0, 1:6, 6:11] -= 400
    both = torch.cat([scores, far]).float(), torch.cat([links, jumps]).float()
    return *both, lengths.repeat(2), sizes.repeat(2)


def padded() -> Problem:
    """More tokens than vertices, all behind the ends of the targets."""
    scores, links, lengths, sizes = random_target(2, 3, 3, 5)
    return torch.cat([scores, torch.zeros_like(scores)], dim=1), links, lengths, sizes


def infeasible() -> Problem:
    """The first target is longer than its graph."""
    scores, links, lengths, sizes = random_target(2, 2, 6, 7)
    sizes, lengths = torch.tensor([4, 7]), torch.tensor([6, 6])
    return scores, log_softmax(torch.zeros_like(links), later(sizes, 7)), lengths, sizes


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "ragged": partial(random_target, 1),
    "two tokens": partial(random_target, 3, 3, 2, 5),
    "one path": partial(random_target, 4, 2, 6, 6),
    "several tiles": partial(random_target, 6, 2, 4, 37),
    "padded": padded,
}


def single(problem: Problem) -> Problem:
    """The same in single precision."""
    return problem[0].float(), problem[1].float(), *problem[2:]


def gradients(total: Callable[..., Tensor], problem: Problem) -> list[Any]:
    """Values (B) and gradients with respect to scores and to what links are the softmax of."""
    scores, links, lengths, sizes = problem
    allowed = later(sizes, links.shape[1])
    logits = links.masked_fill(~allowed, 0.0).requires_grad_()
    scores = scores.clone().requires_grad_()
    value = total(scores, log_softmax(logits, allowed), lengths, sizes)
    return [
        x.detach().cpu().numpy()
        for x in (value, *torch.autograd.grad(value.sum(), (scores, logits)))
    ]


def swept(function: Sweep, problem: Problem) -> list[Any]:
    """What a sweep finds, up to the ends of targets."""
    scores, links, lengths, sizes = problem
    allowed = band(lengths, sizes, *scores.shape[1:])
    chances = scores.exp().where(allowed, 0.0).transpose(0, 1).contiguous()
    found = function(chances, links.exp(), allowed, lengths, sizes)
    found.ahead[0] = 0  # nobody asks for it, nor for what no step was taken to
    found.scales_back[lengths - 1, torch.arange(len(lengths))] = 1
    there = torch.arange(len(chances), device=lengths.device)[:, None] < lengths
    return [x[there].cpu().numpy() for x in found]


def interpret() -> dict[str, Any]:
    """Solve all problems with the kernels."""
    os.environ["TRITON_INTERPRET"] = "1"
    from fastdecode.families.dag import kernel

    kernel.TILE = 128  # small, for several tiles a step in small graphs

    def total(*problem: Tensor) -> Tensor:
        total, recomputed = log_likelihood(*problem, sums=by_kernel)
        assert not recomputed.any()  # or log space would hide what is wrong
        return total

    def values(problem: Problem) -> list[Any]:
        return [x.numpy() for x in log_likelihood(*problem, sums=by_kernel)]

    problems = {name: problem() for name, problem in PROBLEMS.items()}
    return {
        "double": {name: gradients(total, problem) for name, problem in problems.items()},
        "single": {name: gradients(total, single(problem)) for name, problem in problems.items()},
        "swept": {name: swept(kernel.sweep, problem) for name, problem in problems.items()},
        "path": {name: path_by_kernel(*problem).numpy() for name, problem in problems.items()},
        "hard": values(hard()),
        "two chains": values(single(two_chains())),
        "infeasible": values(infeasible()),
    }


@pytest.fixture(scope="module")
def solved() -> dict[str, Any]:
    return in_new_process(interpret)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(("precision", "atol"), [("double", 1e-10), ("single", 1e-4)])
def test_values_and_gradients_are_those_of_the_twins(
    solved: Any, name: str, precision: str, atol: float
) -> None:
    problem = PROBLEMS[name]()
    found = [torch.from_numpy(x).double() for x in solved[precision][name]]
    for twin in (sum_paths, lambda *x: log_likelihood(*x, sums=by_products)[0]):
        expected = [torch.from_numpy(x) for x in gradients(twin, problem)]
        assert all(torch.allclose(a, b, 0, atol) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_step_is_the_twins(solved: Any, name: str) -> None:
    expected = swept(sweep, PROBLEMS[name]())
    for a, b in zip(solved["swept"][name], expected, strict=True):
        assert a == pytest.approx(b, abs=1e-12)


@needs_gpu
@pytest.mark.parametrize("name", PROBLEMS)
def test_on_a_gpu_too_they_are_the_twins(name: str) -> None:
    from fastdecode.families.dag import kernel

    problem = PROBLEMS[name]()
    there = tuple(x.to("cuda") for x in problem)
    for a, b in zip(swept(kernel.sweep, there), swept(sweep, problem), strict=True):
        assert a == pytest.approx(b, abs=1e-12)
    assert torch.equal(kernel.best_path(*there).cpu(), path_by_maxima(*problem))


@needs_gpu
@pytest.mark.parametrize("shape", [(32, 30, 240), (4, 64, 1024)])
def test_on_a_gpu_batches_of_training_give_the_twins_gradients_every_time(
    shape: tuple[int, int, int],
) -> None:
    """In single precision, and again and again: what depends on who comes first would differ."""
    problem = tuple(x.to("cuda") for x in single(random_target(7, *shape)))

    def found_by(sums: Sums) -> list[Tensor]:
        total = gradients(lambda *x: log_likelihood(*x, sums=sums)[0], problem)
        return [torch.from_numpy(x) for x in total]

    expected, again = found_by(by_products), [found_by(by_kernel) for _ in range(20)]
    for found in again:
        assert all(torch.allclose(a, b, 1e-4, 1e-4) for a, b in zip(found, expected, strict=True))
        assert all(torch.equal(a, b) for a, b in zip(found, again[0], strict=True))


def test_values_are_the_sums_of_all_paths(solved: Any) -> None:
    scores, links, lengths, sizes = PROBLEMS["ragged"]()
    for b, (length, size) in enumerate(zip(lengths.tolist(), sizes.tolist(), strict=True)):
        every = path_scores(scores[b], links[b], length, size).values()
        total = torch.tensor(list(every), dtype=torch.float64).logsumexp(0)
        assert solved["double"]["ragged"][0][b] == pytest.approx(float(total), abs=1e-10)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_best_path_is_the_twins(solved: Any, name: str) -> None:
    problem = PROBLEMS[name]()
    path = torch.from_numpy(solved["path"][name])
    assert torch.equal(path, path_by_maxima(*problem))
    assert torch.allclose(score_path(*problem[:3], path), max_paths(*problem))


def test_a_sentence_beyond_single_precision_is_recomputed(solved: Any) -> None:
    total, recomputed = solved["hard"]
    assert recomputed.tolist() == [False, True]
    assert torch.allclose(torch.from_numpy(total), sum_paths(*hard()))


def test_a_path_that_both_sides_lose_is_noticed(solved: Any) -> None:
    total, recomputed = solved["two chains"]
    assert recomputed.all()
    assert float(total[0]) == pytest.approx(float(sum_paths(*two_chains())), rel=1e-6)


def test_an_infeasible_target_has_no_path(solved: Any) -> None:
    total, recomputed = solved["infeasible"]
    assert total[0] == -inf
    assert recomputed.tolist() == [True, False]
    assert total[1] == pytest.approx(float(sum_paths(*infeasible())[1]))


def compile_for_gpu() -> dict[str, tuple[int, int]]:
    """Return the barriers and the bytes of machine code of each kernel, for an H100.

    They are launched as on a GPU, but for the launch itself.
    """
    os.environ.pop("TRITON_INTERPRET", None)
    from triton.backends.compiler import GPUTarget
    from triton.runtime import driver

    from fastdecode.families.dag import kernel

    device = {
        "get_current_target": lambda: GPUTarget("cuda", 90, 32),
        "get_current_device": lambda: 0,
        "get_current_stream": lambda _: 0,
    }
    driver.set_active(SimpleNamespace(**device))
    found = {}

    def compile_only(launch: Callable[..., Any], *given: Any, **options: Any) -> None:
        done = launch(*given, **options | {"warmup": True})
        found[done.name] = done.asm["ttir"].count("barrier"), len(done.asm["cubin"])

    for function in (kernel._sweep, kernel._best_path):
        function.run = partial(compile_only, function.run)
    problem = single(random_target(1, 2, 3, 200))
    log_likelihood(*problem, sums=by_kernel)
    path_by_kernel(*problem)
    return found


def test_the_kernels_compile_and_keep_their_barriers(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    found = in_new_process(compile_for_gpu)
    # Where threads read what others wrote; the interpreter has no threads and would not miss them.
    assert {name: barriers for name, (barriers, _) in found.items()} == {
        "_sweep": 2,
        "_best_path": 1,
    }
    assert all(size > 1000 for _, size in found.values())
