"""What a drafter sees and learns, on every prefix."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.families.aggressive.blocks import blocks_after, draw_prefixes, targets_after

PAD, UNK = 1, 3
rows = st.lists(st.lists(st.integers(4, 9), min_size=1, max_size=7), min_size=1, max_size=5)


@given(rows=rows, k=st.integers(1, 9), data=st.data())
def test_k_slots_follow_every_prefix(rows: list[list[int]], k: int, data: st.DataObject) -> None:
    lengths = [data.draw(st.integers(0, len(row) - 1)) for row in rows]
    longest = max(map(len, rows))
    targets = torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])
    blocks = blocks_after(targets, torch.tensor(lengths), max(lengths), k, PAD, UNK)
    wanted = targets_after(targets, torch.tensor(lengths), k, PAD).tolist()
    assert blocks.tokens.shape[1] == max(lengths) + k
    for i, (row, p) in enumerate(zip(rows, lengths, strict=True)):
        behind = max(lengths) - p
        assert blocks.tokens[i].tolist() == row[:p] + [UNK] * k + [PAD] * behind
        assert blocks.blank[i].tolist() == [False] * p + [True] * k + [False] * behind
        assert blocks.places[i].tolist() == list(range(p, p + k))
        assert wanted[i] == (row[p:] + [PAD] * k)[:k]
    states = torch.arange(blocks.tokens.numel()).view(*blocks.tokens.shape, 1)
    places = states.squeeze(-1)[blocks.blank].view(len(rows), k)
    assert torch.equal(blocks.of(states)[..., 0], places)


def test_what_is_shown_is_no_slot_any_more() -> None:
    targets = torch.tensor([[5, 6, 7, 8], [9, 5, PAD, PAD]])
    lengths = torch.tensor([1, 0])
    blocks = blocks_after(targets, lengths, 1, 3, PAD, UNK)
    words = targets_after(targets, lengths, 3, PAD)
    shown = blocks.show(words, torch.tensor([[False, True, False], [True, False, False]]))
    assert shown.tokens.tolist() == [[5, UNK, 7, UNK], [9, UNK, UNK, PAD]]
    assert shown.blank.tolist() == [[False, True, False, True], [False, True, True, False]]
    assert torch.equal(shown.places, blocks.places)


@given(length=st.integers(1, 40), uniform=st.floats(0, 1, exclude_max=True))
def test_a_prefix_never_holds_the_whole_target(length: int, uniform: float) -> None:
    uniforms = torch.tensor([uniform], dtype=torch.float64)
    (drawn,) = draw_prefixes(uniforms, torch.tensor([length])).tolist()
    assert 0 <= drawn < length
    assert drawn == length - int(length * uniform) - 1


def test_every_prefix_is_as_likely() -> None:
    uniforms = (torch.arange(700) + 0.5) / 700
    drawn = draw_prefixes(uniforms, torch.full((700,), 7))
    assert torch.bincount(drawn).tolist() == [100] * 7
