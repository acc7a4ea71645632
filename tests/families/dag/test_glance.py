"""What is shown of the target: how much, where, and the same whatever the batch."""

import pytest
import torch
from torch import Tensor

from fastdecode.families.dag.glance import Glance
from fastdecode.families.dag.links import later, log_softmax
from fastdecode.families.dag.naive import sum_paths
from fastdecode.families.dag.paths import best_path, log_likelihood
from fastdecode.scores import token_scores
from tests.families.dag.conftest import BOS, EOS, PAD, UNK

SIZES = torch.tensor([9, 12, 4])
LENGTHS = torch.tensor([5, 8, 6])  # the last one is longer than its graph


def batch() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Logits (B, L, V), links, targets (B, M) and blank vertices (B, L)."""
    draw = torch.Generator().manual_seed(1)
    logits = torch.randn(3, 12, 9, generator=draw)
    links = log_softmax(torch.randn(3, 12, 12, generator=draw), later(SIZES, 12))
    targets = torch.randint(UNK + 1, 9, (3, 8), generator=draw)
    vertices = torch.full((3, 12), UNK)
    targets[:, 0] = vertices[:, 0] = BOS
    for b, (length, size) in enumerate(zip(LENGTHS.tolist(), SIZES.tolist(), strict=True)):
        targets[b, length - 1], targets[b, length:] = EOS, PAD
        vertices[b, size - 1], vertices[b, size:] = EOS, PAD
    return logits, links, targets, vertices


def look(ratio: float | None, update: int = 3, rows: slice = slice(None)) -> tuple[Glance, Tensor]:
    logits, links, targets, vertices = (part[rows] for part in batch())
    glance = Glance(targets, LENGTHS[rows], torch.tensor([7, 8, 9])[rows], 1, update, ratio)
    scores, likeliest = token_scores(logits, targets), logits.argmax(-1)
    filled = glance.look(
        scores, links, SIZES[rows], vertices, lambda path: likeliest.gather(1, path)
    )
    return glance, filled


@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.5, 1.0])
def test_a_share_of_the_number_of_wrong_tokens_is_shown(ratio: float) -> None:
    logits, links, targets, _ = batch()
    glance, _ = look(ratio)
    for b in (0, 1):
        scores = token_scores(logits, targets)[b : b + 1]
        rest = links[b : b + 1], LENGTHS[b : b + 1], SIZES[b : b + 1]
        path = best_path(scores, *rest)[0].tolist()
        wrong = sum(
            int(logits[b, path[i]].argmax()) != int(targets[b, i]) for i in range(int(LENGTHS[b]))
        )
        assert wrong > 2
        assert int(glance.shown[b].sum()) == int(wrong * ratio + 0.5)
        assert not glance.shown[b, LENGTHS[b] :].any()


def test_shown_tokens_stand_on_the_best_path_and_all_else_is_as_before() -> None:
    logits, links, targets, vertices = batch()
    glance, filled = look(1.0)
    path = best_path(token_scores(logits, targets)[:2], links[:2], LENGTHS[:2], SIZES[:2])
    assert torch.equal(glance.path[:2], path)
    expected = vertices.clone()
    for b, i in glance.shown.nonzero().tolist():
        expected[b, path[b, i]] = targets[b, i]
    assert torch.equal(filled, expected)
    assert not torch.equal(filled, vertices)


def test_of_an_infeasible_target_nothing_is_shown() -> None:
    for ratio in (1.0, None):
        glance, filled = look(ratio)
        assert not glance.shown[2].any()
        assert torch.equal(filled[2], batch()[3][2])


def test_uniform_glancing_shows_any_number() -> None:
    counts = {int(look(None, update)[0].shown[1].sum()) for update in range(200)}
    assert counts == set(range(9))


def test_what_is_shown_depends_on_sentence_and_update_alone() -> None:
    for ratio in (0.5, None):
        together, _ = look(ratio)
        assert torch.equal(together.shown, look(ratio)[0].shown)
        for b in range(3):
            assert torch.equal(look(ratio, rows=slice(b, b + 1))[0].shown[0], together.shown[b])
        assert any(not torch.equal(look(ratio, u)[0].shown, together.shown) for u in range(3))


def test_how_many_are_shown_says_nothing_of_which() -> None:
    """Of eight places the first is among n that are shown in n of eight cases."""
    many = 4000
    logits, links, targets, vertices = (part[1:2].expand(many, *part.shape[1:]) for part in batch())
    sizes, lengths = SIZES[1:2].expand(many), LENGTHS[1:2].expand(many)
    glance = Glance(targets, lengths, torch.arange(many), 1, 3, None)
    glance.look(token_scores(logits, targets), links, sizes, vertices, lambda path: path)
    counts, first = glance.shown.sum(1), glance.shown[:, 0].double()
    for n in range(1, 8):
        assert float(first[counts == n].mean()) == pytest.approx(n / 8, abs=0.12)


def test_a_vertex_that_is_forced_writes_its_token_alone_unlearned() -> None:
    logits, links, targets, _ = batch()
    glance, _ = look(0.5)
    scores = token_scores(logits, targets).requires_grad_()
    forced = glance.force(scores)
    shown = {(b, int(glance.path[b, i])): i for b, i in glance.shown.nonzero().tolist()}
    assert len(shown) > 3
    for b in range(3):
        for vertex in range(12):
            column = forced[b, :, vertex]
            if (b, vertex) in shown:
                only = torch.full((8,), float("-inf"))
                only[shown[b, vertex]] = scores[b, shown[b, vertex], vertex]
                assert torch.equal(column, only)
            else:
                assert torch.equal(column, scores[b, :, vertex])
    parts = links[:2], LENGTHS[:2], SIZES[:2]
    total, recomputed = log_likelihood(forced[:2], *parts)
    assert not recomputed.any()
    assert torch.allclose(total, sum_paths(forced[:2].detach(), *parts))
    free = log_likelihood(scores[:2], *parts)[0]
    assert (total <= free).all() and (total < free).any()
    total.sum().backward()
    assert scores.grad is not None
    learned = scores.grad.abs().sum(1) > 0  # (B, L)
    assert scores.grad.isfinite().all() and learned[:2].any()
    assert not any(learned[place] for place in shown)
