"""The soft copy against its formula."""

import torch

from fastdecode.soft_copy import SoftCopy


def test_the_soft_copy_is_a_mean_of_the_source() -> None:
    copy = SoftCopy(4).double()
    torch.manual_seed(1)
    positions, source = torch.randn(1, 3, 4).double(), torch.randn(2, 5, 4).double()
    places = torch.randn(5, 4).double()
    padding = torch.tensor([[False] * 5, [False, False, True, True, True]])
    found = copy(positions, source, source + places, padding)
    for b, words in enumerate((5, 2)):
        for t in range(3):
            query = copy.query.weight @ positions[0, t]
            scores = torch.stack([query @ (source[b, s] + places[s]) for s in range(words)]) / 2
            mean = sum(p * source[b, s] for s, p in enumerate(scores.softmax(0)))
            assert torch.allclose(found[b, t], mean)
