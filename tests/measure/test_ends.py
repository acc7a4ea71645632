import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.measure.ends import ENDS, end_precisions

LONG = " ".join(f"w{number}" for number in range(31))


def values(words: list[str], reference: list[str], lowercase: bool = False) -> dict[str, float]:
    metrics = end_precisions(words, reference, lowercase)
    return {name: metric["value"] for name, metric in metrics.items()}


def test_by_hand() -> None:
    """a b c stand anywhere in the reference; x and the second d do not."""
    found = values(["x a b c d d e f"], ["a b c d e f g h"])
    assert found["precision1_all"] == 6 / 8
    assert found["precision4_all"] == 1 / 5  # a b c d
    assert found["precision1_first5"] == 4 / 5  # x a b c d
    assert found["precision4_first5"] == 1 / 2
    assert found["precision1_last5"] == 4 / 5  # c d d e f
    assert found["precision4_last5"] == 0
    assert found["precision1_first10"] == found["precision1_last15"] == 6 / 8


def test_ngrams_of_all_lines_are_pooled() -> None:
    found = values(["a b c d e x x x x x", "x"], ["a b c d e f g h i j", "y"])
    assert found["precision1_first5"] == 5 / 6
    assert found["precision1_last5"] == 0 / 6
    assert found["precision4_first5"] == 1


def test_head_and_tail_are_told_apart() -> None:
    found = values(["a b c d e x x x x x"], ["a b c d e f g h i j"])
    assert [found[f"precision1_{end}"] for end in ("first5", "last5", "first10")] == [1, 0, 0.5]


def test_long_lines_stand_apart_too() -> None:
    """Over 30 words are those of the reference, not of the hypothesis."""
    found = values([f"{LONG} x x x", "x"], [LONG, "w1"])
    assert found["precision1_all/over30"] == 31 / 34
    assert found["precision1_all"] == 31 / 35
    short = values([LONG], [LONG.removesuffix(" w30")])
    assert not [name for name in short if name.endswith("/over30")]


def test_without_ngrams_there_is_no_precision() -> None:
    found = values(["a b c"], ["a b c d"])
    assert found["precision1_all"] == 1
    assert not [name for name in found if "precision4" in name]


def test_case() -> None:
    assert values(["A b"], ["a b"])["precision1_all"] == 1 / 2
    assert values(["A b"], ["a b"], lowercase=True)["precision1_all"] == 1


def test_signatures() -> None:
    metrics = end_precisions([LONG], [LONG], lowercase=True)
    assert len(metrics) == 2 * 2 * len(ENDS) == 28
    for metric in metrics.values():
        assert "case:lc" in metric["signature"] and "tok:none" in metric["signature"]
        assert metric["unit"] == "share"


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=40), min_size=1))
def test_a_perfect_hypothesis_is_right_at_both_ends(tokens: list[list[str]]) -> None:
    lines = [" ".join(line) for line in tokens]
    assert set(values(lines, lines).values()) == {1}


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=12), min_size=1))
def test_the_tail_is_the_head_of_the_mirror_image(tokens: list[list[str]]) -> None:
    def said(lines: list[list[str]]) -> list[str]:
        return [" ".join(line) for line in lines]

    reference = [["a", "b", "a", "c", "c", "b", "a", "a"]] * len(tokens)
    ours = values(said(tokens), said(reference))
    mirrored = values(
        said([line[::-1] for line in tokens]), said([line[::-1] for line in reference])
    )
    swapped = {
        name.replace("first", "?").replace("last", "first").replace("?", "last"): value
        for name, value in mirrored.items()
    }
    assert ours == pytest.approx(swapped)
