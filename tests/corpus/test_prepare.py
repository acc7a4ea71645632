import json
from pathlib import Path
from typing import Any

import pytest

from fastdecode.config.corpora import Clean, Corpus, Pair
from fastdecode.corpus import pool
from fastdecode.corpus.prepare import prepare
from fastdecode.errors import UserError
from fastdecode.files import read_lines, write_lines

PIECE = (Pair(kind="pair", source="a", target="b"),)
TEST = [("A test .", "Ein Test."), ("", "leer"), ("A test .", "Ein Test.")]


def corpus(splits: tuple[str, ...] = ("train", "valid", "test"), **settings: Any) -> Corpus:
    return Corpus(source="en", target="de", splits=dict.fromkeys(splits, PIECE), **settings)


def write_raw(folder: Path, **splits: list[tuple[str, str]]) -> Path:
    for split, pairs in splits.items():
        for language, side in zip(("en", "de"), zip(*pairs, strict=True), strict=True):
            write_lines(folder / f"{split}.{language}.gz", side)
    return folder


def lines(folder: Path, name: str) -> list[str]:
    return list(read_lines(folder / f"{name}.gz"))


def report(folder: Path) -> Any:
    return json.loads((folder / "report.json").read_text())["splits"]


def test_tokenises_every_split_and_keeps_raw_lines(tmp_path: Path) -> None:
    raw = write_raw(
        tmp_path / "raw",
        train=[("Low-carbon, is it?", "Ist  es das?")],
        valid=[("Yes!", "Ja!")],
        test=TEST,
    )
    prepare(raw, tmp_path / "out", corpus(clean=Clean(max_ratio=2)))
    out = tmp_path / "out"
    assert lines(out, "train.en") == ["Low @-@ carbon , is it ?"]
    assert lines(out, "train.de") == ["Ist es das ?"]
    assert lines(out, "test.en") == ["A test .", "", "A test ."]
    assert lines(out, "test.raw.en") == [source for source, _ in TEST]
    assert lines(out, "test.raw.de") == [target for _, target in TEST]
    assert not (out / "train.raw.en.gz").exists()


def test_lowercase(tmp_path: Path) -> None:
    raw = write_raw(tmp_path / "raw", train=[("Yes", "Ja")], valid=[("No", "Nein")], test=TEST)
    prepare(raw, tmp_path / "out", corpus(lowercase=True))
    assert lines(tmp_path / "out", "train.de") == ["ja"]
    assert lines(tmp_path / "out", "valid.en") == ["no"]
    assert lines(tmp_path / "out", "valid.raw.en") == ["No"]


def test_each_reason_to_remove_a_training_pair(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = write_raw(
        tmp_path / "raw",
        train=[
            ("one two", "eins zwei"),  # 0: kept
            ("", "eins"),  # empty
            ("one", "\t\u200b"),  # empty: nothing that can be seen
            ("one two three four five", "eins zwei drei vier"),  # too long
            ("one two three", "eins"),  # ratio
            ("one", "eins zwei drei"),  # ratio, the other way
            ("one  two", "eins zwei"),  # duplicate of 0 once tokenised
            ("one two", "zwei eins"),  # 7: kept, another target
            ("A test .", "Ein neuer Test."),  # held out: the source of a test line
            ("A test", "Ein Test"),  # 9: kept
        ],
        valid=[("No", "Nein")],
        test=TEST,
    )
    prepare(raw, tmp_path / "out", corpus(clean=Clean(max_tokens=4, max_ratio=2)))
    assert (
        "kept 3 of 10 training pairs, without 2 with an empty side, 2 of too unequal lengths, 1 "
        "too long, 1 that stood there before, 1 whose source is in another split, too"
    ) in capsys.readouterr().err
    assert lines(tmp_path / "out", "train.kept") == ["0", "7", "9"]
    assert lines(tmp_path / "out", "train.en") == ["one two", "one two", "A test"]
    train = report(tmp_path / "out")["train"]
    assert train == {
        "read": 10,
        "removed": {"empty": 2, "too_long": 1, "ratio": 2, "duplicate": 1, "held_out": 1},
        "taken": 0,
        "kept": 3,
        "sides": {
            "en": {"tokens": 6, "mean": 2.0, "median": 2, "max": 2},
            "de": {"tokens": 6, "mean": 2.0, "median": 2, "max": 2},
        },
    }
    test = report(tmp_path / "out")["test"]
    assert (test["read"], test["removed"], test["kept"]) == (3, {}, 3)
    assert test["sides"]["en"] == {"tokens": 6, "mean": 2.0, "median": 3, "max": 3}


def test_lengths(tmp_path: Path) -> None:
    sides = ["a b", "a b c d e f g", "a", "a b c d"], ["b"] * 4
    valid = list(zip(*sides, strict=True))
    raw = write_raw(tmp_path / "raw", train=[("yes", "ja")], valid=valid, test=TEST)
    prepare(raw, tmp_path / "out", corpus())
    entry = report(tmp_path / "out")["valid"]["sides"]
    assert entry["en"] == {"tokens": 14, "mean": 3.5, "median": 2, "max": 7}
    assert entry["de"] == {"tokens": 4, "mean": 1.0, "median": 1, "max": 1}


def test_limits_are_inclusive_and_can_be_switched_off(tmp_path: Path) -> None:
    pairs = [("a b c d", "a b"), ("a b c d e", "a b"), ("a b c d", "a b")]
    raw = write_raw(tmp_path / "raw", train=pairs, valid=[("No", "Nein")], test=TEST)
    prepare(raw, tmp_path / "strict", corpus(clean=Clean(max_tokens=4, max_ratio=2)))
    assert lines(tmp_path / "strict", "train.kept") == ["0"]
    off = Clean(max_tokens=None, max_ratio=None, deduplicate=False)
    prepare(raw, tmp_path / "off", corpus(clean=off))
    assert lines(tmp_path / "off", "train.kept") == ["0", "1", "2"]


def test_held_out_pairs_and_their_sources_leave_the_training_set(tmp_path: Path) -> None:
    pairs = [(f"word{number}", f"Wort{number}") for number in range(12)]
    pairs[0] = ("word5", "Anderes")  # comes before the held-out pair with its source
    pairs[9] = ("word5", "Drittes")  # and this one after it
    pairs[3] = ("", "nothing")  # not clean, so not counted
    raw = write_raw(tmp_path / "raw", train=pairs, test=TEST)
    prepare(raw, tmp_path / "out", corpus(("train", "test"), holdout={"valid": 5}))
    out = tmp_path / "out"
    # Clean pairs are 0 1 2 4 5 6 …: the fifth is 5, the tenth is 10.
    assert lines(out, "valid.en") == ["word5", "word10"]
    assert lines(out, "valid.raw.de") == ["Wort5", "Wort10"]
    assert lines(out, "train.kept") == ["1", "2", "4", "6", "7", "8", "11"]
    assert not set(lines(out, "train.en")) & set(lines(out, "valid.en"))
    train, valid = report(out)["train"], report(out)["valid"]
    assert (train["read"], train["taken"], train["kept"]) == (12, 2, 7)
    assert train["removed"]["held_out"] == 2
    assert train["read"] == sum(train["removed"].values()) + train["taken"] + train["kept"]
    assert (valid["read"], valid["kept"]) == (2, 2)


def test_processes_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "CHUNK", 7)
    monkeypatch.setattr(pool, "ROUND", 2)
    pairs = [(f"It's no. {number % 90}!", f"Nr. {number % 90} ist es!") for number in range(200)]
    raw = write_raw(tmp_path / "raw", train=pairs, test=TEST)
    what = corpus(("train", "test"), holdout={"valid": 10})
    for processes in (1, 2):
        prepare(raw, tmp_path / f"out{processes}", what, processes)
    files = sorted(path.name for path in (tmp_path / "out1").iterdir())
    assert len(files) == 3 + 2 * 4 + 1
    for name in files:
        assert (tmp_path / "out1" / name).read_bytes() == (tmp_path / "out2" / name).read_bytes()


