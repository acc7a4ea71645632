"""All right translations of one sentence, as a tree of independent choices.

A tree is a `Word`, a sequence (`Then`) or a weighted choice (`Either`). No two ways through a tree
give the same words, so the number of translations is a sum of products, and one translation is
drawn, numbered or recognised without listing the others. Choices that belong together (a register,
the gender of a noun and of the pronoun that takes it up) sit in one `Either` above everything they
touch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from fastdecode.corpus.toy.draw import Draw

MARKS = {",", ".", "?", "!"}


class Style(Enum):
    """The register of a whole sentence; words of two styles never meet in one translation."""

    FORMAL = "formal"
    CASUAL = "casual"


@dataclass(eq=False, slots=True)
class Token:
    """One occurrence of a source word; its identity, not its text, is what a link refers to."""

    text: str


@dataclass(eq=False, slots=True)
class Word:
    """A target word, the source words it translates, and the style it belongs to, if to one.

    The comma that closes a clause is `closing`: it disappears before another punctuation mark.
    """

    text: str
    sources: tuple[Token, ...] = ()
    style: Style | None = None
    closing: bool = False
    count: int = field(default=1, init=False)


@dataclass(eq=False, slots=True)
class Then:
    """Parts one after the other."""

    parts: tuple[Tree, ...]
    count: int = field(init=False)

    def __post_init__(self) -> None:
        """Count the translations."""
        self.count = math.prod(part.count for part in self.parts)


@dataclass(eq=False, slots=True)
class Either:
    """One of several trees, each with its weight, which need not sum to a hundred."""

    options: tuple[tuple[int, Tree], ...]
    count: int = field(init=False)

    def __post_init__(self) -> None:
        """Count the translations."""
        self.count = sum(tree.count for _, tree in self.options)


Tree: TypeAlias = Word | Then | Either

EMPTY = Then(())


def then(*parts: Tree) -> Tree:
    """Return the parts in sequence, without needless nesting."""
    kept = [part for part in parts if part is not EMPTY]
    return kept[0] if len(kept) == 1 else Then(tuple(kept)) if kept else EMPTY


def either(options: Iterable[tuple[int, Tree]]) -> Tree:
    """Return the choice between weighted trees, or the only tree there is."""
    kept = tuple(options)
    return kept[0][1] if len(kept) == 1 else Either(kept)


def sample(tree: Tree, draw: Draw) -> list[Word]:
    """Draw one translation by the weights of the choices."""
    if isinstance(tree, Word):
        return [tree]
    if isinstance(tree, Then):
        return [word for part in tree.parts for word in sample(part, draw)]
    return sample(draw.weighted(tree.options), draw)


def nth(tree: Tree, number: int) -> list[Word]:
    """Return translation `number` (from 0 up to `tree.count` - 1) in the order of the tree."""
    if isinstance(tree, Word):
        return [tree]
    if isinstance(tree, Then):
        found: list[list[Word]] = []
        for part in reversed(tree.parts):  # mixed radix, the last part counts fastest
            number, digit = divmod(number, part.count)
            found.append(nth(part, digit))
        return [word for part_words in reversed(found) for word in part_words]
    for _, option in tree.options:
        if number < option.count:
            return nth(option, number)
        number -= option.count
    raise IndexError(number)


def accepts(tree: Tree, target: Sequence[str]) -> bool:
    """Say whether `target`, finished words, is one of the translations."""
    return len(target) in _ends(tree, target, {0})


def _ends(tree: Tree, target: Sequence[str], starts: set[int]) -> set[int]:
    """Return where the tree can end in `target` if it begins at one of `starts`."""
    if isinstance(tree, Then):
        for part in tree.parts:
            starts = _ends(part, target, starts)
        return starts
    if isinstance(tree, Either):
        return {end for _, option in tree.options for end in _ends(option, target, starts)}
    found = set()
    for start in starts:
        if start == len(target):
            continue
        if tree.closing and target[start] in MARKS:
            found.add(start)  # the mark is the next word's: the comma gives way to it
            if target[start] != "," or start + 1 == len(target) or target[start + 1] in MARKS:
                continue
        if target[start] == (capitalised(tree.text) if start == 0 else tree.text):
            found.add(start + 1)
    return found


def shows_style(tree: Tree) -> bool:
    """Say whether every translation of the tree has at least one word that belongs to a style."""
    if isinstance(tree, Word):
        return tree.style is not None
    if isinstance(tree, Then):
        return any(shows_style(part) for part in tree.parts)
    return all(shows_style(option) for _, option in tree.options)


def finish(translation: Sequence[Word]) -> list[Word]:
    """Drop closing commas before another mark and start with a capital letter."""
    kept: list[Word] = []
    for word in reversed(translation):
        if not (word.closing and kept and kept[-1].text in MARKS):
            kept.append(word)
    kept.reverse()
    kept[0] = Word(capitalised(kept[0].text), kept[0].sources, kept[0].style)
    return kept


def capitalised(text: str) -> str:
    """Return the text with its first letter in upper case, the rest untouched."""
    return text[:1].upper() + text[1:]
