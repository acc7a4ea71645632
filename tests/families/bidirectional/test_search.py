"""The batched search on tables of probabilities: its naive twin, enumeration, cases by hand."""

from dataclasses import replace
from itertools import product
from math import exp, inf, log

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from fastdecode.families.bidirectional.greedy import Greedy
from fastdecode.families.bidirectional.naive import Distributions, naive_search
from fastdecode.families.bidirectional.search import Search
from fastdecode.stepping import Found, Rules

PAD, E = 1, 2  # E: EOD
VOCABULARY = 6
WORDS = [word for word in range(VOCABULARY) if word not in (PAD, E)]
START = {1: [E], 2: [0, E]}


def tables(seed: int, sentences: int, size: int = 2) -> Tensor:
    """Random logits of the next group after each group, for each sentence: (B, V^size, size, V)."""
    generator = torch.Generator().manual_seed(seed)
    shape = sentences, VOCABULARY**size, size, VOCABULARY
    return 2 * torch.randn(shape, generator=generator).double()


def number(group: Tensor) -> Tensor:
    """Return the row of a table for each group (…, size)."""
    place = VOCABULARY ** torch.arange(group.shape[-1])
    return (group * place).sum(-1)


def run(search: Search | Greedy, table: Tensor, rules: Rules) -> list[Found]:
    """Search until all are done; the next group depends on the last one alone."""
    last = torch.tensor(START[rules.size]).expand(len(table), rules.beam, -1)
    for _ in range(99):
        logits = table[torch.arange(len(table))[:, None], number(last)]  # (B, W, size, V)
        _, tokens = search.advance(logits.flatten(0, 1).clone())
        last = tokens.view(len(table), rules.beam, -1)
        if search.done.all():
            return search.results(torch.arange(len(table)))
    raise AssertionError("the search never ends")


def naive(table: Tensor, rules: Rules, limit: int) -> Found:
    """The naive twin on one sentence's table, with the same roundings."""
    chances = table - table.logsumexp(-1, keepdim=True)

    def next_group(words: list[int]) -> Distributions:
        seen = [*START[rules.size], *words][-rules.size :]
        group: Distributions = chances[int(number(torch.tensor(seen)))].tolist()
        return group

    return naive_search(next_group, rules, limit)


def assert_same(one: Found, other: Found) -> None:
    assert (one[0], one[2]) == (other[0], other[2])
    assert one[1] == pytest.approx(other[1], abs=1e-12)


rules_drawn = st.builds(
    Rules,
    size=st.sampled_from([1, 2]),
    beam=st.integers(1, 16),
    lenpen=st.sampled_from([0.0, 0.6, 1.0, 2.0]),
    min_len=st.integers(0, 4),
    eos=st.just(E),
    pad=st.just(PAD),
)


@settings(max_examples=80)
@given(seed=st.integers(0, 9999), rules=rules_drawn, limits=st.lists(st.integers(4, 9), min_size=3))
def test_it_finds_what_its_naive_twin_finds(seed: int, rules: Rules, limits: list[int]) -> None:
    table = tables(seed, len(limits), rules.size)
    found = run(Search(rules, torch.tensor(limits)), table, rules)
    for one, batched, limit in zip(table, found, limits, strict=True):
        assert_same(batched, naive(one, rules, limit))
        assert rules.min_len <= len(batched[0]) <= limit


@settings(max_examples=80)
@given(
    seed=st.integers(0, 9999),
    rules=rules_drawn,
    limits=st.lists(st.integers(4, 9), min_size=3),
    steepness=st.sampled_from([0, 1, 4]),  # 0: nearly every comparison is a tie
)
def test_writing_greedily_is_the_search_with_one_hypothesis(
    seed: int, rules: Rules, limits: list[int], steepness: float
) -> None:
    rules = replace(rules, beam=1)
    table = steepness * tables(seed, len(limits), rules.size)
    expected = run(Search(rules, torch.tensor(limits)), table, rules)
    for one, other in zip(
        run(Greedy(rules, torch.tensor(limits)), table, rules), expected, strict=True
    ):
        assert_same(one, other)


@pytest.mark.parametrize(("word", "words"), [(0, [0, 3, 0, 3]), (4, [])])
def test_greedily_too_the_lower_left_token_wins_a_tie(word: int, words: list[int]) -> None:
    """A word and the end are as likely on the left, and the right token is certain."""
    rules = Rules(size=2, beam=1, lenpen=1.0, min_len=0, eos=E, pad=PAD)
    table = torch.full((1, VOCABULARY**2, 2, VOCABULARY), -inf, dtype=torch.float64)
    table[:, :, 0, [word, E]] = 0.0
    table[:, :, 1, 3] = 0.0
    limit = torch.tensor([4])
    for kind in (Search, Greedy):
        assert run(kind(rules, limit), table, rules)[0][0] == words