def test_an_empty_split_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    raw = write_raw(tmp_path / "raw", train=[("yes", "ja")], valid=[("no", "nein")])
    for language in ("en", "de"):
        write_lines(raw / f"test.{language}.gz", [])
    with pytest.raises(UserError, match="the split test has no pair left of 0 read"):
        prepare(raw, tmp_path / "out", corpus())
    assert [path.name for path in tmp_path.iterdir()] == ["raw"]


def test_a_side_without_a_word_is_refused(tmp_path: Path) -> None:
    test = [("perhaps", ""), ("never", "")]
    raw = write_raw(tmp_path / "raw", train=[("yes", "ja")], valid=[("no", "nein")], test=test)
    with pytest.raises(UserError, match="the split test has no word of de in 2 lines: put its"):
        prepare(raw, tmp_path / "out", corpus())
    assert [path.name for path in tmp_path.iterdir()] == ["raw"]


@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_the_same_text_on_both_sides_is_refused(tmp_path: Path, split: str) -> None:
    pairs = {"train": [("yes", "ja")], "valid": [("no", "nein")], "test": TEST}
    same = [("one", "one"), ("two words", "two words")]
    raw = write_raw(tmp_path / "raw", **pairs | {split: same})
    told = f"source and target of the split {split} are the same in all 2 lines: give"
    with pytest.raises(UserError, match=told):
        prepare(raw, tmp_path / "out", corpus())
    assert [path.name for path in tmp_path.iterdir()] == ["raw"]


def test_single_lines_may_be_the_same_on_both_sides(tmp_path: Path) -> None:
    copied, other = [("one", "one"), ("two", "zwei")], [("no", "no"), ("yes", "ja")]
    raw = write_raw(tmp_path / "raw", train=copied, valid=other, test=[("", ""), ("a", "b")])
    prepare(raw, tmp_path / "out", corpus())
    assert report(tmp_path / "out")["valid"]["kept"] == 2


def test_a_training_set_that_cleaning_empties_is_refused(tmp_path: Path) -> None:
    raw = write_raw(tmp_path / "raw", train=[("a", "b b")], valid=[("no", "nein")], test=TEST)
    with pytest.raises(UserError, match=r"train has no pair left of 1 read, without 1 of too uneq"):
        prepare(raw, tmp_path / "out", corpus())


def test_sides_of_unequal_length(tmp_path: Path) -> None:
    raw = write_raw(tmp_path / "raw", train=[("a", "b")], valid=[("no", "nein")], test=TEST)
    write_lines(raw / "train.de.gz", ["b", "c"])
    with pytest.raises(UserError, match=r"has 1 lines but .* has 2"):
        prepare(raw, tmp_path / "out", corpus())
