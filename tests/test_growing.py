"""Recorded steps of searches against plain ones, on a CPU that repeats what a GPU would."""

from collections.abc import Callable
from math import inf
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from fastdecode.config.models import Architecture
from fastdecode.families.autoregressive import search as single
from fastdecode.families.bidirectional import greedy, search
from fastdecode.growing import RecordedStep, beginning_search
from fastdecode.measure.untrained import untrained_system
from fastdecode.stepping import Rules, Search
from fastdecode.transformer.recording import BLOCK
from tests.recording import record_on_this_cpu

PAD, EOS = 1, 2
WORDS = 9
Kind = Callable[..., Any]
Group = tuple[int, ...]  # the tokens of a group, if the search knows groups
KINDS: list[tuple[Kind, Group]] = [
    (single.Greedy, ()),
    (single.Beam, ()),
    *((kind, (size,)) for kind in (greedy.Greedy, search.Search) for size in (1, 2)),
]
PRECISIONS = [torch.float16, torch.float32, torch.float64]
Logits = tuple[int, str, int]  # the limit on length, what kind of numbers, a seed

logits_drawn = st.tuples(
    st.integers(4, BLOCK + 8), st.sampled_from(["any", "whole", "gaps"]), st.integers(0, 9999)
)


def logits_of(kind: str, seed: int, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Return random logits: `whole` numbers tie, and of those with `gaps` half are -inf."""
    draw = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(shape, generator=draw, dtype=torch.double)
    logits[..., EOS] -= seed % 4  # long ones, too
    if kind != "any":
        logits = logits.round()
    if kind == "gaps":
        gaps = torch.rand(shape, generator=draw) < 0.5
        gaps[..., [EOS, EOS + 1, EOS + 2]] = False  # something can always follow
        logits = logits.masked_fill(gaps, -inf)
    return logits.to(dtype)


def said(found: Search, logits: Tensor, beam: int) -> list[Any]:
    """Return what a search of one sentence says in each step, and its translation.

    Hypotheses at -inf, which come in any order, are left out.
    """
    says: list[Any] = []
    last = torch.zeros(beam, dtype=torch.long)
    for of_step in logits:  # (V, W, …, V), by the last tokens
        rows, tokens = found.advance(of_step[last, torch.arange(beam)].clone())
        last = tokens.view(beam, -1)[:, -1].clone()
        live = vars(found)["_scores"].flatten() > -inf
        says.append((None if rows is None else rows[live].tolist(), tokens[live].tolist()))
        if found.done.all():
            return [*says, found.results(torch.tensor([0]))]
    raise AssertionError("the search never ends")


@settings(max_examples=60, deadline=None)
@given(
    which=st.sampled_from(KINDS),
    beam=st.sampled_from([1, 2, 5]),
    lenpen=st.sampled_from([0.0, 0.6, 1.0]),
    min_len=st.integers(0, 4),
    exact=st.booleans(),
    dtype=st.sampled_from(PRECISIONS),
    sentences=st.lists(logits_drawn, min_size=1, max_size=4),
)
def test_recorded_steps_say_what_plain_ones_say(
    which: tuple[Kind, Group],
    beam: int,
    lenpen: float,
    min_len: int,
    exact: bool,
    dtype: torch.dtype,
    sentences: list[Logits],
) -> None:
    kind, group = which
    beam = 1 if kind in (single.Greedy, greedy.Greedy) else beam
    rules = Rules(beam, lenpen, min_len, EOS, PAD, exact, *group)
    expected, given_logits = [], []
    for limit, how, seed in sentences:
        shape = limit // rules.size + 1, WORDS, beam, *group, WORDS
        given_logits.append(logits_of(how, seed, shape, dtype))
        expected.append(said(kind(rules, torch.tensor([limit])), given_logits[-1], beam))
    with pytest.MonkeyPatch.context() as patch:
        recorder = record_on_this_cpu(patch)
        step = RecordedStep()  # one for all sentences
        for (limit, *_), logits, plain in zip(sentences, given_logits, expected, strict=True):
            assert said(kind(rules, torch.tensor([limit]), step), logits, beam) == plain
        sizes = {(limit + rules.size - 1) // BLOCK for limit, *_ in sentences}
        assert recorder.count == len(sizes)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("size", [1, 2])
def test_what_is_forbidden_does_not_depend_on_who_knows_the_place(exact: bool, size: int) -> None:
    rules = Rules(1, 1.0, 3, EOS, PAD, exact, size)
    limits = torch.tensor([7, 3, 4])
    for slot in range(9):
        for shape in ((3, size, WORDS), (3, 2, size, WORDS)):
            logits = torch.randn(shape)
            expected = logits.clone()
            for place in range(size):
                rules.forbid(expected[..., place, :], slot + place, limits, 3)
            rules.forbid_at(logits, slot + torch.arange(size), limits)
            assert torch.equal(logits, expected)


def test_a_sentence_alone_is_recorded_and_shares_its_steps_by_rules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record_on_this_cpu(monkeypatch)
    system = untrained_system(Architecture(8, 12, 2, 1, 1), 20)
    begin = beginning_search(system, single.Greedy)

    def steps(rules: Rules, *limits: int, how: Callable[..., Search] = begin) -> Any:
        return vars(how(rules, torch.tensor(limits)))["_recorded"]

    rules, other = (Rules(1, 1.0, min_len, EOS, PAD) for min_len in (1, 2))
    assert steps(rules, 5, 5) is None
    assert steps(rules, 5) is steps(rules, 70) is not None
    again = beginning_search(system, single.Greedy)  # for the next decoder of the system
    assert steps(rules, 5, how=again) is steps(rules, 5)
    assert steps(other, 5) is not steps(rules, 5)
    assert steps(rules, 5, how=beginning_search(system, single.Beam)) is not steps(rules, 5)


def test_without_a_gpu_nothing_is_recorded() -> None:
    system = untrained_system(Architecture(8, 12, 2, 1, 1), 20)
    begun = beginning_search(system, single.Greedy)(Rules(1, 1.0, 1, EOS, PAD), torch.tensor([5]))
    assert vars(begun)["_recorded"] is None
