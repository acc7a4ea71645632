from pathlib import Path
from typing import Any

import pytest

from fastdecode.errors import UserError
from fastdecode.measure.agreement import agreement, apart, differing_lines
from fastdecode.translation import Translation, write_translations


def translation(words: str, score: float | None) -> Translation:
    return Translation(words.capitalize(), words.split(), score, 1)


ONE = [translation("a b", -0.5), translation("c", -1.0), translation("d d", -2.0)]


def write(path: Path, translations: list[Translation], sources: str = "xyz", **origin: Any) -> Path:
    model = {"target": "raw", "system": "big", "seed": 1, "decoder": path.name}
    write_translations(path, {"provenance": model | origin}, list(sources), translations)
    return path


def test_lines_that_differ_come_with_the_gap_of_their_scores() -> None:
    other = [translation("a b", -0.4), translation("e", -1.25), translation("d", None)]
    first, second = differing_lines(ONE, other)
    assert first == (2, "C", "E", -1.0, -1.25, 0.25)
    assert (second.line, second.gap) == (3, None)
    assert differing_lines(ONE, ONE) == []


def test_of_given_text_the_text_is_compared() -> None:
    """Its tokens are words, whatever pieces the other side has."""
    pieces = [Translation("Ab ba", ["a@@", "b", "ba"], -0.5, 3), Translation("ba", ["ba"], -1.0, 2)]
    text = [Translation("Ab ba", ["Ab", "ba"], None, 0), Translation("ab", ["ab"], None, 0)]
    for one, other in ((pieces, text), (text, pieces)):
        (difference,) = differing_lines(one, other)
        assert (difference.line, difference.gap) == (2, None)


def test_two_files_of_a_model(tmp_path: Path) -> None:
    path = write(tmp_path / "fast.jsonl.gz", ONE)
    twin = write(tmp_path / "slow.jsonl.gz", [ONE[0], translation("e", -1.5), ONE[2]])
    record = agreement(path, twin)
    assert (record["lines"], record["identical"], record["largest_gap"]) == (3, 2, 0.5)
    assert (record["decoder"], record["twin"]) == ("fast.jsonl.gz", "slow.jsonl.gz")
    assert record["differences"][0]["twin_text"] == "E"
    assert agreement(path, path)["largest_gap"] is None


def test_a_lossless_decoder_and_the_search_it_repeats(tmp_path: Path) -> None:
    path = write(tmp_path / "strict.jsonl.gz", ONE, system="drafter")
    record = agreement(path, write(tmp_path / "greedy.jsonl.gz", ONE, system="verifier"))
    assert (record["system"], record["twin"]) == ("drafter", "raw/verifier/greedy.jsonl.gz")
    assert record["identical"] == 3


@pytest.mark.parametrize("other", [{"sources": "xyw"}, {"target": "big"}, {"seed": 2}])
def test_files_that_do_not_belong_together(tmp_path: Path, other: dict[str, Any]) -> None:
    path, twin = write(tmp_path / "a.gz", ONE), write(tmp_path / "b.gz", ONE, **other)
    with pytest.raises(UserError, match="not of the same target and lines"):
        agreement(path, twin)


def test_ties_that_rounding_broke_are_no_fault(tmp_path: Path) -> None:
    path = write(tmp_path / "fast.jsonl.gz", ONE)
    faulty = {("raw", "big", "fast.jsonl.gz")}
    for score, red in ((-1.0005, set()), (-1.002, faulty), (None, faulty)):
        twin = write(tmp_path / "slow.jsonl.gz", [ONE[0], translation("e", score), ONE[2]])
        found = agreement(path, twin)
        assert apart([found]) == red
        assert apart([found | {"lines": 100}]) == set()  # one in a hundred
        assert apart([found | {"lines": 99}]) == red
    assert apart([agreement(path, path)]) == set()
