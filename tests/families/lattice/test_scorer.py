"""Edge scores in one pass against the training model, asked for one edge at a time."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from fastdecode.config.models import Architecture
from fastdecode.families.lattice import attention, optimised
from fastdecode.families.lattice.model import LatticeModel, block_mask, block_starts
from fastdecode.families.lattice.optimised import OptimisedScorer
from fastdecode.families.lattice.scorer import Scorer
from fastdecode.measure.untrained import untrained_system
from fastdecode.transformer.encoder import Encoder
from fastdecode.transformer.linear import has_bf16

BOS, PAD, EOS = 0, 1, 2
SOURCE = torch.tensor([[5, 9, 4, 7, EOS], [8, 6, EOS, PAD, PAD]])
SLOTS, K = 4, 3


def model(layers: int = 1, prenorm: bool = False, orders: int = 3, **options: Any) -> Any:
    size = Architecture(8, 12, 2, 2, layers, prenorm=prenorm)
    system = untrained_system(
        size, 30, precision="fp64", kind=LatticeModel, orders=orders, **options
    )
    (lattice,) = system.models
    torch.manual_seed(3)
    with torch.no_grad():
        for weight in lattice.parameters():
            if weight.dim() == 1:
                weight += 0.3 * torch.randn_like(weight)
    return lattice


def candidates() -> Tensor:
    torch.manual_seed(4)
    rows = [torch.randperm(26)[:K] + 4 for _ in range(2 * SLOTS)]
    return torch.stack(rows).view(2, SLOTS, K)


def asked(lattice: Any, previous: Tensor, offsets: Tensor) -> Tensor:
    """Return log-probabilities (B, T, V) of the training model."""
    lengths = (SOURCE != PAD).sum(1)
    logits = lattice(SOURCE, lengths, previous, offsets)[0]
    return logits.log_softmax(-1)  # type: ignore[no-any-return]


def naive(lattice: Any, words: Tensor) -> tuple[Tensor, Tensor]:
    """Ask the training model, in which an edge's block begins one slot before it."""
    orders = lattice.decoder.orders
    following = F.pad(words, (0, 1), value=EOS)
    previous = torch.full((2, SLOTS), EOS)
    start = asked(lattice, previous, torch.zeros(2).long())[:, 0]  # (B, V)
    first = start.gather(1, following[:, 0])
    edges = torch.empty(2, SLOTS - 1, K, K + 1, dtype=torch.float64)
    for t in range(SLOTS - 1):
        for i in range(K):
            previous = torch.full((2, SLOTS), 29)  # but for slot t + 1 all of it is hidden
            previous[:, t + 1] = words[:, t, i]
            log = asked(lattice, previous, torch.full((2,), t % orders))[:, t + 1]
            edges[:, t, i] = log.gather(1, following[:, t + 1])
    return first, edges


@pytest.fixture(autouse=True)
def fairseq_in_full_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "fairseq.utils.softmax", lambda x, dim, onnx_trace=False: F.softmax(x, dim=dim)
    )


@pytest.mark.parametrize("orders", [2, 3])
@pytest.mark.parametrize("prenorm", [False, True])
@pytest.mark.parametrize("layers", [1, 3])
@torch.inference_mode()
def test_all_edges_at_once_are_the_edges_one_by_one(
    layers: int, prenorm: bool, orders: int
) -> None:
    lattice = model(layers, prenorm, orders)
    mask = (SOURCE != PAD)[:, None, None]
    encoded = Encoder(lattice.encoder)(SOURCE, mask)
    scorer = Scorer(lattice.decoder, BOS, EOS, exact=True)
    first, edges = scorer(candidates(), encoded, mask)
    expected_first, expected_edges = naive(lattice, candidates())
    # fp32 within: log-probabilities are summed over the vocabulary in it
    assert torch.allclose(first.double(), expected_first, atol=1e-5)
    assert torch.allclose(edges.double(), expected_edges, atol=1e-5)


@torch.inference_mode()
def test_over_the_candidates_the_same_scores_are_shared_out_anew() -> None:
    lattice = model()
    mask = (SOURCE != PAD)[:, None, None]
    encoded = Encoder(lattice.encoder)(SOURCE, mask)
    exact = Scorer(lattice.decoder, BOS, EOS, exact=True)(candidates(), encoded, mask)
    cheap = Scorer(lattice.decoder, BOS, EOS, exact=False)(candidates(), encoded, mask)
    for one, other in zip(exact, cheap, strict=True):
        assert torch.allclose(one.log_softmax(-1), other, atol=1e-5)
        assert torch.allclose(other.exp().sum(-1), torch.ones(()), atol=1e-5)
        assert (other > one).all()  # less is left out


