"""Drafts of whatever family: whole sentences where it has no way of its own."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch

from fastdecode import drafting
from fastdecode.config.read import Architecture
from fastdecode.drafting import Batch, Prefixes, Sentences, WholeSentences, build_drafter
from fastdecode.families import FAMILIES, drafter_builder
from fastdecode.measure.untrained import untrained_system
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
    drafts.keep(torch.tensor([1]))
    assert drafts.propose(prefixes([0]), 2).tolist() == [[8, 2]]


def test_prefixes_that_stay() -> None:
    kept = Prefixes(torch.tensor([[5, 6], [7, 8]]), torch.tensor([2, 1]), 2).keep(
        torch.tensor([1]), 1
    )
    assert (kept.tokens.tolist(), kept.lengths.tolist(), kept.longest) == ([[7, 8]], [1], 1)


class Upside:
    """Translates by turning sentences round."""

    bytes_per_pass = 12

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
    assert drafter.bytes_per_pass == 12


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
