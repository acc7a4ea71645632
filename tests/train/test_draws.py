from collections import Counter

import torch

from fastdecode.train import draws
from fastdecode.train.draws import keyed_integers, keyed_seed, keyed_uniforms, source_ids


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
    assert torch.equal(torch.rand(3), expected)
    assert all(900 < counts[value] < 1100 for value in range(3))


def test_seeds_are_even_and_apart() -> None:
    seeds = [keyed_seed(example, 1, 1) for example in range(500)]
    assert len(set(seeds)) == 500 and min(seeds) >= 0 and max(seeds) < 2**63
    assert 0.45 < sum(seeds) / 500 / 2**63 < 0.55
    assert keyed_seed(3, 1, 1) != keyed_seed(3, 2, 1) != keyed_seed(3, 1, 2)


def test_numbers_of_a_batch_are_those_of_its_examples() -> None:
    ids = torch.tensor([3, 2**40, 7, 3])
    drawn = keyed_uniforms(ids, 50, seed=1, update=5)
    assert torch.equal(drawn[0], drawn[3])
    assert torch.equal(keyed_uniforms(ids[1:2], 20, 1, 5)[0], drawn[1, :20])
    for seed, update in ((2, 5), (1, 6), (5, 1)):
        assert not torch.equal(keyed_uniforms(ids, 50, seed, update), drawn)


def test_numbers_are_even_and_apart() -> None:
    drawn = keyed_uniforms(torch.arange(200), 100, seed=1, update=1)
    assert drawn.min() >= 0 and drawn.max() < 1
    counts = (drawn * 10).long().flatten().bincount(minlength=10)
    assert counts.min() > 1800 and counts.max() < 2200
    assert len(set(drawn.flatten().tolist())) == 20000
    for one, other in ((drawn[:, 1:], drawn[:, :-1]), (drawn[1:], drawn[:-1])):
        correlation = torch.corrcoef(torch.stack((one.flatten(), other.flatten())))[0, 1]
        assert abs(correlation) < 0.03


def test_a_tensor_is_scattered_as_its_numbers() -> None:
    numbers = [0, 1, 2**63 - 1, -1, -(2**63), 123456789012345]
    mixed = draws._mix_all(torch.tensor(numbers)).tolist()
    assert [number % 2**64 for number in mixed] == [draws._mix(n % 2**64) for n in numbers]


def test_sources_without_ids_have_those_of_their_words() -> None:
    ids = source_ids([["a", "b"], ["c"], ["a", "b"], ["a b"]])
    assert ids[0] == ids[2] == ids[3] != ids[1]
    assert torch.equal(source_ids([["c"]]), ids[1:2])
