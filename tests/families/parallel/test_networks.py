"""Our modules against fairseq's, asked the same questions."""

from typing import Any

import pytest
import torch

from fastdecode.families.parallel import networks
from fastdecode.families.parallel.networks import Eager, Fast
from fastdecode.framing import blank_slots, frame_sources
from fastdecode.system import System
from tests.families.parallel.conftest import untrained

Sentences = list[list[str]]
SPECIAL = 4


def some_known(system: System, lengths: torch.Tensor) -> torch.Tensor:
    """Return slots of which half hold words."""
    slots = blank_slots(lengths, system.target)
    draw = torch.Generator().manual_seed(4)
    words = torch.randint(SPECIAL, len(system.target), slots.shape, generator=draw)
    known = (torch.rand(slots.shape, generator=draw) < 0.5) & (slots == system.target.unk())
    return torch.where(known, words, slots)


def test_whether_rows_are_padded_nobody_asks_a_device_that_would_be_waited_for() -> None:
    (model,) = untrained("nat").models
    elsewhere = torch.zeros(2, 3, dtype=torch.long, device="meta")  # which has no answers
    assert Fast(model)._mask_of(elsewhere[:1]) is None
    mask = Fast(model)._mask_of(elsewhere)
    assert mask is not None and mask.shape == (2, 1, 1, 3)
    assert Fast(model)._mask_of(torch.full((2, 3), SPECIAL)) is None


@pytest.mark.parametrize("free", [True, False])  # False: as on a GPU
@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize(
    ("kind", "copies"),
    [
        ("nat", {}),
        ("cmlm", {}),
        ("glat", {}),
        ("ctc", {}),
        ("glat", {"soft_copy": True}),
        ("ctc", {"soft_copy": True}),
        ("glat", {"src_embedding_copy": False}),
        ("ctc", {"src_embedding_copy": False}),
    ],
)
def test_ours_says_what_fairseqs_says(
    kind: str,
    copies: dict[str, bool],
    joint: bool,
    times: int,
    free: bool,
    ragged: Sentences,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(networks, "looks_are_free", lambda device: free)
    system = untrained(kind, share_all_embeddings=joint, **copies)
    (model,) = system.models
    answers: dict[Any, Any] = {}
    for sentences in (ragged, ragged[:1]):
        sources = frame_sources(sentences, system.source)
        lengths = 2 + torch.arange(len(sources) * times) % 7
        slots = some_known(system, lengths)
        asked = slots == system.target.unk()
        for network in (Eager(model), Fast(model)):
            with torch.inference_mode():
                encoded = network.encode(sources)
                predicted = network.lengths(encoded) if kind != "ctc" else torch.empty(0)
                encoded = network.repeated(encoded, times)
                found = network.likeliest(slots.clone(), encoded, asked, (0, 5))
                scores = network.scores(slots, encoded, (0, 5))
            answers[type(network)] = predicted, *found
            assert torch.equal(scores.argmax(-1)[asked], found[1][asked])
            assert torch.allclose(scores.amax(-1)[asked], found[0][asked].to(scores), atol=1e-6)
            assert torch.allclose(scores.exp().sum(-1), torch.ones(1).to(scores))
        one, other = answers[Eager], answers[Fast]
        assert torch.equal(one[0], other[0])
        assert torch.allclose(one[1][asked], other[1][asked], atol=1e-6)
        assert torch.equal(one[2][asked], other[2][asked])
        assert not set(one[2][asked].tolist()) & {0, 5}
        assert len(set(one[2][asked].tolist())) > 1 or len(sentences) == 1
