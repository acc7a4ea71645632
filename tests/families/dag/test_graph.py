"""What the vertices may write, and their likeliest tokens, whatever parts the logits come in."""

from math import inf

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fastdecode.families.dag.graph import Shortlist
from tests.families.dag.conftest import BOS, EOS, PAD, dictionary, random_graph, random_links


@settings(max_examples=20)
@given(seed=st.integers(0, 999), count=st.integers(1, 5), rows=st.integers(1, 20))
def test_the_likeliest_tokens_that_may_be_written(seed: int, count: int, rows: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    sizes = torch.tensor([6, 4])
    links, words = random_links(sizes, draw), dictionary(4)
    logits = torch.randn(12, len(words), generator=draw)
    log = logits.log_softmax(-1).view(2, 6, -1)
    graph = Shortlist(words, count, 0.5).read(logits.clone().split(rows), links, sizes)
    assert graph.masses is not None
    for b, size in enumerate(sizes.tolist()):
        for u in range(size):
            special = {0: BOS, size - 1: EOS}.get(u)
            if special is not None:
                assert int(graph.words[b, u, 0]) == special
                assert torch.allclose(graph.scores[b, u, 0], log[b, u, special])
                assert (graph.scores[b, u, 1:] == -inf).all()
                assert torch.allclose(graph.masses[b, u], log[b, u, special] / 0.5)
                continue
            allowed = log[b, u].clone()
            allowed[[BOS, EOS, PAD]] = -inf
            best = allowed.topk(count)
            assert torch.equal(graph.words[b, u], best.indices)
            assert torch.allclose(graph.scores[b, u], best.values)
            assert torch.allclose(graph.masses[b, u], (allowed / 0.5).logsumexp(-1))


def test_no_masses_unless_asked_for() -> None:
    assert random_graph(1, [4])[0].masses is None
