import argparse
from collections.abc import Sequence
from pathlib import Path

import pytest

from fastdecode.commands.compare import add_arguments, run
from fastdecode.errors import UserError
from fastdecode.files import write_lines
from fastdecode.translation import Translation, write_translations

SOURCES = [f"satz {number}" for number in range(30)]
REFERENCE = [f"this is sentence {number} of the test" for number in range(30)]
WORSE = [f"this was a line {number} of the test" for number in range(30)]


def write(
    path: Path, texts: Sequence[str], sources: Sequence[str] = SOURCES, split: str | None = None
) -> str:
    made = [Translation(text, text.split(), None, 1) for text in texts]
    origin = {"split": split} if split else {}
    write_translations(path, {"provenance": origin}, sources, made)
    return str(path)


def call(*arguments: str) -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    run(parser.parse_args(arguments))


@pytest.fixture
def reference(tmp_path: Path) -> str:
    write_lines(tmp_path / "reference.gz", REFERENCE)
    return str(tmp_path / "reference.gz")


def test_it_prints_all_that_was_found(
    tmp_path: Path, reference: str, capsys: pytest.CaptureFixture[str]
) -> None:
    worse = write(tmp_path / "worse.jsonl.gz", WORSE)
    right = write(tmp_path / "right.jsonl.gz", REFERENCE)
    call(worse, right, "--reference", reference)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["A", worse] in lines and ["B", right] in lines
    (_, bleu, *interval), (_, best, *_) = (line for line in lines if line[2:4:2] and "to" in line)
    assert float(interval[0]) <= float(bleu) <= float(interval[2]) < float(best) == 100
    (difference,) = (line for line in lines if line[:3] == ["A", "-", "B"])
    assert float(difference[3]) == pytest.approx(float(bleu) - 100, abs=0.011)
    assert difference[4:] == ["30", "of", "30", "lines", "score", "differently"]
    text = " ".join(word for line in lines for word in line)
    assert "approximate randomisation p = 0.0001 10,000 shuffles" in text
    assert "paired bootstrap p = 0.0010 1,000 resamples" in text
    assert "tok:13a" in text and "case:mixed" in text


