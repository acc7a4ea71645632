"""Samples against right translations: how many, of which lines, and what is measured."""

from types import SimpleNamespace

import pytest

from fastdecode.errors import UserError
from fastdecode.measure.diversity import (
    multi_reference_bleu,
    pairwise_bleu,
    resampled_multi_reference_bleu,
    resampled_pairwise_bleu,
)
from fastdecode.measure.samples import TEMPERATURES, _some, sampled
from fastdecode.measure.statistic import Lines, Readable, Split
from fastdecode.system import System

SYSTEM = System([SimpleNamespace(max_positions=lambda: (9, 9))], None, None)  # type: ignore[arg-type]
RIGHT = [
    ["the cat sat on it", "a cat sat on it", "the cat was on it"],
    ["one right translation only"],
    ["we go to the house", "we walk to the house", "we go to a house", "we go home to it"],
]


def split(right: Lines) -> Split:
    lines = [[f"s{number}"] for number in range(len(right))]
    return Split(lines, {"real": lines}, Readable(right, " ".join, "en", lowercase=False))


def test_as_many_samples_as_half_of_the_lines_have_references() -> None:
    asked = []

    def draw(sources: Lines, temperature: float, count: int) -> list[Lines]:
        asked.append((sources, temperature, count))
        texts = {"s0": RIGHT[0], "s2": RIGHT[2]}
        return [[text.split() for text in texts[source[0]][:count]] for source in sources]

    found = sampled(SYSTEM, split(RIGHT), draw)
    assert asked == [([["s0"], ["s2"]], temperature, 3) for temperature in TEMPERATURES]
    assert (found["samples"], found["lines"], found["left_out"]) == (3, 2, 1)
    drawn = [RIGHT[0], RIGHT[2][:3]]
    right = [_some(RIGHT[0], 3, 0), _some(RIGHT[2], 3, 2)]
    for point, temperature in zip(found["points"], TEMPERATURES, strict=True):
        assert point["temperature"] == temperature
        assert point["pairwise"] == pairwise_bleu(drawn, "en", False)
        assert point["multi_reference"] == multi_reference_bleu(drawn, right, "en", False)
        assert point["resamples"] == {
            "pairwise": resampled_pairwise_bleu(drawn, "en", False).round(6).tolist(),
            "multi_reference": resampled_multi_reference_bleu(drawn, right, "en", False)
            .round(6)
            .tolist(),
        }


def test_references_are_the_first_and_any_others() -> None:
    right = [str(number) for number in range(9)]
    chosen = [_some(right, 4, line) for line in range(50)]
    assert chosen == [_some(right, 4, line) for line in range(50)]
    for some in chosen:
        assert some[0] == "0"
        assert len(set(some)) == 4
        assert set(some) <= set(right)
    assert {word for some in chosen for word in some} == set(right)


def test_lines_without_any_known_translation_are_left_out() -> None:
    found = sampled(SYSTEM, split([[], RIGHT[0], [], []]), lambda *_: [[["a"], ["b"], ["c"]]])
    assert (found["samples"], found["lines"], found["left_out"]) == (3, 1, 3)


def test_without_several_references_there_is_nothing_to_measure() -> None:
    def draw(*asked: object) -> list[Lines]:
        raise AssertionError

    with pytest.raises(UserError, match="one right translation alone"):
        sampled(SYSTEM, split([["a"], ["b"], ["c", "d"]]), draw)
    with pytest.raises(UserError, match="this split has none"):
        sampled(SYSTEM, Split([["a"]], {"real": [["b"]]}), draw)
