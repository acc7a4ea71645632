"""Greedy and beam search on a table of probabilities, against enumeration."""

from itertools import product
from math import inf, log

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from fastdecode.families.autoregressive.search import Beam, Greedy
from fastdecode.stepping import Rules, Search

PAD, EOS = 1, 2
VOCABULARY = 6
LIMIT = 3


def bigrams(seed: int, sentences: int) -> Tensor:
    """Random logits of the next token after each token, for each sentence."""
    generator = torch.Generator().manual_seed(seed)
    return 2 * torch.randn(sentences, VOCABULARY, VOCABULARY, generator=generator).double()


def run(search: Search, table: Tensor, beam: int) -> list[tuple[list[int], float, int]]:
    """Search until all are done; the next token depends on the last one alone."""
    last = torch.full((len(table), beam), EOS)
    for _ in range(99):
        logits = table[torch.arange(len(table))[:, None], last].flatten(0, 1)
        _, tokens = search.advance(logits.clone())
        last = tokens.view(len(table), beam)
        if search.done.all():
            return search.results(torch.arange(len(table)))
    raise AssertionError("the search never ends")


def score(table: Tensor, words: tuple[int, ...], lenpen: float) -> float:
    """Return the normalised score of one output, whose end is counted with it."""
    path = [EOS, *words, EOS]
    log = table.log_softmax(-1)
    return float(sum(log[path[i], path[i + 1]] for i in range(len(path) - 1))) / (
        (len(words) + 1) ** lenpen
    )


def outputs(shortest: int) -> list[tuple[int, ...]]:
    """All that may be written: any token but padding and the end."""
    words = [word for word in range(VOCABULARY) if word not in (PAD, EOS)]
    return [o for size in range(shortest, LIMIT + 1) for o in product(words, repeat=size)]


@settings(max_examples=40)
@given(
    seed=st.integers(0, 9999),
    lenpen=st.sampled_from([0.0, 0.6, 1.0, 2.0]),
    shortest=st.integers(1, 3),
)
def test_a_wide_beam_finds_the_best_of_all(seed: int, lenpen: float, shortest: int) -> None:
    table = bigrams(seed, sentences=2)
    rules = Rules(beam=80, lenpen=lenpen, min_len=shortest, eos=EOS, pad=PAD)
    found = run(Beam(rules, torch.tensor([LIMIT, LIMIT])), table, 80)
    for one, (words, normalised, _) in zip(table, found, strict=True):
        best = max(outputs(shortest), key=lambda output: score(one, output, lenpen))
        assert normalised == pytest.approx(score(one, best, lenpen), abs=1e-5)
        assert score(one, tuple(words), lenpen) == pytest.approx(normalised, abs=1e-5)


@settings(max_examples=60)
@given(seed=st.integers(0, 9999), shortest=st.integers(1, 4), limit=st.integers(4, 9))
def test_a_beam_of_one_is_greedy(seed: int, shortest: int, limit: int) -> None:
    table = bigrams(seed, sentences=5)
    limits = torch.tensor([limit, 4, limit, 5, 6])
    rules = Rules(beam=1, lenpen=1.0, min_len=shortest, eos=EOS, pad=PAD)
    greedy = run(Greedy(rules, limits), table, 1)
    beam = run(Beam(rules, limits), table, 1)
    for (words, one, passes), other, most in zip(greedy, beam, limits.tolist(), strict=True):
        assert (words, passes) == (other[0], other[2])
        assert one == pytest.approx(other[1], abs=1e-6)
        assert passes == len(words) + 1
        assert shortest <= len(words) <= most and PAD not in words


@settings(max_examples=40)
@given(seed=st.integers(0, 9999), beam=st.integers(1, 5))
def test_a_sentence_finds_the_same_in_any_company(seed: int, beam: int) -> None:
    table = bigrams(seed, sentences=4)
    limits = torch.tensor([7, 3, 9, 5])
    rules = Rules(beam, lenpen=1.0, min_len=1, eos=EOS, pad=PAD)
    kind = Greedy if beam == 1 else Beam
    together = run(kind(rules, limits), table, beam)
    for i in range(4):
        (alone,) = run(kind(rules, limits[i : i + 1]), table[i : i + 1], beam)
        assert (alone[0], alone[2]) == (together[i][0], together[i][2])
        assert alone[1] == pytest.approx(together[i][1], abs=1e-6)


@pytest.mark.parametrize("beam", [1, 3])
def test_sentences_that_stay_go_on_as_if_nothing_had_been(beam: int) -> None:
    table = bigrams(5, sentences=4)
    table[:, :, EOS] -= 4.0  # long ones
    limits = torch.tensor([9, 2, 8, 3])
    rules = Rules(beam, lenpen=1.0, min_len=1, eos=EOS, pad=PAD)
    kind = Greedy if beam == 1 else Beam
    expected = run(kind(rules, limits), table, beam)
    search: Search = kind(rules, limits)
    last = torch.full((4, beam), EOS)
    found = {}
    numbers = torch.arange(4)
    while len(found) < 4:
        logits = table[numbers[:, None], last].flatten(0, 1)
        last = search.advance(logits.clone())[1].view(-1, beam)
        over, stay = search.done.nonzero().flatten(), (~search.done).nonzero().flatten()
        found |= zip(numbers[over].tolist(), search.results(over), strict=True)
        if len(stay):
            search.keep(stay)
        numbers, last = numbers[stay], last[stay]
    assert [found[i] for i in range(4)] == expected


def test_finished_hypotheses_keep_their_rank_and_no_more_than_the_beam() -> None:
    """Two steps by hand: K = 2, tokens 3 and 4, ending from the start."""
    rules = Rules(beam=2, lenpen=1.0, min_len=0, eos=EOS, pad=PAD)
    search = Beam(rules, torch.tensor([5]))
    first = torch.full((2, VOCABULARY), -inf)
    first[:, [EOS, 3, 4]] = torch.tensor([0.5, 0.3, 0.2]).log()
    rows, tokens = search.advance(first.clone())
    assert tokens.tolist() == [3, 4] and rows.tolist() == [0, 0] and not search.done.any()
    second = torch.full((2, VOCABULARY), -inf)
    second[:, [EOS, 3]] = torch.tensor([0.9, 0.1]).log()
    search.advance(second.clone())
    # [3 </s>] has 0.27 and is the second; [4 </s>] with 0.18 finds no room.
    assert search.done.tolist() == [True]
    ((words, normalised, passes),) = search.results(torch.tensor([0]))
    assert (words, passes) == ([3], 2)
    assert normalised == pytest.approx(log(0.27) / 2)
