import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.errors import UserError
from fastdecode.families import statistics
from fastdecode.families.bidirectional import statistics as statistics_module
from fastdecode.families.bidirectional.folding import Fold
from fastdecode.families.bidirectional.statistics import STATISTICS, masks, steps, written
from fastdecode.measure.statistic import Split
from tests.families.bidirectional.conftest import untrained


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
    found = steps(system, Split(ragged, {}))
    (right,) = system.decoder("bidirectional", {"beam": 1}, " ".join)([ragged[found["line"]]])
    assert found["translation"] == right.tokens
    assert len(found["steps"]) == right.passes
    with pytest.raises(UserError, match="nothing to show step by step"):
        steps(system, Split([[]], {}))
