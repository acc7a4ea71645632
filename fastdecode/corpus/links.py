"""Word alignments: reading, writing, symmetrising.

A link (i, j) joins source token i and target token j, counted from 0, in the direction of the
documents whichever model found it. A line in Pharaoh format is `i-j i-j …`.
"""

import re
from collections.abc import Iterable

from fastdecode.errors import UserError

LINK = re.compile("([0-9]+)-([0-9]+)")

Link = tuple[int, int]


def parse_links(line: str) -> list[Link]:
    """Read a line in Pharaoh format.

    Raises UserError on anything that is not `i-j`.
    """
    links = []
    for word in line.split():
        match = LINK.fullmatch(word)
        if not match:
            raise UserError(f"not a link between two token numbers, as in 0-1: {word!r}")
        links.append((int(match[1]), int(match[2])))
    return links


def format_links(links: Iterable[Link]) -> str:
    """Write links in Pharaoh format, in the order given."""
    return " ".join(f"{source}-{target}" for source, target in links)


def unite(forward: Iterable[Link], backward: Iterable[Link]) -> list[Link]:
    """Return the links that either direction has, sorted."""
    return sorted(set(forward) | set(backward))


def grow_diag_final_and(forward: Iterable[Link], backward: Iterable[Link]) -> list[Link]:
    """Symmetrise two directions, growing from their intersection (Koehn et al., 2005); sorted.

    Grow: as long as there is one, take a link of the union that touches a link taken before, also
    diagonally, and has a token without link. Finally take links of either direction, forward first,
    both of whose tokens are without link. Candidates are tried in sorted order.
    """
    forward, backward = sorted(forward), sorted(backward)
    taken = set(forward) & set(backward)
    sources, targets = {i for i, _ in taken}, {j for _, j in taken}

    def take(link: Link) -> None:
        taken.add(link)
        sources.add(link[0])
        targets.add(link[1])

    candidates = [link for link in unite(forward, backward) if link not in taken]
    grown = True
    while grown:
        grown = False
        for link in candidates:
            i, j = link
            free = i not in sources or j not in targets
            if free and any((i + x, j + y) in taken for x in (-1, 0, 1) for y in (-1, 0, 1)):
                take(link)
                grown = True
    for link in (*forward, *backward):
        if link[0] not in sources and link[1] not in targets:
            take(link)
    return sorted(taken)
