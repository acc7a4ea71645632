"""What statistics are measured on."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from fastdecode.errors import UserError
from fastdecode.files import write_lines
from fastdecode.measure.statistic import (
    Readable,
    Split,
    read_split,
    readable_text,
    right_translations,
    share,
)
from fastdecode.system import System
from fastdecode.translation import Translation, write_translations

PLACES = ("valid.en.gz", "valid.de.gz", "codes.source", "codes.target")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, list[Path]]:
    """Two lines; either side has one merge of its own."""
    source, target, *codes = (tmp_path / name for name in PLACES)
    write_lines(source, ["ab ba", "ab"])
    write_lines(target, ["ab", "ba ba"])
    write_lines(codes[0], ["#version: 0.2", "a b</w>"])
    write_lines(codes[1], ["#version: 0.2", "b a</w>"])
    return source, target, codes


def test_each_side_is_segmented_by_its_own_codes(files: tuple[Path, Path, list[Path]]) -> None:
    split = read_split(*files)
    assert split.sources == [["ab", "b@@", "a"], ["ab"]]
    assert split.references == {"real": [["a@@", "b"], ["ba", "ba"]]}


def test_what_the_teacher_wrote(files: tuple[Path, Path, list[Path]], tmp_path: Path) -> None:
    path = tmp_path / "valid.beam5.jsonl.gz"
    written = [Translation("ba", ["ba"], -1.0, 2), Translation("", [], None, 0)]
    write_translations(path, {}, ["one", "two"], written)
    assert read_split(*files, path).references == {
        "real": [["a@@", "b"], ["ba", "ba"]],
        "teacher": [["ba"], []],
    }
    write_translations(path, {}, ["one"], written[:1])
    with pytest.raises(UserError, match=r"has 1 translations but .* has 2 lines"):
        read_split(*files, path)


def test_what_a_teacher_wrote_elsewhere_is_segmented(
    files: tuple[Path, Path, list[Path]], tmp_path: Path
) -> None:
    """Its tokens are words, if text was given, or pieces of other codes."""
    path = tmp_path / "valid.beam5.jsonl.gz"
    for tokens in (["ab", "ba"], ["ab", "b@@", "a"]):
        written = [Translation("ab ba", tokens, None, 0), Translation("", [], None, 0)]
        for given, pieces in (({}, tokens), ({"given": {"path": "x"}}, ["a@@", "b", "ba"])):
            write_translations(path, {"provenance": given}, ["one", "two"], written)
            assert read_split(*files, path).references["teacher"] == [pieces, []]


def test_what_cannot_be_read(files: tuple[Path, Path, list[Path]]) -> None:
    write_lines(files[1], ["ab"])
    with pytest.raises(UserError, match="must have the same number of lines"):
        read_split(*files)
    for side in files[:2]:
        write_lines(side, [])
    with pytest.raises(UserError, match="no lines to measure a statistic of"):
        read_split(*files)


def test_lines_that_a_system_reads() -> None:
    model = SimpleNamespace(max_positions=lambda: (5, 4))  # 3 and 2 words
    system = System([model], None, None)  # type: ignore[arg-type]
    lines = [["a"] * n for n in (1, 3, 4, 0, 1, 1)]
    split = Split(lines, {"real": [["b"] * n for n in (1, 2, 1, 1, 3, 0)]})
    assert split.readable(system) == [0, 1, 4, 5]
    assert split.readable(system, "real") == [0, 1]


def test_lines_short_enough_to_be_drawn() -> None:
    sides = [["a"] * n for n in (3, 4, 8, 9, 5)], [["b"] * n for n in (4, 8, 4, 5, 3)]
    split = Split(sides[0], {"real": sides[1]})
    assert split.short(9) == [1, 2]
    assert split.short(1) == [1]
    assert split.drawn == 1
    with pytest.raises(UserError, match="nothing short enough"):
        Split(sides[0][:1], {"real": sides[1][:1]}).short(1)
    assert Split(sides[0][:1], {"real": sides[1][:1]}).drawn is None


def test_of_many_lines_every_nth_is_read(tmp_path: Path) -> None:
    source, target, *codes = (tmp_path / name for name in PLACES)
    write_lines(source, [f"s{number}" for number in range(10)])
    write_lines(target, [f"t{number}" for number in range(10)])
    for side in codes:
        write_lines(side, ["#version: 0.2", "a b</w>"])
    for most, lines in ((10, 10), (9, 5), (5, 5), (4, 4), (3, 3), (1, 1)):
        split = read_split(source, target, codes, most=most)
        assert len(split.sources) == lines <= most
        ends = [int("".join(tokens)[-1]) for tokens in split.references["real"]]
        assert ends == [number * split.step for number in range(lines)]
        assert ends == list(range(0, 10, -(-10 // most)))


def test_right_translations_belong_to_the_lines(files: tuple[Path, Path, list[Path]]) -> None:
    text = Readable([["a"], ["b"], ["c"]], " ".join, "de", lowercase=False)
    with pytest.raises(UserError, match=r"has 2 lines but right translations are known of 3"):
        read_split(*files, text=text)


def test_right_translations_that_are_known(tmp_path: Path) -> None:
    generated, extra, source, target = (tmp_path / name for name in ("g", "e", "s", "t"))
    write_lines(generated, ['{"references": ["ja", "doch"], "count": 9}'])
    write_lines(extra, ["S-1\tyes", "T-1\tja", "R1-1\tjawohl"])
    write_lines(source, ["yes", "no"])
    write_lines(target, ["ja", "nein"])
    assert right_translations(generated, []) == [["ja", "doch"]]
    assert right_translations(None, [extra, source, target]) == [["jawohl"], []]
    assert right_translations(None, []) is None


def test_a_split_is_read_as_its_corpus_is_written(files: tuple[Path, Path, list[Path]]) -> None:
    conventions = {"source": "en", "target": "de", "lowercase": True, "pretokenised": False}
    text = readable_text([["ba"]], conventions, files[2][0].parent)
    assert text is not None and (text.language, text.lowercase) == ("de", True)
    assert (text.right, text.finish(["b@@", "a", "."])) == ([["ba"]], "ba.")
    assert readable_text(None, conventions, files[2][0].parent) is None


def test_shares_are_of_all_tokens_whatever_lines_are_left_out() -> None:
    split = Split([["a"], ["b"], ["c"]], {})
    counted = split.by_line({2: (1, 2), 0: (2, 5)})
    assert counted == [(2, 5), (0, 0), (1, 2)]
    assert share(counted, "shares") == 3 / 7


def test_a_share_of_nothing_is_refused() -> None:
    with pytest.raises(UserError, match="no reference tokens to measure the recall with"):
        share([(0, 0)], "recall")