def both(lattice: Any, exact: bool, **more: Any) -> tuple[list[Tensor], list[Tensor]]:
    """Return what Scorer and OptimisedScorer say of two sentences, the second one shorter."""
    mask = (SOURCE != PAD)[:, None, None]
    encoded = Encoder(lattice.encoder)(SOURCE, mask)
    args = candidates(), encoded, mask, [(2, SLOTS), (2, SLOTS - 1)]
    first, edges = Scorer(lattice.decoder, BOS, EOS, exact)(*args)
    found_first, found = OptimisedScorer(lattice.decoder, BOS, EOS, exact, **more)(*args)
    return [first, edges[0], edges[1, :-1]], [found_first, found[0], found[1, :-1]]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("prenorm", [False, True])
@pytest.mark.parametrize("layers", [1, 3])
@torch.inference_mode()
def test_the_optimised_scorer_is_its_twin(
    layers: int, prenorm: bool, exact: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lattice = model(layers, prenorm)
    for rows, words in ((1024, 2048), (2 * K, 7)):  # in one block, in several
        monkeypatch.setattr(optimised, "ROWS", rows)
        monkeypatch.setattr(optimised, "WORDS", words)
        monkeypatch.setattr(attention, "BLOCK", words)
        for one, other in zip(*both(lattice, exact), strict=True):
            assert torch.allclose(one, other, atol=2e-6)


@torch.inference_mode()
def test_attention_to_the_source_is_folded_where_that_is_less_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = attention.SourceAttention._plain
    calls = []
    monkeypatch.setattr(
        attention.SourceAttention, "_plain", lambda *args: calls.append(1) or plain(*args)
    )
    lattice = model()  # 8 wide, 2 heads: up to 8 words
    for one, other in zip(*both(lattice, False), strict=True):
        assert torch.allclose(one, other, atol=2e-6)
    assert not calls
    monkeypatch.setattr(attention.SourceAttention, "_fold_pays", lambda *_: False)
    for one, other in zip(*both(lattice, False), strict=True):
        assert torch.allclose(one, other, atol=2e-6)
    assert calls
    layer = attention.SourceAttention(lattice.decoder.layers[0])
    monkeypatch.undo()
    assert [layer._fold_pays(words) for words in (8, 9)] == [True, False]


@torch.inference_mode()
def test_slots_are_prepared_for_any_length() -> None:
    """What depends on slots alone is kept from one sentence to the next."""
    lattice = model()
    encoded = Encoder(lattice.encoder)(SOURCE[:1], None)
    kept = OptimisedScorer(lattice.decoder, BOS, EOS, exact=False)
    for slots in (2, 4, 3):
        words = candidates()[:1, :slots]
        fresh = OptimisedScorer(lattice.decoder, BOS, EOS, exact=False)
        found = (scorer(words, encoded, None, [(2, slots)])[1] for scorer in (kept, fresh))
        assert torch.equal(*found)


@pytest.mark.skipif(not has_bf16(), reason="no bfloat16 on this CPU")
@torch.inference_mode()
def test_bfloat16_is_near() -> None:
    for exact in (False, True):
        lattice = model().float()
        for one, other in zip(*both(lattice, exact, half=True), strict=True):
            assert torch.allclose(one, other, atol=0.02)
            assert not torch.equal(one, other)


def test_blocks_begin_where_the_offset_says() -> None:
    starts = block_starts(7, 3, torch.tensor([0, 1, 2]))
    assert [row.nonzero().flatten().tolist() for row in starts] == [[0, 3, 6], [0, 1, 4], [0, 2, 5]]


def test_a_slot_sees_its_block_up_to_itself() -> None:
    mask = block_mask(block_starts(5, 3, torch.tensor([1])))[0]
    seen = [row.nonzero().flatten().tolist() for row in mask]
    assert seen == [[0], [1], [1, 2], [1, 2, 3], [4]]


@torch.inference_mode()
def test_a_pass_learns_every_order() -> None:
    """What a slot predicts depends on the words of its block and on no others."""
    lattice = model(orders=3)
    previous = torch.tensor([[EOS, 11, 12, 13, 14, 15]] * 2)
    offsets = torch.tensor([1, 1])  # blocks: 0 | 1 2 3 | 4 5
    before = asked(lattice, previous, offsets)
    for changed, sees in ((1, []), (2, [2, 3]), (3, [3]), (4, []), (5, [5])):
        other = previous.clone()
        other[:, changed] = 20
        after = asked(lattice, other, offsets)
        differs = [t for t in range(6) if not torch.allclose(before[:, t], after[:, t], atol=1e-9)]
        assert differs == sees
    padded = torch.cat([previous, torch.full((2, 2), PAD)], 1)
    assert torch.allclose(asked(lattice, padded, offsets)[:, :6], before, atol=1e-12)
    assert asked(lattice, padded, offsets).isfinite().all()
