"""Sums and maxima over paths against enumeration, and the fast ones against the naive."""

from itertools import pairwise
from math import inf

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fastdecode.families.dag import paths
from fastdecode.families.dag.links import later, log_softmax
from fastdecode.families.dag.naive import max_paths, sum_paths
from fastdecode.families.dag.paths import (
    band,
    best_path,
    log_likelihood,
    posteriors,
    score_path,
)
from fastdecode.families.dag.sweep import sweep
from tests.families.dag.conftest import every_path, path_scores, random_target, two_chains

seeds = st.integers(0, 10_000)


@settings(max_examples=30)
@given(seed=seeds, tokens=st.integers(2, 5))
def test_sums_and_maxima_are_those_of_all_paths(seed: int, tokens: int) -> None:
    scores, links, lengths, sizes = random_target(seed, tokens=tokens)
    fast, recomputed = log_likelihood(scores, links, lengths, sizes)
    best = score_path(scores, links, lengths, best_path(scores, links, lengths, sizes))
    assert not recomputed.any()
    for b, (length, size) in enumerate(zip(lengths.tolist(), sizes.tolist(), strict=True)):
        found = path_scores(scores[b], links[b], length, size)
        every = torch.tensor(list(found.values()), dtype=torch.float64)
        assert fast[b] == pytest.approx(float(every.logsumexp(0)), abs=1e-9)
        assert best[b] == pytest.approx(float(every.max()), abs=1e-9)
    assert torch.allclose(sum_paths(scores, links, lengths, sizes), fast)
    assert torch.allclose(max_paths(scores, links, lengths, sizes), best)


@pytest.mark.parametrize("function", [sum_paths, lambda *x: log_likelihood(*x)[0]])
@pytest.mark.parametrize("tokens", [2, 4, 7])
def test_gradients_are_exact(function, tokens: int) -> None:  # type: ignore[no-untyped-def]
    scores, _, lengths, sizes = random_target(3, tokens=tokens)
    torch.manual_seed(1)
    logits = torch.randn(len(sizes), scores.shape[2], scores.shape[2]).double().requires_grad_()
    allowed = later(sizes, scores.shape[2])
    assert torch.autograd.gradcheck(
        lambda a, b: function(a, log_softmax(b, allowed), lengths, sizes),
        (scores.requires_grad_(), logits),
    )


@settings(max_examples=20)
@given(seed=seeds)
def test_the_gradient_is_the_posterior_of_the_paths(seed: int) -> None:
    scores, links, lengths, sizes = random_target(seed)
    found = posteriors(scores, links, lengths, sizes)
    for b, (length, size) in enumerate(zip(lengths.tolist(), sizes.tolist(), strict=True)):
        every = path_scores(scores[b], links[b], length, size)
        weights = torch.tensor(list(every.values()), dtype=torch.float64).softmax(0)  # equation 7
        expected = torch.zeros_like(scores[b])
        for path, weight in zip(every, weights, strict=True):
            for i, u in enumerate(path):
                expected[i, u] += weight
        assert torch.allclose(found[b], expected, atol=1e-9)


@settings(max_examples=20)
@given(seed=seeds, tokens=st.integers(2, 5))
def test_the_gradient_of_the_best_path_is_one_where_it_stands(seed: int, tokens: int) -> None:
    scores, links, lengths, sizes = random_target(seed, tokens=tokens)
    given_ = scores.requires_grad_(), links.requires_grad_()
    path = best_path(scores, links, lengths, sizes)
    found = torch.autograd.grad(score_path(scores, links, lengths, path).sum(), given_)
    expected = [torch.zeros_like(part) for part in given_]
    for b, (length, size) in enumerate(zip(lengths.tolist(), sizes.tolist(), strict=True)):
        every = path_scores(scores[b].detach(), links[b].detach(), length, size)
        best = max(every, key=lambda path: float(every[path]))
        for i, u in enumerate(best):
            expected[0][b, i, u] = 1
        for u, v in pairwise(best):
            expected[1][b, u, v] = 1
    twin = torch.autograd.grad(max_paths(scores, links, lengths, sizes).sum(), given_)
    for one, other, numbers in zip(found, twin, expected, strict=True):
        assert torch.equal(one, numbers) and torch.equal(other.nan_to_num(0.0), numbers)


