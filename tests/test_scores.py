"""Scores of a target's tokens: those of the whole softmax, also if it is never held as a whole."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from fastdecode.scores import BLOCK, scores_and_likeliest, scores_in_blocks, token_scores
from tests.largest import Largest


def problem(seed: int, dtype: torch.dtype = torch.double) -> tuple[Tensor, Tensor, Tensor]:
    """States (B, L, d), embeddings (V, d) and targets (B, M), in which tokens come twice."""
    draw = torch.Generator().manual_seed(seed)
    states = torch.randn(3, 5, 4, generator=draw, dtype=torch.double)
    embeddings = torch.randn(7, 4, generator=draw, dtype=torch.double)
    targets = torch.randint(0, 7, (3, 6), generator=draw)
    targets[:, 3] = targets[:, 1]
    return (states.to(dtype).requires_grad_(), embeddings.to(dtype).requires_grad_(), targets)


def test_token_scores_are_log_probabilities_of_the_targets() -> None:
    torch.manual_seed(1)
    logits, targets = torch.randn(2, 5, 7), torch.tensor([[0, 4, 2], [0, 2, 1]])
    log = logits.log_softmax(-1)
    found = token_scores(logits, targets)
    assert found.shape == (2, 3, 5)
    for b in range(2):
        for i in range(3):
            assert torch.allclose(found[b, i], log[b, :, targets[b, i]])


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), block=st.integers(1, 130))
def test_blocks_of_any_size_give_what_the_whole_gives(seed: int, block: int) -> None:
    states, embeddings, targets = problem(seed)
    weights = torch.randn(3, 6, 5, generator=torch.Generator().manual_seed(seed))
    found = scores_in_blocks(states, embeddings, targets, block)
    whole = token_scores(states @ embeddings.T, targets)
    assert torch.allclose(found, whole.double(), atol=1e-5)
    mine, theirs = (
        torch.autograd.grad((scores * weights).sum(), (states, embeddings))
        for scores in (found, whole)
    )
    for one, other in zip(mine, theirs, strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_gradients_are_those_of_finite_differences() -> None:
    states, embeddings, targets = problem(1)

    def scores(states: Tensor, embeddings: Tensor) -> Tensor:
        return scores_in_blocks(states, embeddings, targets, 20)

    assert torch.autograd.gradcheck(scores, (states, embeddings))


def test_half_precision_is_summed_in_single() -> None:
    exact, half = problem(2), problem(2, torch.bfloat16)
    found = scores_in_blocks(*half, 20)
    assert found.dtype == torch.float
    assert torch.allclose(found.double(), scores_in_blocks(*exact), atol=0.1)
    grads = torch.autograd.grad(found.sum(), half[:2])
    assert [grad.dtype for grad in grads] == [torch.bfloat16] * 2
    for grad, wanted in zip(
        grads, torch.autograd.grad(scores_in_blocks(*exact).sum(), exact[:2]), strict=True
    ):
        assert torch.allclose(grad.double(), wanted, atol=0.3, rtol=0.05)


def test_gradients_of_half_precision_are_added_up_in_single() -> None:
    states = torch.ones(1, 4096, 1, dtype=torch.bfloat16, requires_grad=True)
    embeddings = torch.zeros(2, 1, dtype=torch.bfloat16, requires_grad=True)
    targets = torch.zeros(1, 1, dtype=torch.long)
    scores_in_blocks(states, embeddings, targets, block=8).sum().backward()
    assert embeddings.grad is not None
    assert embeddings.grad[:, 0].tolist() == [2048.0, -2048.0]  # in bf16 it would stop at 256


@pytest.mark.parametrize("block", [1, 20, None])
def test_the_likeliest_token_of_every_place(block: int | None) -> None:
    states, embeddings, targets = problem(3)
    scores, found = scores_and_likeliest(states, embeddings, targets, block)
    assert torch.equal(found, (states @ embeddings.T).argmax(-1))
    assert torch.equal(scores, scores_in_blocks(states, embeddings, targets, block))


@pytest.mark.parametrize("block", [1, 3000])
def test_the_logits_of_a_batch_are_never_there_at_once(block: int) -> None:
    states = torch.randn(4, 50, 2, requires_grad=True)  # 200 places
    embeddings = torch.randn(1000, 2, requires_grad=True)
    targets = torch.randint(0, 1000, (4, 5))
    with Largest() as made:
        scores_in_blocks(states, embeddings, targets, block).sum().backward()
        scores_and_likeliest(states, embeddings, targets, block)
    assert made.elements == max(block, 2000)  # 2,000: the embeddings' gradient
    with Largest() as made:  # in blocks of the size that training takes
        scores_in_blocks(states.repeat(1, 100, 1), embeddings, targets).sum().backward()
    assert made.elements == 1000 * (BLOCK["cpu"] // 1000)
    with Largest() as made:
        token_scores(states @ embeddings.T, targets).sum().backward()
    assert made.elements == 200_000
