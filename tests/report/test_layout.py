"""What a printed table looks like, before LaTeX sets it."""

from math import ceil

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.report.layout import (
    LEAST,
    NARROW,
    SPACE,
    Column,
    Head,
    Layout,
    divided,
    lay_out,
    leaves,
    shared,
)
from fastdecode.report.tables import NOT_RUN, is_numeric

DECODER = "transformer-big/lattice-2-layers/lattice-k64-optimised"


def names(*headings: str) -> list[tuple[str, ...]]:
    """Their words."""
    return [tuple(heading.split()) for heading in headings]


def laid_out(frame: pd.DataFrame, heads: tuple[Head, ...], notes: int = 0) -> Layout:
    return lay_out(frame, heads, notes, [is_numeric(frame[name]) for name in frame])


def table(texts: int, numbers: int, rows: int) -> tuple[pd.DataFrame, tuple[Head, ...]]:
    """A table of columns of long texts and of numbers, with its headings."""
    line = {f"t{i}": DECODER for i in range(texts)} | {f"n{i}": "12.34" for i in range(numbers)}
    frame = pd.DataFrame([line] * rows, columns=list(line), dtype=str)
    return frame, shared(names(*frame.columns))


def test_headings_that_begin_alike_stand_below_what_they_share() -> None:
    found = shared(names("K", "published gap, raw", "published gap, kd", "published ms", "K"))
    gaps = Head("gap", 2, (Head("raw", 1), Head("kd", 1)))
    assert found == (Head("K", 1), Head("published", 3, (gaps, Head("ms", 1))), Head("K", 1))


def test_all_that_is_shared_is_said_once() -> None:
    pair = (Head("BLEU", 1), Head("ms", 1))
    assert shared(names("toy.long raw BLEU", "toy.long raw ms")) == (Head("toy.long raw", 2, pair),)


@pytest.mark.parametrize(
    "headings", [("ms", "ms ratio"), ("ms", "ms"), ("a b", "c b", "a d"), ("",)]
)
def test_nothing_is_shared_that_would_leave_nothing_or_is_apart(headings: tuple[str, ...]) -> None:
    assert shared(names(*headings)) == tuple(Head(heading, 1) for heading in headings)


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), min_size=1, max_size=7))
def test_read_downwards_headings_are_the_names(words: list[list[str]]) -> None:
    def read(heads: tuple[Head, ...], above: str = "") -> list[str]:
        found: list[str] = []
        for head in heads:
            name = f"{above} {head.text}".strip()
            found += read(head.below, name) if head.below else [name]
            assert head.span == len(read(head.below) if head.below else [name])
        return found

    heads = shared([tuple(name) for name in words])
    assert read(heads) == [" ".join(name) for name in words]
    assert len(list(leaves(heads))) == len(words)


def test_what_fits_is_left_as_it_is() -> None:
    layout = laid_out(*table(1, 2, 3))
    assert layout.columns == (
        Column(len(DECODER), len(DECODER), numeric=False, broken=False),
        *[Column(5, 5, numeric=True, broken=False)] * 2,
    )
    assert not layout.turned and layout.scale == 1


def test_texts_are_broken_before_a_table_is_turned() -> None:
    broken, turned = (laid_out(*table(1, numbers, 12)) for numbers in (8, 16))
    assert broken.columns[0].broken and NARROW <= broken.columns[0].width < len(DECODER)
    assert not broken.turned and broken.scale >= 0.8
    assert turned.turned and turned.scale >= 0.8


def test_broken_texts_take_the_room_that_is_left() -> None:
    frame, heads = table(1, 7, 12)
    found = laid_out(frame, heads)
    assert found.columns[0].width > ceil(len(DECODER) / 2)
    assert 77 <= sum(column.width + SPACE for column in found.columns) <= 78


def test_a_high_table_stands_upright_though_it_is_wide() -> None:
    assert not laid_out(*table(1, 8, 60)).turned


def test_a_heading_over_several_columns_may_need_more_than_they() -> None:
    long = "published by other people elsewhere and measured there on something else"
    heads = shared(names(*(f"{n} {long} {name}" for n in "abc" for name in ("BLEU", "ms"))))
    frame = pd.DataFrame([["1"] * 6], columns=list("abcdef"))
    assert laid_out(frame, heads).scale < 1


def test_notes_take_room_too() -> None:
    frame, heads = table(0, 3, 40)
    assert laid_out(frame, heads, 20_000).scale < laid_out(frame, heads).scale == 1


def test_a_table_that_would_be_too_small_is_divided() -> None:
    frame, heads = table(1, 8, 200)
    pieces = divided(frame, heads, 500)
    assert len(pieces) > 1 and all(layout.scale >= LEAST for _, layout in pieces)
    assert pd.concat([piece for piece, _ in pieces]).equals(frame)
    (whole,) = divided(*table(1, 60, 200), 0)  # too wide: pieces would be as small
    assert len(whole[0]) == 200


def test_no_piece_begins_below_a_label() -> None:
    frame, heads = table(1, 8, 200)
    frame["t0"] = frame["t0"].where(frame.index % 7 == 3, "")
    pieces = divided(frame, heads, 0)
    assert len(pieces) > 1 and pd.concat([piece for piece, _ in pieces]).equals(frame)
    assert all(piece["t0"].iloc[0] for piece, _ in pieces[1:])
    frame["t0"] = ""
    assert len(divided(frame, heads, 0)) == 1  # nowhere may another begin


def test_a_column_is_of_texts_or_of_numbers_in_all_pieces() -> None:
    frame, heads = table(2, 8, 200)
    frame.loc[20:, "t1"] = NOT_RUN  # numbers, were it by these rows
    pieces = divided(frame, heads, 0)
    kinds = {tuple(column.numeric for column in layout.columns) for _, layout in pieces}
    assert len(pieces) > 1 and kinds == {(False, False, *[True] * 8)}


@pytest.mark.parametrize("shape", [(0, 1, 0), (1, 0, 0), (2, 3, 1)])
def test_a_table_of_no_rows_is_one(shape: tuple[int, int, int]) -> None:
    assert len(divided(*table(*shape), 0)) == 1
