"""Drafts of whatever family: whole sentences where it has no way of its own."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fastdecode import drafting
from fastdecode.config.models import Architecture
from fastdecode.drafting import Batch, Prefixes, Sentences, WholeSentences, build_drafter
from fastdecode.families import FAMILIES, drafter_builder
from fastdecode.measure.untrained import untrained_system
from fastdecode.transformer.weights import Layers
from fastdecode.translation import Translation

PAD = 1


def prefixes(lengths: list[int]) -> Prefixes:
    tokens = torch.zeros(len(lengths), max(lengths) + 1, dtype=torch.long)
    return Prefixes(tokens, torch.tensor(lengths), max(lengths))


def test_the_rest_of_a_sentence_is_proposed_from_any_place_on() -> None:
    drafts = Sentences(torch.tensor([[5, 6, 7, 2], [8, 2, PAD, PAD]]), PAD)
    assert drafts.propose(prefixes([1, 0]), 3).tolist() == [[6, 7, 2], [8, 2, PAD]]
    assert drafts.propose(prefixes([9, 1]), 2).tolist() == [[PAD, PAD], [2, PAD]]
    assert drafts.propose(prefixes([0, 0]), 0).shape == (2, 0)
    assert drafts.propose(prefixes([2, 1]), 99).tolist() == [[7, 2, PAD, PAD], [2, PAD, PAD, PAD]]
    drafts.keep(torch.tensor([1]))
    assert drafts.propose(prefixes([0]), 2).tolist() == [[8, 2]]


def behind(draft: list[int], prefix: list[int]) -> int:
    """Naive twin: where `draft` goes on after `prefix`."""
    if not prefix or prefix[-1] not in draft:
        return len(prefix)
    places = [place for place, word in enumerate(draft) if word == prefix[-1]]
    return 1 + min(places, key=lambda place: (abs(place + 1 - len(prefix)), -place))


@pytest.mark.parametrize(
    ("prefix", "rest"),
    [
        ([5, 6], [7, 6, 8, 2]),  # as drafted
        ([5, 7], [6, 8, 2]),  # without a word
        ([9, 5], [6, 7, 6, 8, 2]),  # with one more
        ([5, 9, 6], [8, 2]),  # the later of two that are as near
        ([5, 9], [7, 6, 8, 2]),  # another word: on at the same place
    ],
)
def test_a_draft_goes_on_behind_the_last_word(prefix: list[int], rest: list[int]) -> None:
    draft = [5, 6, 7, 6, 8, 2]
    proposed = Sentences(torch.tensor([draft]), PAD).propose(
        Prefixes(torch.tensor([prefix]), torch.tensor([len(prefix)]), len(prefix)), len(rest)
    )
    assert proposed.tolist() == [rest]


SENTENCE = st.lists(st.integers(5, 9), max_size=7)


@given(st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=4))
def test_every_row_goes_on_as_by_the_naive_twin(rows: list[tuple[list[int], list[int]]]) -> None:
    width = max(len(draft) for draft, _ in rows) + 1
    drafts = torch.tensor([[*draft, 2] + [PAD] * (width - len(draft) - 1) for draft, _ in rows])
    lengths = [len(prefix) for _, prefix in rows]
    padded = torch.tensor([prefix + [0] * (max(lengths) + 1 - len(prefix)) for _, prefix in rows])
    proposed = Sentences(drafts, PAD).propose(
        Prefixes(padded, torch.tensor(lengths), max(lengths)), 3
    )
    for row, (draft, prefix) in zip(proposed.tolist(), rows, strict=True):
        start = behind([*draft, 2], prefix)
        assert row == ([*draft, 2] + [PAD] * 20)[start : start + min(3, width)]


class Upside:
    """Translates by turning sentences round."""

    bytes_per_pass, serial_layers = 12, Layers(3, 2)

    def __call__(self, sources: Sequence[Sequence[str]]) -> list[Translation]:
        return [Translation("", list(source)[::-1], None, 1) for source in sources]


def test_a_decoder_drafts_whole_sentences() -> None:
    system = untrained_system(Architecture(8, 8, 2, 1, 1), 20)
    words = system.target
    drafter = WholeSentences(Upside(), words, "cpu")
    sources = [["w1", "w2"], ["w3"]]
    drafts = drafter.begin(Batch(sources, torch.zeros(2, 3), None))
    first, second, third = (words.index(f"w{n}") for n in (1, 2, 3))
    expected = [[second, first, words.eos()], [third, words.eos(), words.pad()]]
    assert drafts.propose(prefixes([0, 0]), 3).tolist() == expected
    assert drafter.bytes_per_pass == 0  # the second draft reads none of the 12
    assert drafter.serial_layers == (5, 0)
    assert drafter.begins == "draft"  # not the drafter's encoder


def test_who_drafts_in_which_way(monkeypatch: pytest.MonkeyPatch) -> None:
    ways = {family: drafter_builder(family) for family in FAMILIES}
    assert [family for family, way in ways.items() if way] == ["aggressive"]
    system = untrained_system(Architecture(8, 8, 2, 1, 1), 20)
    assert isinstance(build_drafter("autoregressive", system, {"beam": 1}), WholeSentences)
    asked: list[Any] = []

    def own(*arguments: Any) -> str:
        asked.extend(arguments)
        return "a drafter"

    monkeypatch.setattr(drafting, "drafter_builder", lambda family: own)
    built: Any = build_drafter("lattice", system, {"k": 3})
    assert (built, asked) == ("a drafter", [system, {"k": 3}])
