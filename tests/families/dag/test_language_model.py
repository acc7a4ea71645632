"""Estimating and asking a language model; what KenLM does itself is tested where it is there."""

import gzip
import os
import stat
import sys
import tarfile
from math import log
from pathlib import Path
from types import ModuleType

import pytest

from fastdecode.errors import UserError
from fastdecode.families.dag import language_model
from fastdecode.families.dag.language_model import build_tools, estimate
from fastdecode.families.dag.ngrams import NGrams
from tests.families.dag.conftest import ARPA, EOS, UNK, dictionary


def program(path: Path, script: str) -> None:
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(path.stat().st_mode | stat.S_IEXEC)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """What behaves like lmplz and build_binary, and keeps what it was asked."""
    folder = tmp_path / "tools"
    folder.mkdir()
    program(
        folder / "lmplz",
        'echo "$@" > "$(dirname "$0")/asked"\n'
        'while [ "$1" != --text ]; do shift; done; cat "$2" > "$4"\n',
    )
    program(folder / "build_binary", 'cp "$1" "$2"\n')
    return folder


def test_a_model_is_estimated_from_the_tokens(tmp_path: Path, tools: Path) -> None:
    text, out = tmp_path / "train.target.gz", tmp_path / "lm" / "5gram.binary"
    with gzip.open(text, "wt", encoding="utf-8") as file:
        file.write("w0 wü@@ w1\nw1\n")
    estimate(text, tools, out)
    assert out.read_text(encoding="utf-8") == "w0 wü@@ w1\nw1\n"
    assert [path.name for path in out.parent.iterdir()] == ["5gram.binary"]
    asked = (tools / "asked").read_text()
    assert asked.startswith("-o 5 --prune 0 1 5 --discount_fallback")


def test_nothing_is_left_of_an_estimate_that_fails(tmp_path: Path, tools: Path) -> None:
    text, out = tmp_path / "train.target", tmp_path / "lm" / "5gram.binary"
    text.write_text("w0\n")
    program(tools / "lmplz", "echo too little text >&2; exit 3\n")
    with pytest.raises(UserError, match=r"lmplz ended with 3: too little text"):
        estimate(text, tools, out)
    assert not out.exists()
    text.write_text("")
    with pytest.raises(UserError, match="empty"):
        estimate(text, tools, out)


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    """KenLM's package, as far as it has to be there."""
    monkeypatch.setitem(sys.modules, "kenlm", ModuleType("kenlm"))


@pytest.mark.usefixtures("package")
def test_tools_on_the_path_are_taken(
    tmp_path: Path, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    build_tools(tmp_path / "results" / "kenlm")
    built = tmp_path / "results" / "kenlm"
    assert sorted(path.name for path in built.iterdir()) == ["build_binary", "lmplz"]
    assert os.access(built / "lmplz", os.X_OK)


@pytest.mark.usefixtures("package")
def test_what_is_missing_to_build_them_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="no cmake: install cmake, and Boost"):
        build_tools(tmp_path / "kenlm")
    program(tmp_path / "cmake", "exit 0\n")
    with pytest.raises(UserError, match=r"no c\+\+: install g\+\+"):
        build_tools(tmp_path / "kenlm")
    assert not (tmp_path / "kenlm").exists()


def test_the_package_that_will_ask_is_missed_before_anything_is_built(
    tmp_path: Path, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setitem(sys.modules, "kenlm", None)
    with pytest.raises(UserError, match=r"pip install -e '\.\[lm\]'"):
        build_tools(tmp_path / "kenlm")
    assert not (tmp_path / "kenlm").exists()


@pytest.mark.usefixtures("package")
def test_pip_is_told_the_sum_of_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def download(words: list[str], what: str) -> None:
        asked.append(Path(words[words.index("-r") + 1]).read_text())
        raise UserError(what)

    monkeypatch.setattr(language_model, "_run", download)
    monkeypatch.setattr(language_model.shutil, "which", lambda name: name if name[0] == "c" else "")
    with pytest.raises(UserError, match="KenLM cannot be downloaded"):
        build_tools(tmp_path / "kenlm")
    (line,) = asked
    name, _, digest = line.strip().partition(" --hash=sha256:")
    assert (name, len(digest)) == ("kenlm==0.3.0", 64)


@pytest.mark.usefixtures("package")
def test_missing_boost_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(words: list[str], what: str) -> None:
        if words[0] == "cmake":
            raise UserError(what)
        folder = Path(words[words.index("-d") + 1])
        source = folder / "kenlm-0"
        source.mkdir()
        (source / "CMakeLists.txt").write_text("")
        with tarfile.open(folder / "kenlm.tar.gz", "w:gz") as packed:
            packed.add(source, "kenlm-0")

    monkeypatch.setattr(language_model, "_run", refuse)
    monkeypatch.setattr(language_model.shutil, "which", lambda name: name if name[0] == "c" else "")
    with pytest.raises(UserError, match="is Boost there"):
        build_tools(tmp_path / "kenlm")


def test_scores_are_natural_logarithms_with_back_off(tmp_path: Path) -> None:
    pytest.importorskip("kenlm")
    path = tmp_path / "model.arpa"
    path.write_text(ARPA)
    model, words = NGrams(path, dictionary(2).symbols), dictionary(2)
    state = model.begin()
    total = 0.0
    for token, expected in (
        (words.index("w0"), -0.5),
        (words.index("w1"), -0.2),
        (UNK, -0.1 - 1.0),
        (EOS, -0.7),
    ):
        score, state = model.score(state, token)
        assert score == pytest.approx(expected * log(10), abs=1e-5)
        total += score
    with pytest.raises(UserError, match="no language model"):
        NGrams(tmp_path / "none", [])
    (tmp_path / "broken").write_text("?")
    with pytest.raises(UserError, match=r"broken: .*delete it"):
        NGrams(tmp_path / "broken", [])


def test_without_kenlm_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kenlm", None)
    with pytest.raises(UserError, match=r"pip install -e '\.\[lm\]'"):
        NGrams(tmp_path, [])
