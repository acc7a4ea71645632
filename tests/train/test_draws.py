from collections import Counter

import torch

from fastdecode.train.draws import keyed_generator, keyed_integers


def test_a_draw_depends_on_seed_update_and_example_alone() -> None:
    ids = torch.tensor([3, 1, 7, 1])
    drawn = keyed_integers(ids, 1000, seed=1, update=5)
    assert drawn[1] == drawn[3]
    assert keyed_integers(torch.tensor([7]), 1000, 1, 5)[0] == drawn[2]
    for seed, update in ((2, 5), (1, 6), (5, 1)):
        assert keyed_integers(ids, 1000, seed, update).tolist() != drawn.tolist()


def test_draws_are_even_and_leave_the_global_state_alone() -> None:
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    counts = Counter(keyed_integers(torch.arange(3000), 3, seed=1, update=1).tolist())
    rands = [torch.rand(1, generator=keyed_generator(i, 1, 1)).item() for i in range(500)]
    assert torch.equal(torch.rand(3), expected)
    assert all(900 < counts[value] < 1100 for value in range(3))
    assert 0.45 < sum(rands) / 500 < 0.55
    assert len(set(rands)) == 500
