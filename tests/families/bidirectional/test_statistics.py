import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.errors import UserError
from fastdecode.families import statistics
from fastdecode.families.bidirectional import statistics as statistics_module
from fastdecode.families.bidirectional.folding import Fold, Order
from fastdecode.families.bidirectional.statistics import (
    STATISTICS,
    losses,
    masks,
    steps,
    token_scores,
    written,
)
from fastdecode.measure.statistic import Split
from tests.families.bidirectional.conftest import ORDERS, untrained


def test_the_room_names_its_statistics() -> None:
    assert statistics("bidirectional") == tuple(STATISTICS)


def test_a_translation_in_the_order_of_writing() -> None:
    assert written(Fold(), list("abcde")) == [
        [("a", 0), ("e", 4)],
        [("b", 1), ("d", 3)],
        [("c", 2), ("</s>", None)],
    ]
    assert written(Fold(), list("abcd"))[-1] == [("</s>", None), ("</s>", None)]
    assert written(Fold("r2l"), list("ab")) == [[("b", 1)], [("a", 0)], [("</s>", None)]]


@pytest.mark.parametrize("order", ["bidirectional", "pairs-l2r", "pairs-r2l", "r2l"])
@given(length=st.integers(1, 12))
def test_every_token_is_written_once(order: str, length: int) -> None:
    tokens = [str(place) for place in range(length)]
    slots = [slot for group in written(Fold(order), tokens) for slot in group]  # type: ignore[arg-type]
    assert sorted(place for _, place in slots if place is not None) == list(range(length))
    assert all(token == str(place) for token, place in slots if place is not None)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.usefixtures("fairseq_in_full_precision")
def test_tokens_score_what_the_search_adds_up(order: Order, ragged: list[list[str]]) -> None:
    system = untrained(order)
    decoder = system.decoder("bidirectional", {"beam": 1, "lenpen": 0.0}, " ".join)
    for source in ragged:
        (translation,) = decoder([source])
        scores = token_scores(system, Fold(order), source, translation.tokens)
        assert len(scores) == len(translation.tokens) + 1
        if len(translation.tokens) < 1.2 * (len(source) + 1) + 8:  # not cut at the limit
            assert float(scores.sum()) == pytest.approx(translation.score, abs=1e-6)


def test_losses_are_told_apart_by_distance_from_the_middle(ragged: list[list[str]]) -> None:
    system = untrained()
    found = losses(system, Split([ragged[0], ragged[1]], {"real": [list("abcde"), list("wxyz")]}))
    places = {(row["half"], row["distance"]): row for row in found["tokens"]}
    assert {key: row["count"] for key, row in places.items()} == {
        ("first", 0): 2,  # c and x
        ("first", 1): 2,  # b and w
        ("first", 2): 1,  # a
        ("second", 0): 1,  # y
        ("second", 1): 2,  # d and z
        ("second", 2): 1,  # e
    }
    middle = token_scores(system, Fold(), ragged[1], list("wxyz"))
    assert places["second", 0]["loss"] == pytest.approx(-float(middle[2]))
    total = sum(row["count"] * row["loss"] for row in places.values()) / 2 + found["end"]
    assert total == pytest.approx(found["sentence"])
    with pytest.raises(UserError, match="nothing to score"):
        losses(system, Split([[]], {"real": [[]]}))


def test_masks_are_those_of_training() -> None:
    found = masks(untrained(), Split([], {}))["masks"]
    assert set(found) == {"1", "2"}
    assert found["1"][1] == [1, 1, 0, 0, 0, 0, 0, 0]
    assert found["2"][0] == [1, 1, 0, 0, 0, 0, 0, 0]  # the other half of its own pair too
    assert found["2"][2] == [1, 1, 1, 1, 0, 0, 0, 0]


def test_steps_are_those_of_the_greedy_translation(
    ragged: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics_module, "SHORTEST", 3)
    monkeypatch.setattr(statistics_module, "LONGEST", 40)  # a random model knows no end
    system = untrained()
    found = steps(system, Split(ragged, {"real": [[]] * len(ragged)}))
    assert found["line"] == 0  # none is drawn by others
    (right,) = system.decoder("bidirectional", {"beam": 1}, " ".join)([ragged[found["line"]]])
    assert found["translation"] == right.tokens
    assert len(found["steps"]) == right.passes
    with pytest.raises(UserError, match="nothing to show step by step"):
        steps(system, Split([[]], {"real": [[]]}))


def test_steps_are_of_the_line_that_others_draw(
    ragged: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics_module, "SHORTEST", 0)
    monkeypatch.setattr(statistics_module, "LONGEST", 40)
    decoder = untrained().decoder("bidirectional", {"beam": 1}, " ".join)
    lengths = {len(decoder([line])[0].tokens): line for line in ragged if len(line) >= 4}
    (first, one), (_, other) = sorted(lengths.items())[:2]
    split = Split([one, other[:8]], {"real": [["w2"], ["w2"] * 5]})
    assert split.drawn == 1
    assert steps(untrained(), split)["line"] == 1
    monkeypatch.setattr(statistics_module, "LONGEST", first)  # that one's translation is too long
    assert steps(untrained(), split)["line"] == 0
