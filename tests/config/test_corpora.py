from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from fastdecode.config.corpora import Corpus, Download
from fastdecode.errors import UserError

CONFIG = Path(__file__).parents[2] / "config"
FILES = sorted((CONFIG / "corpora").glob("*.yaml"))
DOWNLOADS = {
    key: Download.model_validate(row)
    for key, row in yaml.safe_load((CONFIG / "downloads.yaml").read_text()).items()
}
PIECE = {"kind": "pair", "source": "a.de", "target": "a.en"}
OWN = {"kind": "files", "source": "a.de", "target": "a.en"}
SAME = {"kind": "files", "source": "a.de", "target": "a.de"}
ROW = {"source": "de", "target": "en", "splits": {"train": [PIECE], "valid": [PIECE]}}
TOY = {"source": "en", "target": "de", "splits": {}, "generate": "toy", "seed": 1}


def read(name: str) -> Corpus:
    return Corpus.model_validate(yaml.safe_load((CONFIG / f"corpora/{name}.yaml").read_text()))


def test_the_corpora_of_the_four_papers_are_there() -> None:
    assert {file.stem for file in FILES} >= {
        "toy",
        "multi30k.de-en",
        "news.en-de",
        "tatoeba.en-de",
        "iwslt14.de-en",
        *(f"wmt14.{pair}" for pair in ("en-de", "de-en")),
        *(f"wmt16.{pair}" for pair in ("en-ro", "ro-en")),
        *(f"wmt17.{pair}" for pair in ("en-zh", "zh-en")),
        "aspec.ja-en",
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_corpus_validates_and_refers_to_known_downloads(file: Path) -> None:
    corpus = read(file.stem)
    for split in corpus.splits:
        assert set(corpus.downloads(split)) <= set(DOWNLOADS)
        assert corpus.downloads(split) or corpus.paths(split)
    pair = file.stem.partition(".")[2]
    assert pair in ("", "example", f"{corpus.source}-{corpus.target}")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_sides_of_a_piece_are_in_the_corpus_languages(file: Path) -> None:
    corpus = read(file.stem)
    spelt = {"zh": ("zh", "ch", "cn")}
    for piece in (piece for pieces in corpus.splits.values() for piece in pieces):
        for side in ("source", "target"):
            if path := getattr(piece, side, None):
                language = getattr(corpus, side)
                ends = spelt.get(language, (language,))
                name = Path(str(path)).name
                stem = name.removesuffix(".gz").removesuffix(".sgm").removesuffix(".xml")
                assert stem.removesuffix(".txt").endswith(tuple(ends))


def test_every_download_serves_a_corpus() -> None:
    used = {
        key
        for file in FILES
        for corpus in [read(file.stem)]
        for split in corpus.splits
        for key in corpus.downloads(split)
    }
    used |= {key for file in FILES for key in read(file.stem).references.values()}
    assert set(DOWNLOADS) == used


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("wmt16.en-ro", "wmt16.ro-en"),
        ("wmt16-raw.en-ro", "wmt16-raw.ro-en"),
        ("wmt17.en-zh", "wmt17.zh-en"),
    ],
)
def test_two_directions_learn_from_the_same_text(one: str, other: str) -> None:
    def sides(corpus: Corpus) -> list[set[str]]:
        return [
            {str(v) for k, v in piece.model_dump().items() if k in ("source", "target", "download")}
            for piece in corpus.splits["train"]
        ]

    assert sides(read(one)) == sides(read(other))


@pytest.mark.parametrize("name", ["wmt14.en-de", "news.en-de"])
def test_the_bidirectional_test_set_is_seven_years(name: str) -> None:
    corpus = read(name)
    pieces = [str(piece) for piece in corpus.splits["newstest2010-2016"]]
    assert len(pieces) == 7
    for year, piece in zip(range(2010, 2017), pieces, strict=True):
        assert piece.count(f"newstest{year}") == 2
    assert "newstest2009" in str(corpus.splits["newstest2009"])
    assert "newstest2013" in str(corpus.splits["valid"])


