import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.corpus.links import (
    Link,
    format_links,
    grow_diag_final_and,
    parse_links,
    unite,
)
from fastdecode.errors import UserError

LINKS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), unique=True)
LINE = st.lists(st.from_regex("(0|[1-9][0-9]?)-(0|[1-9][0-9]?)", fullmatch=True)).map(" ".join)


@given(line=LINE)
def test_format_undoes_parse(line: str) -> None:
    assert format_links(parse_links(line)) == line


@pytest.mark.parametrize("line", ["0-1 2", "1:2", "-1-2", "a-b", "1-", "1-2-3", "1-٢"])
def test_broken_links(line: str) -> None:
    with pytest.raises(UserError, match="not a link"):
        parse_links(line)


@given(forward=LINKS, backward=LINKS)
def test_symmetrised_links_lie_between_intersection_and_union(
    forward: list[Link], backward: list[Link]
) -> None:
    grown = set(grow_diag_final_and(forward, backward))
    assert set(forward) & set(backward) <= grown <= set(unite(forward, backward))


@given(links=LINKS)
def test_equal_directions_stay_as_they_are(links: list[Link]) -> None:
    for symmetrise in (unite, grow_diag_final_and):
        assert symmetrise(links, links) == sorted(links)


@given(forward=LINKS, backward=LINKS)
def test_no_candidate_is_left_over(forward: list[Link], backward: list[Link]) -> None:
    grown = grow_diag_final_and(forward, backward)
    sources, targets = {i for i, _ in grown}, {j for _, j in grown}
    for i, j in unite(forward, backward):
        assert i in sources or j in targets  # final-and took those without any link


def test_growing_by_hand() -> None:
    # Intersection: 1-1. Touching it: 2-1 (source 2 is free), then 3-2 diagonally from that.
    # 5-5 touches nothing but both its tokens are free; 5-6 then has a linked source.
    forward = [(1, 1), (2, 1), (5, 5)]
    backward = [(1, 1), (3, 2), (5, 6)]
    assert grow_diag_final_and(forward, backward) == [(1, 1), (2, 1), (3, 2), (5, 5)]


@pytest.mark.parametrize(
    ("both", "forward"),
    [
        ([(1, 1), (5, 2)], [(2, 2)]),  # 2-2 touches 1-1 diagonally; its target is linked already
        ([(1, 1), (5, 0)], [(2, 0)]),  # so does 2-0
        ([(3, 3)], [(1, 3), (2, 3)]),  # 1-3 touches 2-3, which is tried after it
    ],
)
def test_growing_takes_them_all(both: list[Link], forward: list[Link]) -> None:
    assert grow_diag_final_and([*both, *forward], both) == sorted([*both, *forward])


def test_growing_needs_a_token_without_link() -> None:
    forward = [(0, 0), (1, 1), (0, 1)]  # 0-1 touches both, but both its tokens are linked
    assert grow_diag_final_and(forward, [(0, 0), (1, 1)]) == [(0, 0), (1, 1)]
