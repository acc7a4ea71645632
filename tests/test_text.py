from pathlib import Path
from typing import Any

import pytest

from fastdecode.corpus.bpe import learn
from fastdecode.files import write_lines
from fastdecode.text import Text


@pytest.fixture(scope="module")
def codes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("codes")
    for side, words in (("source", ["the house", "the mouse"]), ("target", ["das haus"])):
        write_lines(folder / side, words * 5)
        learn([folder / side], 12, folder / f"codes.{side}")
    return folder


def text(codes: Path, **changes: Any) -> Text:
    options = {"source": "en", "target": "de", "lowercase": False, "pretokenised": False}
    return Text(**options | changes, codes=codes)


def test_a_raw_line_becomes_the_pieces_of_the_source_codes(codes: Path) -> None:
    assert text(codes).source_tokens(" the  house, the houses") == [
        "the",
        "house",
        ",",
        "the",
        "h@@",
        "o@@",
        "us@@",
        "e@@",
        "s",
    ]


@pytest.mark.parametrize("line", ["", "  ", "\u200b"])
def test_nothing_has_no_tokens(codes: Path, line: str) -> None:
    assert text(codes).source_tokens(line) == []


def test_case_and_tokens_are_as_the_corpus_has_them(codes: Path) -> None:
    assert text(codes).source_tokens("The house") == ["T@@", "h@@", "e", "house"]
    assert text(codes, lowercase=True).source_tokens("The House") == ["the", "house"]
    assert text(codes, pretokenised=True).source_tokens("the house,")[1:] == [
        "h@@",
        "o@@",
        "us@@",
        "e@@",
        ",",
    ]


def test_target_tokens_become_running_text(codes: Path) -> None:
    sentence = ["Das", "Ha@@", "us", ",", "10", "%", "."]
    assert text(codes).target_text(sentence) == "Das Haus, 10%."
    assert text(codes, pretokenised=True).target_text(sentence) == "Das Haus , 10 % ."
    assert text(codes).target_text(["Das", "Ha@@"]) == "Das Ha"
    assert text(codes).target_text([]) == ""


def test_each_language_has_its_own_rules(codes: Path) -> None:
    assert text(codes, target="fr").target_text(["l'", "eau", "!"]) == "l'eau !"
    assert text(codes, target="en").target_text(["you", "'re", "!"]) == "you're!"
