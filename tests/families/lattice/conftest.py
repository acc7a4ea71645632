"""Small word-aligned corpora, as text and as what the naive twin reads."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import strategies as st

from fastdecode.corpus.links import Link, format_links
from fastdecode.families.lattice.candidates import Candidates
from fastdecode.families.lattice.counts import Counts, count
from fastdecode.families.lattice.naive import NaiveTables
from fastdecode.families.lattice.tables import Tables, open_tables, write_tables
from fastdecode.families.lattice.vocabulary import SPECIAL, UNKNOWN
from fastdecode.files import write_lines

WORDS = [*SPECIAL, *(f"w{number}" for number in range(8))]
UNHEARD = len(WORDS)  # stands in texts for a word that no dictionary has
Pair = tuple[list[int], list[int], list[Link]]


@dataclass(frozen=True)
class Corpus:
    """Pairs of word numbers, and links."""

    pairs: list[Pair]

    def write(self, folder: Path) -> tuple[Path, Path, Path]:
        """Write source, target and links."""
        paths = folder / "source.gz", folder / "target.gz", folder / "links.gz"
        names = [*WORDS, "unheard"]
        for path, side in zip(paths, (0, 1), strict=False):
            write_lines(path, (" ".join(names[word] for word in pair[side]) for pair in self.pairs))
        write_lines(paths[2], (format_links(links) for _, _, links in self.pairs))
        return paths

    def count(self, **more: Any) -> Counts:
        """Count it."""
        with TemporaryDirectory() as name:
            return count(*self.write(Path(name)), WORDS, WORDS, **more)

    def tables(self, folder: Path, **more: Any) -> Tables:
        """Write its tables into a new folder and open them."""
        write_tables(self.count(), folder, WORDS, WORDS, {}, **more)
        return open_tables(folder, WORDS, WORDS)

    def candidates(self) -> Candidates:
        """Return the look-up in its tables, whose files are gone already."""
        with TemporaryDirectory() as name:
            return Candidates(self.tables(Path(name, "tables")))

    def naive(self) -> NaiveTables:
        """Return the naive tables."""
        known = [
            (
                [min(x, UNKNOWN) if x == UNHEARD else x for x in source],
                [UNKNOWN if y == UNHEARD else y for y in target],
                links,
            )
            for source, target, links in self.pairs
        ]
        return NaiveTables(known, len(WORDS))


def some_words(longest: int) -> st.SearchStrategy[list[int]]:
    """Draw a line: mostly of the first words, the last never occurs."""
    word = st.sampled_from([4, 4, 4, 5, 5, 6, 7, 8, 9, 10, UNHEARD])
    return st.lists(word, min_size=1, max_size=longest)


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    """Draw two lines and some links between them."""
    source, target = draw(some_words(6)), draw(some_words(6))
    cells = [(i, j) for i in range(len(source)) for j in range(len(target))]
    return source, target, sorted(draw(st.sets(st.sampled_from(cells), max_size=8)))


corpora = st.lists(pairs(), min_size=1, max_size=12).map(
    lambda drawn: Corpus([([4], [4], [(0, 0)]), *drawn])  # so that there is a link
)


@pytest.fixture
def small() -> Corpus:
    """Three pairs that can be counted by hand."""
    return Corpus(
        [
            ([4, 5], [6, 7], [(0, 0), (1, 1)]),
            ([4, 5], [7, 6], [(1, 0), (0, 1)]),
            ([4, 5, 4], [6, 8, 7], [(0, 0), (1, 0), (2, 2)]),
        ]
    )
