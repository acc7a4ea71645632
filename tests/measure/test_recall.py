"""Recall of candidates, counted by hand."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from fairseq.data import Dictionary
from torch import Tensor

from fastdecode.errors import UserError
from fastdecode.measure.recall import recall_curves, recalled
from fastdecode.measure.statistic import Lines, Split
from fastdecode.system import System


def system_of(*words: str, positions: int = 100) -> System:
    """Dictionaries of these words, numbered from 4 on, and a model of so many positions."""
    dictionary = Dictionary()
    for word in words:
        dictionary.add_symbol(word)
    model = SimpleNamespace(max_positions=lambda: (positions, positions))
    return System([model], dictionary, dictionary)


def test_tokens_are_looked_for_in_their_slots() -> None:
    slots = torch.tensor([[4, 5], [6, 7], [4, 5]])
    assert recalled([slots, torch.tensor([8])], [[5, 5, 4], [8, 4]]) == [(2, 3), (1, 2)]


def test_candidates_and_references_come_in_pairs() -> None:
    with pytest.raises(ValueError):
        recalled([torch.tensor([[4]])], [])


def test_all_ways_against_all_references() -> None:
    system = system_of("a", "b", "c", "d", "e")  # 4 to 8
    split = Split(
        [["x"], ["x", "y"], [], ["z"]],
        {
            "real": [["a", "b"], ["c"], ["d"], ["a"]],
            "teacher": [["e", "b"], ["c", "unheard"], ["d"], []],
        },
    )
    asked: list[Any] = []

    def find(
        sources: Lines, lengths: list[int], sizes: list[int]
    ) -> Iterator[tuple[str, int, list[Tensor]]]:
        asked.append((sources, lengths, sizes))
        for k in (1, 2):
            yield "slots", k, [torch.tensor([[4, 5]] * n)[:, :k] for n in lengths]
        yield "sets", 2, [torch.tensor([6, 5, 4][: n + 1]) for n in lengths]

    found = recall_curves(system, split, find)
    assert asked == [
        ([["x"], ["x", "y"], ["z"]], [2, 1, 1], [1, 2, 4]),  # there are 5 words
        ([["x"], ["x", "y"]], [2, 2], [1, 2, 4]),
    ]
    assert found["references"] == {
        "real": {"lines": 3, "tokens": 4, "left_out": 1},
        "teacher": {"lines": 2, "tokens": 4, "left_out": 2},
    }
    assert [tuple(point.values()) for point in found["points"]] == [
        ("real", "slots", 1, 1, 2 / 4),  # a, a
        ("real", "slots", 2, 2, 3 / 4),  # a, b, a
        ("real", "sets", 2, (2 * 3 + 2 + 2) / 4, 3 / 4),  # a, b and c
        ("teacher", "slots", 1, 1, 0),
        ("teacher", "slots", 2, 2, 1 / 4),  # b
        ("teacher", "sets", 2, 3, 2 / 4),  # b, c; no set has a word that the dictionary lacks
    ]
    assert list(found["points"][0]) == ["references", "candidates", "k", "size", "recall"]
    assert "slot" in found["definition"]
    nothing = (0, 0)  # of lines that are left out
    assert found["by_line"] == {
        "real/slots/1": [(1, 2), (0, 1), nothing, (1, 1)],
        "real/slots/2": [(2, 2), (0, 1), nothing, (1, 1)],
        "real/sets/2": [(2, 2), (1, 1), nothing, (0, 1)],
        "teacher/slots/1": [(0, 2), (0, 2), nothing, nothing],
        "teacher/slots/2": [(1, 2), (0, 2), nothing, nothing],
        "teacher/sets/2": [(1, 2), (1, 2), nothing, nothing],
    }


def test_a_split_of_lines_too_long_is_refused() -> None:
    def find(*_: Any) -> Iterator[tuple[str, int, list[Tensor]]]:
        yield "none", 1, []

    split = Split([["x"] * 3], {"real": [["a"]]})
    with pytest.raises(UserError, match="no reference tokens"):
        recall_curves(system_of("a", positions=4), split, cast(Any, find))