@settings(max_examples=30)
@given(rules=rules_drawn, limit=st.integers(4, 9), ends=st.sampled_from([-2.0, 0.0, 2.0]))
def test_ties_fall_as_the_rule_says(rules: Rules, limit: int, ends: float) -> None:
    """All words alike: nearly every comparison is a tie."""
    table = torch.zeros(1, VOCABULARY**rules.size, rules.size, VOCABULARY, dtype=torch.float64)
    table[..., E] = ends
    assert_same(
        run(Search(rules, torch.tensor([limit])), table, rules)[0], naive(table[0], rules, limit)
    )


def test_the_rule_by_hand() -> None:
    """Eight equal pairs of words, then equal ends: the lowest numbers win."""
    rules = Rules(size=2, beam=2, lenpen=0.0, min_len=2, eos=E, pad=PAD)
    search = Search(rules, torch.tensor([4]))
    level = torch.full((2, 2, VOCABULARY), -40.0)
    level[:, 0, [5, 3]] = level[:, 1, [0, 4]] = 0.0
    rows, tokens = search.advance(level.clone())
    assert (rows.tolist(), tokens.tolist()) == ([0, 0], [[3, 0], [3, 4]])
    level = torch.full((2, 2, VOCABULARY), -40.0)
    level[:, 0, E] = 0.0
    search.advance(level)
    assert search.done.item() and search.results(torch.tensor([0]))[0][0] == [3, 0]


def score(table: Tensor, words: tuple[int, ...], rules: Rules) -> float:
    """Return the normalised score of one output, by the definition of its probability."""
    chances = table.log_softmax(-1)
    size = rules.size
    slots = [*words, *[E] * (size - len(words) % size)]
    total, last = 0.0, START[size]
    for at in range(0, len(slots), size):
        group = slots[at : at + size]
        row = chances[int(number(torch.tensor(last)))]
        counted = 1 if group[0] == E else size  # behind a left EOD nothing is left to choose
        total += float(sum(row[place, group[place]] for place in range(counted)))
        last = group
    return total / (len(words) + 1) ** rules.lenpen


@settings(max_examples=25)
@given(
    seed=st.integers(0, 9999),
    size=st.sampled_from([1, 2]),
    lenpen=st.sampled_from([0.0, 0.6, 1.0, 2.0]),
    shortest=st.integers(0, 3),
)
def test_a_wide_beam_finds_the_best_of_all(
    seed: int, size: int, lenpen: float, shortest: int
) -> None:
    rules = Rules(size=size, beam=100, lenpen=lenpen, min_len=shortest, eos=E, pad=PAD)
    table = tables(seed, sentences=2, size=size)
    found = run(Search(rules, torch.tensor([3, 3])), table, rules)
    outputs = [o for n in range(shortest, 4) for o in product(WORDS, repeat=n)]
    for one, (words, normalised, _) in zip(table, found, strict=True):
        best = max(outputs, key=lambda output: score(one, output, rules))
        assert tuple(words) == best
        assert normalised == pytest.approx(score(one, best, rules), abs=1e-9)


def test_all_outputs_together_have_probability_1() -> None:
    """Of `score`, which the search is held to: EOD on the left closes the pair, so that no output
    is counted twice or lost."""
    for size in (1, 2):
        rules = Rules(size=size, beam=1, lenpen=0.0, min_len=0, eos=E, pad=PAD)
        (table,) = tables(3, 1, size)
        table[..., PAD] = -inf
        table[:, 0, E] = table[:, 0, E].where(torch.arange(len(table)) == start(size), 99.0)
        # After the first group the left token is EOD: outputs have `size` tokens at most.
        outputs = [o for n in range(size + 1) for o in product(WORDS, repeat=n)]
        assert sum(exp(score(table, o, rules)) for o in outputs) == pytest.approx(1, abs=1e-9)


def start(size: int) -> int:
    return int(number(torch.tensor(START[size])))


@settings(max_examples=40)
@given(seed=st.integers(0, 9999), limit=st.integers(2, 9))
def test_a_beam_of_one_takes_the_likeliest_pair(seed: int, limit: int) -> None:
    """That is the likeliest token of each side, or an EOD on the left, which is a pair alone.

    The EOD has to be one of the two likeliest tokens there.
    """
    rules = Rules(size=2, beam=1, lenpen=1.0, min_len=0, eos=E, pad=PAD)
    table = tables(seed, 1)
    ((words, _, passes),) = run(Search(rules, torch.tensor([limit])), table, rules)
    (chances,) = table.log_softmax(-1)
    chances[..., PAD] = -inf
    expected: list[int] = []
    last = START[2]
    steps = 0
    while True:
        steps += 1
        here = chances[int(number(torch.tensor(last)))].clone()
        if len(expected) >= limit - 1:  # room for one token, or none
            here[1, WORDS] = -inf
        if len(expected) == limit:
            here[0, WORDS] = -inf
        best, last = here.max(-1).values, here.argmax(-1).tolist()
        if E in here[0].topk(2).indices and here[0, E] >= best.sum():
            break
        expected += [token for token in last if token != E]
        if last[1] == E:
            break
    assert (words, passes) == (expected, steps)


