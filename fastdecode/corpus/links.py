"""Word alignments: reading, writing, symmetrising, projecting to words, and their error rate.

A link (i, j) joins source token i and target token j, counted from 0, in the direction of the
documents whichever model found it. A line in Pharaoh format is `i-j i-j …`.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from fastdecode.corpus.bpe import MARK
from fastdecode.errors import UserError
from fastdecode.files import read_lines, read_pairs

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


def project_to_words(links: Iterable[Link], source: str, target: str) -> list[Link]:
    """Turn links between the pieces of two BPE lines into links between their words, sorted."""
    source_words, target_words = _word_of_piece(source), _word_of_piece(target)
    return sorted({(source_words[i], target_words[j]) for i, j in links})


def _word_of_piece(line: str) -> list[int]:
    words, word = [], 0
    for piece in line.split():
        words.append(word)
        word += not piece.endswith(MARK)
    return words


def alignment_error(
    predicted: Iterable[Sequence[Link]], gold: Iterable[Sequence[Link]]
) -> dict[str, float]:
    """Compare alignments, one a sentence pair, with gold ones whose links are all sure.

    Returns `precision` and `recall` over all links, and `aer`, the alignment error rate (Och and
    Ney, 2003), 1 - 2 |A ∩ G| / (|A| + |G|).

    Raises UserError if there is no gold link, or not the same number of sentence pairs.
    """
    found = right = sure = 0
    try:
        for ours, theirs in zip(predicted, gold, strict=True):
            found += len(set(ours))
            sure += len(set(theirs))
            right += len(set(ours) & set(theirs))
    except ValueError:
        raise UserError("predicted and gold alignments differ in their number of lines") from None
    if not sure:
        raise UserError("the gold alignment has no links: nothing to compare with")
    return {
        "precision": right / found if found else 0.0,
        "recall": right / sure,
        "aer": 1 - 2 * right / (found + sure),
    }


def alignment_errors(
    alignments: Sequence[Path],
    source: Path,
    target: Path,
    kept: Path,
    gold: Iterable[Sequence[Link]],
) -> dict[str, dict[str, float]]:
    """Compare alignments of a training text with the true links; return their errors by name.

    `alignments` are of BPE pieces, `gold` of words: of every pair of the raw text, of which the
    file `kept` has the numbers of those that are in `source` and `target`.

    Raises UserError as alignment_error does, and on sides of unequal length.
    """
    of_raw = list(gold)
    true = [of_raw[int(number)] for number in read_lines(kept)]
    pairs = list(read_pairs(source, target))
    return {
        path.name.removesuffix(".gz"): alignment_error(
            (
                project_to_words(parse_links(line), *pair)
                for line, pair in zip(read_lines(path), pairs, strict=True)
            ),
            true,
        )
        for path in alignments
    }
