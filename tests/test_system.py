"""What a system offers its decoders: models, companions, parts in common."""

from types import SimpleNamespace
from typing import Any

import pytest

from fastdecode.errors import UserError
from fastdecode.system import System


def system(*models: Any, **more: Any) -> System:
    words: Any = None
    return System(list(models), words, words, **more)


def reading(positions: int) -> Any:
    return SimpleNamespace(max_positions=lambda: (positions, 2048))


def test_the_only_model_is_asked_for_by_its_kind() -> None:
    assert system("model").single("text is one model's", str, "is no text") == "model"
    assert system(7).single("anything is one model's") == 7
    with pytest.raises(UserError) as several:
        system("one", "two").single("text is one model's", str, "is no text")
    assert str(several.value) == "text is one model's, and these are 2"
    with pytest.raises(UserError) as other:
        system(7).single("text is one model's", str, "is no text: train one")
    assert str(other.value) == "int is no text: train one"


def test_a_missing_companion_is_named() -> None:
    verifier = system()
    assert system(companions={"verifier": verifier}).companion("verifier") is verifier
    with pytest.raises(UserError, match="this decoder needs verifier too"):
        system().companion("verifier")


def test_what_decoders_share_is_made_once_for_a_system() -> None:
    first, second = system(), system()
    made = [first.share("part", object), first.share("part", object), second.share("part", object)]
    assert made[0] is made[1] is not made[2]
    assert first.share("another", object) is not made[0]


def test_the_longest_line_is_the_one_that_all_models_read() -> None:
    companion = system(reading(6))
    assert system(reading(9), reading(8)).longest == 7
    assert system(reading(9), companions={"verifier": companion}).longest == 5