@settings(max_examples=30)
@given(seed=st.integers(0, 9999), rules=rules_drawn)
def test_a_sentence_finds_the_same_in_any_company(seed: int, rules: Rules) -> None:
    table = tables(seed, 4, rules.size)
    limits = torch.tensor([7, 4, 9, 5])
    together = run(Search(rules, limits), table, rules)
    for i in range(4):
        (alone,) = run(Search(rules, limits[i : i + 1]), table[i : i + 1], rules)
        assert_same(alone, together[i])


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize(("beam", "kind"), [(1, Search), (3, Search), (1, Greedy)])
def test_sentences_that_stay_go_on_as_if_nothing_had_been(
    beam: int, kind: type[Search] | type[Greedy], size: int
) -> None:
    table = tables(5, 4, size)
    table[..., E] -= 4.0  # long ones
    limits = torch.tensor([9, 2, 8, 3])
    rules = Rules(size=size, beam=beam, lenpen=1.0, min_len=1, eos=E, pad=PAD)
    expected = run(Search(rules, limits), table, rules)
    search = kind(rules, limits)
    last = torch.tensor(START[size]).expand(4, beam, -1)
    found = {}
    numbers = torch.arange(4)
    while len(found) < 4:
        logits = table[numbers[:, None], number(last)].flatten(0, 1)
        last = search.advance(logits.clone())[1].view(-1, beam, size)
        over, stay = search.done.nonzero().flatten(), (~search.done).nonzero().flatten()
        found |= zip(numbers[over].tolist(), search.results(over), strict=True)
        search.keep(stay)
        numbers, last = numbers[stay], last[stay]
    assert [found[i] for i in range(4)] == expected


def test_a_hypothesis_that_ends_in_the_middle_keeps_its_left_token() -> None:
    rules = Rules(size=2, beam=1, lenpen=1.0, min_len=0, eos=E, pad=PAD)
    search = Search(rules, torch.tensor([9]))
    chances = torch.full((1, 2, VOCABULARY), -inf)
    chances[0, 0, [3, E]] = torch.tensor([0.8, 0.2]).log()
    chances[0, 1, [4, E]] = torch.tensor([0.1, 0.9]).log()
    search.advance(chances)
    assert search.done.item()
    ((words, normalised, passes),) = search.results(torch.tensor([0]))
    assert (words, passes) == ([3], 1)
    assert normalised == pytest.approx(log(0.8 * 0.9) / 2)


def test_a_left_end_costs_nothing_on_the_right() -> None:
    rules = Rules(size=2, beam=1, lenpen=1.0, min_len=0, eos=E, pad=PAD)
    search = Search(rules, torch.tensor([9]))
    chances = torch.full((1, 2, VOCABULARY), -inf)
    chances[0, 0, [3, E]] = torch.tensor([0.4, 0.6]).log()
    chances[0, 1, [4, E]] = torch.tensor([0.9, 0.1]).log()
    search.advance(chances)
    ((words, normalised, passes),) = search.results(torch.tensor([0]))
    assert (words, passes) == ([], 1) and normalised == pytest.approx(log(0.6))


def test_no_more_than_the_beam_end_at_once() -> None:
    """W = 2: of four candidates that end, the two best count; two others go on."""
    rules = Rules(size=2, beam=2, lenpen=1.0, min_len=0, eos=E, pad=PAD)
    search = Search(rules, torch.tensor([9]))
    chances = torch.full((2, 2, VOCABULARY), -inf)
    chances[:, 0, [3, 4]] = torch.tensor([0.6, 0.4]).log()
    chances[:, 1, [E, 5]] = torch.tensor([0.9, 0.1]).log()
    rows, tokens = search.advance(chances)
    # Best first: 3 E (.54), 4 E (.36), 3 5 (.06), 4 5 (.04).
    assert search.done.item()
    assert (rows.tolist(), tokens.tolist()) == ([0, 0], [[3, 5], [4, 5]])
    ((words, normalised, _),) = search.results(torch.tensor([0]))
    assert words == [3] and normalised == pytest.approx(log(0.54) / 2)


def test_of_equal_translations_the_first_found_wins() -> None:
    """W = 2 and no normalisation: [3] ends with .5 a step before [4 5] does."""
    rules = Rules(size=1, beam=2, lenpen=0.0, min_len=0, eos=E, pad=PAD)
    search = Search(rules, torch.tensor([9]))
    for rows in ([[3, 4], [3, 4]], [[E], [5]], [[E], [E]]):
        logits = torch.full((2, 1, VOCABULARY), -inf)
        for row, likely in enumerate(rows):
            logits[row, 0, likely] = 0.0
        search.advance(logits)
    assert search.done.item()
    ((words, normalised, passes),) = search.results(torch.tensor([0]))
    assert (words, passes) == ([3], 3) and normalised == pytest.approx(log(0.5))
