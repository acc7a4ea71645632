"""Acceptance against the paper's equations, token by token, with ties and bans."""

from math import inf

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.families.aggressive import naive, verify
from fastdecode.families.aggressive.verify import Rules, accept

PAD, EOS, WORDS = 1, 2, 6
RULES = Rules(EOS, PAD, 1)
tables = st.lists(  # small whole numbers, so that many are equal
    st.lists(st.integers(0, 3).map(float), min_size=WORDS, max_size=WORDS), min_size=1, max_size=5
)


@pytest.mark.parametrize("free", [True, False])
@given(
    table=tables, beta=st.integers(1, WORDS), tau=st.sampled_from([0.0, 1.0, 2.5]), data=st.data()
)
def test_it_accepts_what_the_equations_accept(
    free: bool, table: list[list[float]], beta: int, tau: float, data: st.DataObject
) -> None:
    drafted = [data.draw(st.integers(0, WORDS - 1)) for _ in table[1:]]
    logits = torch.tensor(table, dtype=torch.float64)
    norms = logits.logsumexp(-1)
    logits[:, PAD] = -inf
    scores = [row - norm for row, norm in zip(logits, norms, strict=True)]
    expected = naive._verify(drafted, [], lambda words: scores[len(words)], EOS, beta, tau)
    drafts = torch.tensor([drafted]).long()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verify, "looks_are_free", lambda device: free)
        found = accept(drafts, logits[None], norms[None], beta, tau, RULES)
    (count,) = found.counts.tolist()
    assert found.tokens[0, :count].tolist() == expected
    assert bool(found.ended) == (expected[-1] == EOS)
    assert EOS not in expected[:-1]
    total = sum(float(scores[i][token]) for i, token in enumerate(expected))
    assert float(found.scores) == pytest.approx(total)


def test_rows_are_accepted_each_by_itself() -> None:
    drafts = torch.tensor([[3, 4, 5], [3, EOS, 5], [5, 5, 5], [3, 4, 4]])
    best = torch.tensor([[3, 4, 5, EOS], [3, EOS, 5, 5], [4, 5, 5, 5], [3, 4, 5, 5]])
    logits = torch.nn.functional.one_hot(best, WORDS).double()
    found = accept(drafts, logits, logits.logsumexp(-1), 1, 0.0, RULES)
    assert found.counts.tolist() == [4, 2, 1, 3]
    assert found.ended.tolist() == [True, True, False, False]
    written = [row[:n] for row, n in zip(found.tokens.tolist(), found.counts, strict=True)]
    assert written == [[3, 4, 5, EOS], [3, EOS], [4], [3, 4, 5]]


def test_padding_proposes_nothing_however_tolerant_the_verifier() -> None:
    logits = torch.zeros(1, 2, WORDS)
    logits[..., PAD] = -inf
    found = accept(torch.tensor([[PAD]]), logits, logits.logsumexp(-1), WORDS, inf, RULES)
    assert found.counts.tolist() == [1]


def test_what_may_be_written_where() -> None:
    first, limits = torch.tensor([0, 2]), torch.tensor([5, 3])
    rules = Rules(EOS, PAD, min_len=2)
    allowed = rules.forbid(torch.zeros(2, 3, WORDS), first, limits, near=True) > -inf
    words = [i for i in range(WORDS) if i not in (PAD, EOS)]
    seen = [[row.nonzero().flatten().tolist() for row in rows] for rows in allowed]
    both = sorted([*words, EOS])
    assert seen == [[words, words, both], [both, [EOS], [EOS]]]
    early = rules.forbid(torch.zeros(1, 1, WORDS), first[:1], limits[:1], near=False) > -inf
    assert early[0, 0].nonzero().flatten().tolist() == words
