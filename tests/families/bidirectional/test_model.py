"""Who sees whom; a group at a time says what the whole says."""

from typing import Any

import pytest
import torch
from torch import Tensor

from fastdecode.families.bidirectional.engines import eager, fast
from fastdecode.families.bidirectional.folding import Order
from fastdecode.families.bidirectional.model import group_mask
from fastdecode.framing import mask_of
from fastdecode.system import System
from tests.families.bidirectional.conftest import ORDERS, untrained

BEGIN = {"eager": eager, "fastdecode": fast}
PAD, EOS = 1, 2


def test_the_mask_drawn_out() -> None:
    """Five tokens fill three pairs: s s · 1 5 · 2 4 go in."""
    assert group_mask(6, 2).int().tolist() == [
        [1, 1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0],
        [1, 1, 1, 1, 0, 0],
        [1, 1, 1, 1, 0, 0],
        [1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 1, 1],
    ]
    assert torch.equal(group_mask(5, 1), torch.ones(5, 5, dtype=torch.bool).tril())


def sources() -> tuple[Tensor, Tensor]:
    """Return four sentences and their lengths."""
    lengths = torch.tensor([5, 3, 1, 4])
    numbers = torch.randint(4, 20, (4, 5), generator=torch.Generator().manual_seed(1))
    slot = torch.arange(5)
    numbers[slot == lengths[:, None] - 1] = EOS
    return numbers.masked_fill(slot >= lengths[:, None], PAD), lengths


def whole(system: System, tokens: Tensor) -> Tensor:
    """Return the logits of all slots (B, T, V) in one pass, as in training."""
    (model,) = system.models
    logits: Tensor = model(*sources(), tokens)[0]
    return logits


@pytest.mark.parametrize("order", ORDERS)
def test_a_token_is_predicted_from_all_earlier_groups_and_no_later_one(order: Order) -> None:
    system = untrained(order)
    size = system.models[0].fold.size
    tokens = torch.randint(4, 20, (4, 8), generator=torch.Generator().manual_seed(2))
    with torch.inference_mode():
        before = whole(system, tokens)
        for place in range(8):
            changed = tokens.clone()
            changed[:, place] = (changed[:, place] - 3) % 16 + 4
            moved = ((whole(system, changed) - before).abs() > 1e-9).any(-1).any(0)
            group = place // size
            assert moved.tolist() == [slot // size >= group for slot in range(8)]


@pytest.mark.usefixtures("fairseq_in_full_precision")
@pytest.mark.parametrize("engine", BEGIN)
@pytest.mark.parametrize("prenorm", [False, True])
@pytest.mark.parametrize("order", ["bidirectional", "r2l"])
def test_a_group_at_a_time_says_what_the_whole_says(
    order: Order, prenorm: bool, engine: str
) -> None:
    options: dict[str, Any] = {"layernorm_embedding": True} if prenorm else {}
    system = untrained(order, prenorm=prenorm, **options)
    size = system.models[0].fold.size
    draw = torch.Generator().manual_seed(3)
    beam, slots = 3, 8
    with torch.inference_mode():
        numbers, lengths = sources()
        mask = mask_of(numbers, system.source, lengths.tolist())
        steps = BEGIN[engine](system)(numbers, mask, beam, slots)
        seen = torch.empty(4, beam, 0, dtype=torch.long)
        left = torch.arange(4)  # sentences in the batch
        for step in range(slots // size):
            tokens = torch.randint(4, 20, (len(left) * beam, size), generator=draw)
            logits = steps.step(tokens).unflatten(0, (-1, beam))  # (B, W, size, V)
            seen = torch.cat([seen, tokens.unflatten(0, (-1, beam))], dim=-1)
            for row in range(beam):
                prefixes = torch.full((4, seen.shape[-1]), 4)
                prefixes[left] = seen[:, row]
                expected = whole(system, prefixes)[left, -size:]
                assert torch.allclose(logits[:, row], expected, atol=1e-10)
            parent = torch.randint(0, beam, (len(left), beam), generator=draw)
            steps.keep_rows((parent + torch.arange(len(left))[:, None] * beam).flatten())
            seen = seen.gather(1, parent[..., None].expand_as(seen))
            if step == 1:
                stay = torch.tensor([0, 2, 3])
                steps.keep_sentences(stay)
                left, seen = left[stay], seen[stay]


def test_the_options_are_kept_with_the_model() -> None:
    for start, first in (("bos-eos", (0, EOS)), ("bos-bos", (0, 0))):
        (model,) = untrained("pairs-r2l", start).models
        assert (model.fold.order, model.fold.start, model.first) == ("pairs-r2l", start, first)
    assert untrained("r2l").models[0].first == (EOS,)