def test_a_letter_and_its_accent_are_one_character(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lines(tmp_path / "apart", ["scho\u0308ne alte Tu\u0308ren sind offen"])
    made = write(tmp_path / "a.jsonl.gz", ["schöne alte Türen sind offen"], ["a"])
    call(made, made, "--reference", str(tmp_path / "apart"))
    assert "100.00" in capsys.readouterr().out


def test_language_and_case(
    tmp_path: Path, reference: str, capsys: pytest.CaptureFixture[str]
) -> None:
    loud = write(tmp_path / "loud.jsonl", [line.upper() for line in REFERENCE])
    right = write(tmp_path / "right.jsonl", REFERENCE)
    call(loud, right, "--reference", reference, "--language", "zh", "--lowercase")
    text = capsys.readouterr().out
    assert "tok:zh" in text and "case:lc" in text
    assert "0 of 30 lines score differently" in text
    assert text.count("p = 1.0000") == 2


def test_the_language_is_that_of_a_runs_reference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right = write(tmp_path / "right.jsonl", REFERENCE)
    for name, tokeniser in (
        ("test.raw.zh.gz", "zh"),
        ("test.raw.de", "13a"),
        ("zh.gz", "13a"),
        ("a.raw.gz", "13a"),
    ):
        write_lines(tmp_path / name, REFERENCE)
        call(right, right, "--reference", str(tmp_path / name))
        assert f"tok:{tokeniser}" in capsys.readouterr().out


@pytest.mark.parametrize("language", ["ZH", "klingon", ""])
def test_what_is_no_language_is_refused(language: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        call("one", "two", "--reference", "three", "--language", language)
    assert f"{language!r} is no code of a language" in capsys.readouterr().err


def test_translations_of_other_sentences(tmp_path: Path, reference: str) -> None:
    one = write(tmp_path / "one.jsonl", WORSE)
    other = write(tmp_path / "other.jsonl", WORSE, [*SOURCES[:7], "etwas anderes", *SOURCES[8:]])
    with pytest.raises(
        UserError, match=r"one.jsonl and .*other.jsonl translate different texts: "
    ) as e:
        call(one, other, "--reference", reference)
    assert "sentence 8 is 'satz 7' here and 'etwas anderes' there" in str(e.value)


def test_numbers_of_lines(tmp_path: Path, reference: str) -> None:
    one = write(tmp_path / "one.jsonl", WORSE)
    short = write(tmp_path / "short.jsonl", WORSE[:5], SOURCES[:5])
    with pytest.raises(UserError, match=r"one.jsonl has 30 sentences but .*short.jsonl has 5"):
        call(one, short, "--reference", reference)
    with pytest.raises(UserError, match=r"short.jsonl has 5 sentences but .*reference.gz has 30"):
        call(short, short, "--reference", reference)


def test_a_reference_of_another_split_is_refused(tmp_path: Path) -> None:
    """By its name, where that is as a run's, or the right one lies beside it."""
    made = write(tmp_path / "test.greedy.jsonl.gz", WORSE, split="test")
    for name in ("valid.raw.de.gz", "toy.valid.raw.de", "test.de", "valid.de"):
        write_lines(tmp_path / name, REFERENCE)
    for name in ("valid.raw.de.gz", "toy.valid.raw.de", "valid.de"):
        with pytest.raises(UserError) as e:
            call(made, made, "--reference", str(tmp_path / name))
        assert str(e.value) == (
            f"--reference: {tmp_path / name} is by its name of the split valid, but {made} "
            "translates test: name the raw target lines of test"
        )
    text = tmp_path / "text"
    write_lines(text, WORSE)
    with pytest.raises(UserError, match=r"of the split valid, but .*greedy.jsonl.gz translates"):
        call(str(text), made, "--reference", str(tmp_path / "valid.raw.de.gz"))


def test_a_reference_that_may_be_of_the_split_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = write(tmp_path / "made.jsonl", REFERENCE, split="test")
    unknown = write(tmp_path / "unknown.jsonl", REFERENCE)
    nowhere = str(tmp_path / "nowhere.jsonl")
    made_nowhere = [Translation(text, text.split(), None, 1) for text in REFERENCE]
    write_translations(Path(nowhere), {"provenance": None}, SOURCES, made_nowhere)
    for one, name in (
        (made, "test.raw.de.gz"),
        (made, "toy.test.raw.de"),
        (made, "newstest2014.de"),
        (made, "a.raw.gz"),
        (unknown, "valid.raw.de"),
        (nowhere, "valid.raw.de"),
    ):
        write_lines(tmp_path / name, REFERENCE)
        call(one, one, "--reference", str(tmp_path / name))
        assert "100.00" in capsys.readouterr().out


def test_what_a_run_tokenised_is_no_reference(tmp_path: Path) -> None:
    made = write(tmp_path / "made.jsonl", REFERENCE, split="test")
    raw, tokenised = tmp_path / "test.raw.de.gz", tmp_path / "test.de.gz"
    write_lines(tokenised, REFERENCE)
    call(made, made, "--reference", str(tokenised))  # of its name alone it is not known
    write_lines(raw, REFERENCE)
    with pytest.raises(UserError, match=rf"{tokenised} is tokenised: name the raw lines, {raw}"):
        call(made, made, "--reference", str(tokenised))


def test_the_lines_that_were_translated_are_no_reference(tmp_path: Path) -> None:
    made = write(tmp_path / "made.jsonl", WORSE)
    write_lines(tmp_path / "text", WORSE)
    write_lines(tmp_path / "test.raw.en", [line.replace(" ", "  ") + " " for line in SOURCES])
    for pair in ((made, made), (str(tmp_path / "text"), made)):
        with pytest.raises(UserError, match=r"--reference: .*raw.en holds the lines that .*made"):
            call(*pair, "--reference", str(tmp_path / "test.raw.en"))


def test_text_is_compared_too(
    tmp_path: Path, reference: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made = write(tmp_path / "made.jsonl", WORSE)
    for name in ("worse.txt", "new.de", "worse.gz"):
        write_lines(tmp_path / name, WORSE)
        call(str(tmp_path / name), made, "--reference", reference)
        assert "0 of 30 lines score differently" in capsys.readouterr().out
    write_lines(tmp_path / "short.txt", WORSE[:5])
    with pytest.raises(UserError, match=r"short.txt has 5 sentences but .*made.jsonl has 30"):
        call(str(tmp_path / "short.txt"), made, "--reference", reference)


def test_a_missing_file(tmp_path: Path, reference: str) -> None:
    one = write(tmp_path / "one.jsonl", WORSE)
    with pytest.raises(UserError, match="no such file"):
        call(one, str(tmp_path / "two.jsonl"), "--reference", reference)


def test_the_reference_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        call("one", "two")
    assert "--reference" in capsys.readouterr().err
