from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from subword_nmt import learn_bpe

from fastdecode.corpus import pool
from fastdecode.corpus.bpe import Bpe, apply, join, learn, learn_sides
from fastdecode.errors import UserError
from fastdecode.files import read_lines, write_lines

ENGLISH = ["the lower tower", "the lowest power", "a new flower shower @-@ lower"]
GERMAN = ["der neue Turm", "die neueste Macht", "der Turm der Macht"]


@pytest.fixture(scope="module")
def codes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bpe")
    write_lines(folder / "en.gz", ENGLISH)
    write_lines(folder / "de.gz", GERMAN)
    learn([folder / "en.gz", folder / "de.gz"], 12, folder / "codes")
    assert len(list(read_lines(folder / "codes"))) == 12 + 1
    return folder / "codes"


def test_both_files_count(codes: Path) -> None:
    bpe = Bpe(codes)
    assert bpe.segment("lower") == "lower"
    assert bpe.segment("der") == "der"
    assert bpe.segment("lowly") == "l@@ ow@@ l@@ y"


WORD = st.text("abelnortuwz@/<>w-", min_size=1, max_size=9).filter(lambda w: not w.endswith("@@"))


@given(words=st.lists(WORD, max_size=6))
def test_join_undoes_segment(codes: Path, words: list[str]) -> None:
    line = " ".join(words)
    assert join(Bpe(codes).segment(line)) == line


def test_join_ends_a_word_that_was_cut() -> None:
    assert join("the tow@@ er@@") == "the tower"


def test_learning_repeats_exactly(codes: Path, tmp_path: Path) -> None:
    learn([codes.with_name("en.gz"), codes.with_name("de.gz")], 12, tmp_path / "codes")
    assert (tmp_path / "codes").read_bytes() == codes.read_bytes()


def test_codes_are_of_each_side_or_of_both_together(codes: Path, tmp_path: Path) -> None:
    sources = [codes.with_name("en.gz"), codes.with_name("de.gz")]
    sides, alone = [tmp_path / "source", tmp_path / "target"], tmp_path / "alone"
    learn_sides(sources, 12, sides, joint=True)
    assert [side.read_bytes() for side in sides] == [codes.read_bytes()] * 2
    learn_sides(sources, 12, sides, joint=False)
    for source, side in zip(sources, sides, strict=True):
        learn([source], 12, alone)
        assert side.read_bytes() == alone.read_bytes()


def test_fewer_merges_than_asked_for(
    codes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bar = learn_bpe.tqdm
    learn([codes.with_name("en.gz")], 1000, tmp_path / "codes")
    assert learn_bpe.tqdm is bar
    reached = len(list(read_lines(tmp_path / "codes"))) - 1
    assert 0 < reached < 100
    assert f"only {reached} merges, 1,000 were asked for" in capsys.readouterr().err


def test_nothing_to_learn(tmp_path: Path) -> None:
    write_lines(tmp_path / "once", ["the a"])
    with pytest.raises(UserError, match="once: no two pieces stand together twice"):
        learn([tmp_path / "once"], 10, tmp_path / "codes")
    assert not (tmp_path / "codes").exists()
    write_lines(tmp_path / "text", ["a b c"])
    with pytest.raises(UserError, match="text: no word of two letters"):
        learn([tmp_path / "text"], 10, tmp_path / "codes")
    assert not (tmp_path / "codes").exists()


@pytest.mark.parametrize("processes", [1, 2])
def test_apply(
    codes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    monkeypatch.setattr(pool, "CHUNK", 2)
    lines = [*ENGLISH, "", "lowly"] * 4
    write_lines(tmp_path / "text.gz", lines)
    apply(codes, tmp_path / "text.gz", tmp_path / "out.gz", processes)
    bpe = Bpe(codes)
    assert list(read_lines(tmp_path / "out.gz")) == [bpe.segment(line) for line in lines]


@pytest.mark.parametrize("mark", ["<s>", "</s>", "<pad>"])
def test_the_models_own_marks_are_refused_as_words(codes: Path, tmp_path: Path, mark: str) -> None:
    for line, number in (("a <b c>", 0), (f"a {mark}s", 0), (f"a {mark} b", 2), (mark, 2)):
        write_lines(tmp_path / "text", ["fine < s >", line])
        if not number:
            apply(codes, tmp_path / "text", tmp_path / "out")
            continue
        with pytest.raises(UserError, match=f"text, line {number}: {mark} is a mark of the models"):
            apply(codes, tmp_path / "text", tmp_path / "out")


@pytest.mark.parametrize("line", ["tow@@ er", "tow@@"])
def test_segmented_text_is_refused(codes: Path, tmp_path: Path, line: str) -> None:
    write_lines(tmp_path / "text", ["fine", line])
    with pytest.raises(UserError, match=r"text, line 2: a word ends in @@"):
        apply(codes, tmp_path / "text", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no codes\n",
        "#version: 0.2\nfine pair\nthree in one\n",
        "#version: 0.2\nfine pair\nso fa",
    ],
)
def test_broken_codes(tmp_path: Path, text: str) -> None:
    (tmp_path / "codes").write_text(text)
    with pytest.raises(UserError, match="codes"):
        Bpe(tmp_path / "codes")