def test_the_defaults_and_split_names() -> None:
    corpus = Corpus.model_validate(
        {**ROW, "splits": {"train": [PIECE, PIECE]}, "holdout": {"valid": 23}}
    )
    assert corpus.split_names == ("train", "valid")
    assert corpus.downloads("train") == ("a.de", "a.en")
    assert corpus.clean.model_dump() == {
        "max_tokens": 250,
        "max_ratio": 1.5,
        "deduplicate": True,
    }
    assert read("toy").split_names == ("train", "valid", "test")
    assert read("iwslt14.de-en").split_names == ("train", "test", "valid")
    assert [str(p) for p in read("files.example").paths("valid")] == [
        "data/valid.en",
        "data/valid.de",
    ]


def test_the_toy_corpus_knows_all_right_translations_but_of_what_trains() -> None:
    known = map(Corpus.model_validate(TOY).has_several_references, ("train", "valid", "test"))
    assert list(known) == [False, True, True]


def test_files_that_are_not_there(tmp_path: Path) -> None:
    here, not_there = tmp_path / "a.de", tmp_path / "a.en"
    here.touch()
    for pair in ((here, not_there), (not_there, here)):
        one = {"kind": "files", **dict(zip(("source", "target"), map(str, pair), strict=True))}
        corpus = Corpus.model_validate({**ROW, "splits": {"train": [PIECE], "valid": [one]}})
        with pytest.raises(UserError, match=rf"mine\.yaml: splits\.valid: no file {not_there} "):
            corpus.check_files("mine.yaml")
        not_there.touch()
        corpus.check_files("mine.yaml")
        not_there.unlink()
        not_there.mkdir()
        with pytest.raises(UserError, match=rf"valid: {not_there} is a folder: name a file"):
            corpus.check_files("mine.yaml")
        not_there.rmdir()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"splits": {"train": [PIECE], "valid": [SAME]}}, "source and target are both a.de"),
        ({"colour": 1}, "colour"),
        ({"source": "en"}, "both en"),
        ({"source": "German"}, "source"),
        ({"generate": "toy", "seed": 1}, "either splits or generate"),
        ({"splits": {}}, "either splits or generate"),
        ({"splits": {}, "generate": "toy"}, "generate and seed"),
        ({"seed": 1}, "generate and seed"),
        ({"splits": {}, "generate": "toy", "seed": 1}, "source en, target de"),
        ({"splits": {"train": [PIECE]}}, "no split valid"),
        (
            {"splits": {"train": [PIECE], "valid": [OWN], "test": [OWN]}},
            "splits: valid and test are the same files: name others",
        ),
        ({**TOY, "holdout": {"dev": 10}}, "leave holdout, lowercase and pretokenised out"),
        ({**TOY, "lowercase": True}, "leave holdout, lowercase and pretokenised out"),
        ({**TOY, "pretokenised": True}, "leave holdout, lowercase and pretokenised out"),
        ({"references": {"test": "more.gz"}}, "no split test"),
        ({"splits": {"valid": [PIECE]}}, "no split train"),
        ({"splits": {"train": [], "valid": [PIECE]}}, "splits.train"),
        ({"splits": {"train": [PIECE], "va.lid": [PIECE]}}, "va.lid"),
        ({"holdout": {"valid": 23}}, "both held out and given"),
        ({"holdout": {"dev": 1}}, "holdout.dev"),
        ({"holdout": {"a": 2, "b": 2}}, "at most 1 item"),
        ({"clean": {"max_ratio": 0.5}}, "max_ratio"),
        ({"splits": {"train": [PIECE], "valid": [{**PIECE, "kind": "pears"}]}}, "'pears'"),
        ({"splits": {"train": [PIECE], "valid": [{**PIECE, "archive": "a"}]}}, "archive"),
        ({"splits": {"train": [PIECE], "valid": [{**PIECE, "source": "../a"}]}}, "relative path"),
        ({"splits": {"train": [PIECE], "valid": [{**PIECE, "source": "/a"}]}}, "relative path"),
        (
            {"splits": {"train": [PIECE], "valid": [{"kind": "aspec", "download": "a"}]}},
            "ja and en",
        ),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Corpus.model_validate({**ROW, **change})


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"bytes": 5},
        {"url": "ftp://a/b"},
        {"url": "http://a/b", "bytes": 0},
        {"url": "http://a/b", "sha256": "abc"},
        {"url": "http://a/b", "md5": "abc"},
    ],
)
def test_a_download_that_cannot_be_had_is_refused(row: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Download.model_validate(row)
