from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fastdecode.corpus.links import format_links, parse_links
from fastdecode.errors import UserError
from fastdecode.families.lattice import reading
from fastdecode.families.lattice.reading import Chunk, read_chunks
from fastdecode.families.lattice.vocabulary import SPECIAL, Numbers
from fastdecode.files import write_lines

NUMBERS = Numbers([*SPECIAL, "a", "b", "c"])
links = st.lists(st.tuples(st.integers(0, 12_000), st.integers(0, 12_000)), max_size=4)


def read(folder: Path, source: list[str], target: list[str], linked: list[str], size: int = 2):
    paths = [folder / name for name in ("source.gz", "target", "links.gz")]
    for path, lines in zip(paths, (source, target, linked), strict=True):
        write_lines(path, lines)
    return list(read_chunks(*paths, NUMBERS, NUMBERS, size=size))


def found(chunk: Chunk) -> list[list[tuple[int, int]]]:
    return [
        list(zip(chunk.i[chunk.line == n].tolist(), chunk.j[chunk.line == n].tolist(), strict=True))
        for n in range(len(chunk.source_lengths))
    ]


@given(st.lists(links, min_size=1, max_size=5))
def test_links_are_parsed_as_line_by_line(lines: list[list[tuple[int, int]]]) -> None:
    parsed = reading._parse(tuple(map(format_links, lines)))
    assert parsed is not None
    got = list(zip(*(part.tolist() for part in parsed), strict=True))
    assert got == [(n, i, j) for n, line in enumerate(lines) for i, j in line]


odd = st.text("0123- \t", max_size=12)


@given(st.lists(odd, min_size=1, max_size=4))
@example(["0-", "0 1-1"])
def test_what_is_no_link_is_never_taken_for_one(lines: list[str]) -> None:
    parsed = reading._parse(tuple(lines))
    if parsed is not None:
        got = list(zip(*(part.tolist() for part in parsed), strict=True))
        assert got == [(n, i, j) for n, line in enumerate(lines) for i, j in parse_links(line)]


def test_words_and_lengths(tmp_path: Path) -> None:
    (first, second) = read(
        tmp_path, ["a b", "c", "b unheard a"], ["b", "a a", "c"], ["0-0 1-0", "", "2-0"]
    )
    assert first.source.tolist() == [4, 5, 6]
    assert first.source_lengths.tolist() == [2, 1]
    assert first.target.tolist() == [5, 4, 4]
    assert first.target_lengths.tolist() == [1, 2]
    assert found(first) == [[(0, 0), (1, 0)], []]
    assert second.source.tolist() == [5, 3, 4]
    assert found(second) == [[(2, 0)]]


def test_other_white_space_is_read_too(tmp_path: Path) -> None:
    (chunk,) = read(tmp_path, ["a\tb"], ["a  b"], [" 0-0\t1-1 "])
    assert found(chunk) == [[(0, 0), (1, 1)]]
    assert chunk.source_lengths.tolist() == [2]


def test_no_links_at_all(tmp_path: Path) -> None:
    (chunk,) = read(tmp_path, ["a", "b"], ["a", "b"], ["", ""])
    assert found(chunk) == [[], []]


@pytest.mark.parametrize("linked", ["0-1 0", "0--1", "a-b", "-0", "0-0-0 1-1", "0-0\u00a0x"])
def test_a_malformed_link_is_said_with_its_line(tmp_path: Path, linked: str) -> None:
    with pytest.raises(UserError, match=r"links\.gz, line 3: not a link"):
        read(tmp_path, ["a b"] * 3, ["a b"] * 3, ["0-0", "1-1", linked])


@pytest.mark.parametrize("linked", ["2-0", "0-1"])
def test_a_link_outside_its_pair_is_said_with_its_line(tmp_path: Path, linked: str) -> None:
    with pytest.raises(UserError, match=rf"line 3: link {linked} in a pair of 2 and 1 tokens"):
        read(tmp_path, ["a b"] * 3, ["a"] * 3, ["0-0", "1-0", linked])


@pytest.mark.parametrize("number", [1, 3])
def test_links_of_another_text_are_refused(tmp_path: Path, number: int) -> None:
    with pytest.raises(UserError, match=rf"links\.gz has {number} lines, and the text 2 pairs"):
        read(tmp_path, ["a"] * 2, ["a"] * 2, ["0-0"] * number)


def test_numbers_are_64_bits_wide(tmp_path: Path) -> None:
    (chunk,) = read(tmp_path, ["a"], ["a"], ["0-0"])
    assert all(part.dtype == np.int64 for part in vars(chunk).values())
