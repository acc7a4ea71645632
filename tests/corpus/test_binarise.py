import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from fastdecode.corpus import binarise as module
from fastdecode.corpus.binarise import Pair, binarise
from fastdecode.errors import UserError
from fastdecode.files import write_lines

FILES = {
    "binarise.log",
    *(f"dict.{language}.txt" for language in ("en", "de")),
    *(
        f"{split}.en-de.{language}.{kind}"
        for split in ("train", "valid")
        for language in ("en", "de")
        for kind in ("bin", "idx")
    ),
}


def text(folder: Path, name: str, source: list[str], target: list[str]) -> Pair:
    write_lines(folder / f"{name}.source.gz", source)
    write_lines(folder / f"{name}.target.gz", target)
    return folder / f"{name}.source.gz", folder / f"{name}.target.gz"


def words(path: Path) -> set[str]:
    return {line.split()[0] for line in path.read_text().splitlines()}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("binarise")
    train = text(folder, "train", ["a b@@ b", "c"], ["x", "y z a"])
    valid = text(folder, "valid", ["a"], ["new"])
    binarise(train, valid, folder / "bin", "en", "de", joined=True)
    return folder


def test_writes_what_fairseq_reads(data: Path) -> None:
    folder = data / "bin"
    assert {path.name for path in folder.iterdir()} == FILES
    assert {path.name for path in data.iterdir() if path.name.startswith(".")} == set()
    assert "2 sents" in (folder / "binarise.log").read_text()


def test_one_dictionary_for_both_languages(data: Path) -> None:
    english, german = data / "bin/dict.en.txt", data / "bin/dict.de.txt"
    assert words(english) >= {"a", "b@@", "b", "c", "x", "y", "z"}
    assert "new" not in words(english)
    assert english.read_bytes() == german.read_bytes()


def test_given_dictionaries_are_kept(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    distilled = text(data, "distilled", ["a b@@ b"], ["unheard y"])
    valid = data / "valid.source.gz", data / "valid.target.gz"
    binarise(distilled, valid, data / "bin2", "en", "de", joined=True, dictionaries=data / "bin")
    for language in ("en", "de"):
        name = f"dict.{language}.txt"
        assert (data / "bin2" / name).read_bytes() == (data / "bin" / name).read_bytes()
    assert "train.de: 1 sents, 3 tokens, 33.3% replaced (by <unk>)" in capsys.readouterr().err


def test_missing_dictionaries(data: Path, tmp_path: Path) -> None:
    pair = data / "valid.source.gz", data / "valid.target.gz"
    with pytest.raises(UserError, match=r"dict\.en\.txt: no such dictionary"):
        binarise(pair, pair, tmp_path / "bin", "en", "de", joined=True, dictionaries=tmp_path)


def test_a_failure_shows_the_end_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tool = tmp_path / "tool"
    tool.write_text(f"#!{sys.executable}\nprint('first words')\nraise SystemExit('last words')\n")
    tool.chmod(0o755)
    monkeypatch.setattr(module, "sys", SimpleNamespace(executable=str(tool)))
    pair = text(tmp_path, "text", ["a"], ["b"])
    with pytest.raises(UserError, match=r"fairseq-preprocess failed: last words .*bin\.log"):
        binarise(pair, pair, tmp_path / "bin", "en", "de", joined=False)
    assert "first words" in capsys.readouterr().err
    assert "first words" in (tmp_path / "bin.log").read_text()
    assert not (tmp_path / "bin").exists()


@pytest.mark.parametrize(
    ("target", "message"), [([], "has 1 lines but .* has 0"), (["x", "y"], "has 2")]
)
def test_sides_of_unequal_length(tmp_path: Path, target: list[str], message: str) -> None:
    pair = text(tmp_path, "text", ["a"], target)
    with pytest.raises(UserError, match=message):
        binarise(pair, pair, tmp_path / "bin", "en", "de", joined=True)


def test_no_text(tmp_path: Path) -> None:
    pair = text(tmp_path, "text", [], [])
    with pytest.raises(UserError, match="no lines"):
        binarise(pair, pair, tmp_path / "bin", "en", "de", joined=True)
