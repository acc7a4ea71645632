import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.config.base import read_yaml
from fastdecode.config.corpora import Corpus, Download
from fastdecode.corpus.download import fetch
from fastdecode.corpus.extract import extract_split
from fastdecode.errors import UserError
from fastdecode.files import count_lines, read_lines
from tests.corpus.extracting import corpus, extract, members, pack, write

ROOT = Path(__file__).parents[2]
MIRROR = Path(os.environ.get("FASTDECODE_MIRROR", ROOT.parent / "shared" / "data"))


def test_a_pair_of_downloads(tmp_path: Path) -> None:
    write(tmp_path / "multi30k/train.de.gz", "Zwei Männer.\nEin Hund.\n")
    write(tmp_path / "multi30k/train.en.gz", "Two men.\nA dog.\n")
    piece = {"kind": "pair", "source": "multi30k/train.de.gz", "target": "multi30k/train.en.gz"}
    assert extract(tmp_path, piece) == [("Zwei Männer.", "Two men."), ("Ein Hund.", "A dog.")]


def test_files_of_the_users_own_one_after_another(tmp_path: Path) -> None:
    pieces = []
    for number, suffix in enumerate(("", ".gz")):
        source = write(tmp_path / f"mine/{number}.de{suffix}", f"eins {number}\n")
        target = write(tmp_path / f"mine/{number}.en{suffix}", f"one {number}\n")
        pieces.append({"kind": "files", "source": str(source), "target": str(target)})
    downloads = tmp_path / "unused"
    assert extract(downloads, *pieces) == [("eins 0", "one 0"), ("eins 1", "one 1")]
    assert extract(downloads, *reversed(pieces)) == [("eins 1", "one 1"), ("eins 0", "one 0")]


def test_whitespace_becomes_single_spaces_and_lines_stay_lines(tmp_path: Path) -> None:
    write(tmp_path / "x.de", "\ufeff  a\tb \r\nc\u2028d\x0be\x85f\n\n\xa0g  h\n")
    write(tmp_path / "x.en", "1\n2\n3\n4")
    assert extract(tmp_path, {"kind": "pair", "source": "x.de", "target": "x.en"}) == [
        ("a b", "1"),
        ("c d e f", "2"),
        ("", "3"),
        ("g h", "4"),
    ]


def test_a_letter_and_its_accent_become_one_character(tmp_path: Path) -> None:
    write(tmp_path / "x.de", "Die Tu\u0308r ist scho\u0308n.\n")
    write(tmp_path / "x.en", "nai\u0308ve\n")
    found = extract(tmp_path, {"kind": "pair", "source": "x.de", "target": "x.en"})
    assert found == [("Die Tür ist schön.", "naïve")]


def test_equal_text_gives_equal_bytes(tmp_path: Path) -> None:
    write(tmp_path / "x.de", "a\n")
    piece = {"kind": "pair", "source": "x.de", "target": "x.de"}
    outs = [tmp_path / f"{name}.gz" for name in "abcd"]
    extract_split(corpus(piece), "train", tmp_path, outs[0], outs[1])
    extract_split(corpus(piece), "train", tmp_path, outs[2], outs[3])
    assert len({out.read_bytes() for out in outs}) == 1


lines = st.lists(st.text(st.characters(codec="utf-8")).filter(lambda t: "\n" not in t), min_size=1)


@given(lines)
def test_no_text_breaks_the_alignment(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    write(folder / "x.de.gz", "".join(f"{s}\n" for s in sentences))
    pack(folder / "x.tgz", {"en": "".join(f"{n}\n" for n in range(len(sentences)))})
    pack(folder / "y.zip", {"a/de": "".join(f"{s}\n" for s in sentences), "en": "?"})
    write(folder / "x.en", "".join(f"{n}\n" for n in range(len(sentences))))
    pairs = extract(folder, {"kind": "pair", "source": "x.de.gz", "target": "x.en"})
    assert [number for _, number in pairs] == [str(n) for n in range(len(sentences))]
    assert all(s == " ".join(s.splitlines()).strip() for s, _ in pairs)
    assert extract(folder, members("y.zip", "a/de", "a/de")) == [(s, s) for s, _ in pairs]


@pytest.mark.parametrize(("de", "en"), [(3, 2), (1, 4), (0, 2), (2, 0)])
def test_different_line_counts_are_both_named(de: int, en: int, tmp_path: Path) -> None:
    pack(tmp_path / "a.tgz", {"x.de": "a\n" * de, "x.en": "b\n" * en})
    with pytest.raises(
        UserError, match=rf"a\.tgz: x\.de has {de} lines but .*a\.tgz: x\.en has {en}:"
    ):
        extract(tmp_path, members("a.tgz", "x.de", "x.en"))


@pytest.mark.parametrize(
    ("name", "content", "piece"),
    [
        ("a.tgz", None, members("a.tgz", "x", "y")),
        ("a.zip", None, members("a.zip", "x", "y")),
        ("x.de", None, {"kind": "pair", "source": "x.de", "target": "x.de"}),
        ("x.tmx", None, {"kind": "tmx", "download": "x.tmx"}),
        ("x.txt", None, {"kind": "aspec", "download": "x.txt"}),
        ("x.de", "", {"kind": "pair", "source": "x.de", "target": "x.de"}),
        ("x.sgm", "<a/>", {"kind": "pair", "format": "sgm", "source": "x.sgm", "target": "x.sgm"}),
        ("x.tmx", "<tmx/>", {"kind": "tmx", "download": "x.tmx"}),
    ],
)
def test_missing_and_empty_files(
    name: str, content: str | None, piece: dict[str, Any], tmp_path: Path
) -> None:
    if content is not None:
        write(tmp_path / name, content)
    expected = "no such file" if content is None else "no sentence pairs"
    with pytest.raises(UserError, match=rf"{name}: {expected}"):
        extract(tmp_path, piece, source="ja")


def test_an_empty_piece_is_no_silent_loss(tmp_path: Path) -> None:
    write(tmp_path / "x.de", "a\n")
    write(tmp_path / "empty", "")
    full = {"kind": "pair", "source": "x.de", "target": "x.de"}
    with pytest.raises(UserError, match="empty: no sentence pairs"):
        extract(tmp_path, full, {"kind": "pair", "source": "empty", "target": "empty"})


@pytest.mark.skipif(not (MIRROR / "multi30k").is_dir(), reason=f"no multi30k below {MIRROR}")
def test_multi30k_has_its_published_sizes(tmp_path: Path) -> None:
    row = Corpus.model_validate(read_yaml(ROOT / "config/corpora/multi30k.de-en.yaml"))
    table = read_yaml(ROOT / "config/downloads.yaml")
    sizes = {}
    for split in row.split_names:
        for key in row.downloads(split):
            file = Download.model_validate(table[key])
            fetch(key, file, tmp_path / key, MIRROR, tmp_path / "lock")
        sides = tmp_path / f"{split}.de.gz", tmp_path / f"{split}.en.gz"
        extract_split(row, split, tmp_path, *sides)
        sizes[split] = count_lines(sides[0])
        assert [count_lines(side) for side in sides] == [sizes[split]] * 2
    assert sizes == {
        "train": 29000,
        "valid": 1014,
        "test_2016_flickr": 1000,
        "test_2017_flickr": 1000,
    }
    assert next(read_lines(tmp_path / "train.de.gz")).startswith("Zwei junge weiße Männer")