@settings(max_examples=15)
@given(seed=seeds, spread=st.sampled_from([1.0, 4.0, 15.0, 60.0]))
def test_single_precision_suffices_or_is_noticed(seed: int, spread: float) -> None:
    scores, links, lengths, sizes = random_target(seed, 6, 20, 60, spread)
    total = sum_paths(scores.requires_grad_(), links, lengths, sizes)
    (gradient,) = torch.autograd.grad(total.sum(), scores)
    single = scores.detach().float().requires_grad_()
    found, _ = log_likelihood(single, links.float(), lengths, sizes)
    (of_found,) = torch.autograd.grad(found.sum(), single)
    assert torch.allclose(found.double(), total, rtol=1e-4, atol=1e-4)
    if spread < 15:  # with more, rounding of the scores alone moves whole paths
        assert torch.allclose(of_found.double(), gradient, atol=2e-3)


@pytest.mark.parametrize("least", [paths.LEAST, 0.0])  # without it there is no total at all
def test_a_sentence_beyond_single_precision_is_recomputed_and_counted(
    least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "LEAST", least)
    scores, links, lengths, sizes = (x[:1] for x in random_target(5, 1, 6, 12))
    # Paths through early vertices are better by e^200 up to the third token, and in the end worse
    # by e^300: single precision has then forgotten the others.
    hard, jumps = scores.clone(), links.clone()
    hard[0, 1:3, 6:] -= 100
    hard[0, 3:5, :6] -= 250
    jumps[0, 1:6, 6:11] -= 400
    both, links = torch.cat([scores, hard]).float(), torch.cat([links, jumps]).float()
    lengths, sizes = (torch.cat([x, x]) for x in (lengths, sizes))
    total, recomputed = log_likelihood(both.requires_grad_(), links, lengths, sizes)
    assert recomputed.tolist() == [False, True]
    assert torch.allclose(total, sum_paths(both, links, lengths, sizes))
    total.sum().backward()
    exact = both.detach().double().requires_grad_()
    naive = sum_paths(exact, links.double(), lengths, sizes).sum()
    (expected,) = torch.autograd.grad(naive, exact)
    assert both.grad is not None
    assert torch.allclose(both.grad.double(), expected, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_path_that_both_sides_lose_is_noticed(dtype: torch.dtype) -> None:
    """What one of them loses, the sums of the other may show; here all sums lack it alike."""
    scores, links, lengths, sizes = two_chains()
    expected = sum_paths(scores.requires_grad_(), links.requires_grad_(), lengths, sizes)
    given_ = [x.detach().to(dtype).requires_grad_() for x in (scores, links)]
    total, recomputed = log_likelihood(*given_, lengths, sizes)
    assert recomputed.all()
    assert total.item() == pytest.approx(expected.item(), rel=1e-6)
    twin = torch.autograd.grad(expected.sum(), (scores, links))
    for found, exact in zip(torch.autograd.grad(total.sum(), given_), twin, strict=True):
        assert torch.allclose(found.double(), exact.nan_to_num(0.0), atol=1e-4)


@settings(max_examples=60)
@given(
    cross=st.floats(-300, 0),
    middle=st.floats(-300, 0),
    end=st.floats(-150, 0),
    dtype=st.sampled_from([torch.float32, torch.float64]),
)
def test_whatever_is_lost_a_sum_that_is_trusted_is_right(
    cross: float, middle: float, end: float, dtype: torch.dtype
) -> None:
    scores, links, lengths, sizes = two_chains(cross, middle, end)
    exact = [part.double().requires_grad_() for part in (scores, links)]
    given_ = [part.to(dtype).requires_grad_() for part in (scores, links)]
    expected = sum_paths(*exact, lengths, sizes)
    found, _ = log_likelihood(*given_, lengths, sizes)
    assert found.item() == pytest.approx(expected.item(), rel=1.01e-4)
    slopes = torch.autograd.grad(found, given_)
    for slope, right in zip(slopes, torch.autograd.grad(expected, exact), strict=True):
        assert torch.allclose(slope.double(), right.nan_to_num(0.0), atol=1e-4)


@settings(max_examples=20)
@given(seed=seeds, spread=st.sampled_from([1.0, 5.0, 25.0]))
def test_the_sum_lies_between_that_of_each_side(seed: int, spread: float) -> None:
    """Forward no path is lost; backward none is counted too much."""
    scores, links, lengths, sizes = random_target(seed, 6, 20, 60, spread)
    allowed = band(lengths, sizes, *scores.shape[1:])
    chances = scores.exp().where(allowed, 0.0).transpose(0, 1).contiguous()
    found = sweep(chances, links.exp(), allowed, lengths, sizes)
    there = torch.arange(len(chances))[:, None] < lengths
    begun = torch.arange(len(chances))[:, None] < lengths - 1
    above = found.scales.log().masked_fill(~there, 0.0).sum(0)
    below = (found.f[0] * found.g[0]).sum(1).log() + scores[:, 0, 0]
    below += found.scales_back.log().masked_fill(~begun, 0.0).sum(0)
    total = sum_paths(scores, links, lengths, sizes)
    assert (below <= total + 1e-9).all() and (total <= above + 1e-9).all()


def test_a_batch_is_its_sentences_one_by_one_and_padding_changes_nothing() -> None:
    scores, links, lengths, sizes = random_target(7, 6, 6, 11)
    total, _ = log_likelihood(scores, links, lengths, sizes)
    found = best_path(scores, links, lengths, sizes)
    for b, (length, size) in enumerate(zip(lengths.tolist(), sizes.tolist(), strict=True)):
        alone = (scores[b : b + 1, :length, :size], links[b : b + 1, :size, :size])
        counts = lengths[b : b + 1], sizes[b : b + 1]
        assert log_likelihood(*alone, *counts)[0][0] == pytest.approx(float(total[b]), abs=1e-9)
        assert best_path(*alone, *counts)[0].tolist() == found[b, :length].tolist()
        assert (found[b, length:] == size - 1).all()


def test_infeasible_targets_have_no_path() -> None:
    scores, links, lengths, sizes = random_target(2, 2, 6, 6)
    sizes, lengths = torch.tensor([4, 6]), torch.tensor([6, 6])
    links = log_softmax(torch.zeros_like(links), later(sizes, 6))
    assert (sum_paths(scores, links, lengths, sizes) == -inf).tolist() == [True, False]
    assert (max_paths(scores, links, lengths, sizes) == -inf).tolist() == [True, False]


def test_targets_padded_beyond_the_graph_are_no_trouble() -> None:
    scores, links, lengths, sizes = random_target(2, 3, 3, 5)
    width = scores.shape[2]
    wide = torch.cat([scores, torch.zeros(3, 2 * width, width).double()], dim=1)
    assert torch.allclose(
        log_likelihood(wide, links, lengths, sizes)[0],
        log_likelihood(scores, links, lengths, sizes)[0],
    )
    path = best_path(wide, links, lengths, sizes)
    assert torch.equal(path[:, :3], best_path(scores, links, lengths, sizes))
    # one that fills its graph, in a batch whose longest target fitted into none
    scores, links, lengths, sizes = random_target(2, 2, 6, 6)
    lengths, sizes = torch.tensor([6, 4]), torch.tensor([6, 6])
    wide = torch.cat([scores, torch.zeros(2, 3, scores.shape[2]).double()], dim=1)
    total, recomputed = log_likelihood(wide, links, lengths, sizes)
    assert torch.allclose(total, sum_paths(scores, links, lengths, sizes))
    assert not recomputed.any()


def test_the_band_is_where_paths_are() -> None:
    _, _, lengths, sizes = random_target(9)
    found = band(lengths, sizes, int(lengths.max()), int(sizes.max()))
    for b, (length, size) in enumerate(zip(lengths.tolist(), sizes.tolist(), strict=True)):
        expected = torch.zeros_like(found[b])
        for path in every_path(length, size):
            expected[torch.arange(length), list(path)] = True
        assert torch.equal(found[b], expected)


def test_a_step_of_tiny_mass_is_not_trusted() -> None:
    """However well both sides agree: products in it may have left single precision."""
    scores, links, lengths, sizes = random_target(5, 1, 6, 12)
    for less, expected in ((0.0, False), (45.0, True)):  # e^-45 is below LEAST
        _, recomputed = log_likelihood(scores.float(), links.float() - less, lengths, sizes)
        assert (recomputed == expected).all()
