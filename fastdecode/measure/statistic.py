"""Statistics: what a family measures of one trained system on one split, beside its translations.

A room that has any names them in `STATISTICS` of its `rows.py` and holds the functions, by name, in
`STATISTICS` of its `statistics.py`. Each takes a system and a Split and returns what goes into the
JSON file, first of all `definition`: in words what the numbers are. What the teacher wrote is given
to those alone that `AGAINST_TEACHER` of `rows.py` names: the others do not wait for it. What else a
statistic compares with is another system's statistic: the figure puts them together.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastdecode.corpus.bpe import Bpe, join
from fastdecode.corpus.references import several_references
from fastdecode.corpus.toy import read_references
from fastdecode.errors import UserError
from fastdecode.files import read_pairs
from fastdecode.text import Text
from fastdecode.translation import Finish, read_translations

if TYPE_CHECKING:
    from fastdecode.system import System

FRAME = 2  # positions that a model may need beside the words: `<s>` and `</s>`
MOST_TRAINING_LINES = 2000  # that a statistic is measured on, spread evenly over the split
DRAWN = 3  # sentences
SHORTEST, LONGEST = 4, 8  # tokens of one
Lines = list[list[str]]
Counted = tuple[float, int]  # tokens of a line that something holds for, and all of them


@dataclass(frozen=True)
class Readable:
    """A split as it is read by people, where several right translations of it are known."""

    right: Lines
    """For each line, right translations: raw text; none where none are known but the corpus's."""
    finish: Finish
    """Turns BPE tokens into such text."""
    language: str
    """Of the translations; chooses BLEU's tokeniser."""
    lowercase: bool
    """Whether BLEU ignores case."""


@dataclass(frozen=True)
class Split:
    """A split of a dataset as BPE tokens; line n of everything belongs together."""

    sources: Lines
    references: dict[str, Lines]
    """`real`, the corpus's own; and `teacher`, if the statistic compares with it: what is written
    by the one model that wrote the target side that a system learnt."""
    text: Readable | None = None
    step: int = 1
    """Line n here is line n * step of the file: of a long one not every line is read."""

    def readable(self, system: "System", references: str | None = None) -> list[int]:
        """Return the numbers of the lines that have words and fit into the models of `system`.

        If `references` names some, this holds for these, too.
        """
        sides = [self.sources] + ([self.references[references]] if references else [])
        most = [
            min(model.max_positions()[side] for model in system.models) - FRAME
            for side in range(len(sides))
        ]
        return [
            number
            for number, line in enumerate(zip(*sides, strict=True))
            if all(0 < len(tokens) <= limit for tokens, limit in zip(line, most, strict=True))
        ]

    def by_line(self, counted: Mapping[int, Counted]) -> list[Counted]:
        """Return what was counted of some lines, by number, as that of every line of the split.

        Systems that leave out different lines are so resampled alike.
        """
        return [counted.get(number, (0, 0)) for number in range(len(self.sources))]

    def short(self, count: int) -> list[int]:
        """Return the numbers of the first `count` lines that are short enough to be drawn.

        Both sides have SHORTEST to LONGEST tokens. Systems of one dataset so show the same lines.

        Raises UserError if there is none.
        """
        found = self._short()
        if not found:
            raise UserError(
                f"no line has {SHORTEST} to {LONGEST} tokens on both sides: nothing short enough "
                "to be drawn, leave it out of `papers:`"
            )
        return found[:count]

    @property
    def drawn(self) -> int | None:
        """The number of the line that every drawing of a single sentence shows if it can.

        It is the first short one; None if there is none.
        """
        return next(iter(self._short()), None)

    def _short(self) -> list[int]:
        pairs = enumerate(zip(self.sources, self.references["real"], strict=True))
        return [n for n, pair in pairs if all(SHORTEST <= len(side) <= LONGEST for side in pair)]


Statistic = Callable[["System", Split], dict[str, Any]]


def share(counted: Iterable[Counted], what: str) -> float:
    """Return the share of all tokens that it holds for.

    Raises UserError if there are no tokens; `what` then says what could not be measured.
    """
    found, tokens = 0.0, 0
    for more, of in counted:
        found, tokens = found + more, tokens + of
    if not tokens:
        raise UserError(f"no reference tokens to measure the {what} with")
    return found / tokens


def right_translations(generated: Path | None, more: Sequence[Path]) -> Lines | None:
    """Return the right translations of each line of a split; None where they are not known.

    `generated` is the file of a generated corpus, which knows them all; `more` is what
    several_references takes, where people made some. At most one of the two is there.

    Raises UserError if they cannot be read.
    """
    if generated:
        return [line.references for line in read_references(generated)]
    return several_references(*more) if more else None


def readable_text(right: Lines | None, text: Mapping[str, Any], codes: Path) -> Readable | None:
    """Return how people read a split with these right translations; None where none are known.

    `text` and `codes` are what fastdecode.text.Text takes.
    """
    if not right:
        return None
    finish = Text(**text, codes=codes).target_text
    return Readable(right, finish, language=text["target"], lowercase=text["lowercase"])


def read_split(
    source: Path,
    target: Path,
    codes: Sequence[Path],
    teacher: Path | None = None,
    text: Readable | None = None,
    most: int | None = None,
) -> Split:
    """Read the two tokenised sides of a split and segment each with its own of the `codes`.

    `teacher` is the translations file of the split by the model that distilled the target side; one
    that the run was given may have words for tokens, or pieces of other codes, and is segmented.
    Where a split has more than `most` lines, every n-th is read, for the least n that suffices.

    Raises UserError on an empty split and on numbers of lines that differ.
    """
    step = max(1, ceil(sum(1 for _ in read_pairs(source, target)) / most)) if most else 1
    pairs = list(islice(read_pairs(source, target), 0, None, step))
    if not pairs:
        raise UserError(f"{source}: no lines to measure a statistic of: check the split")
    bpes = list(map(Bpe, codes))
    sources, real = (
        [bpe.segment(line).split() for line in lines]
        for bpe, lines in zip(bpes, zip(*pairs, strict=True), strict=True)
    )
    references = {"real": real}
    if text and len(text.right) != len(sources):
        raise UserError(
            f"{source} has {len(sources)} lines but right translations are known of "
            f"{len(text.right)}: make them again"
        )
    if teacher:
        header, _, translations = read_translations(teacher)
        if len(translations) != len(sources):
            raise UserError(
                f"{teacher} has {len(translations)} translations but {source} has {len(sources)} "
                "lines: delete the translations and run again"
            )
        pieces = [translation.tokens for translation in translations]
        if "given" in header.get("provenance", {}):
            pieces = [bpes[1].segment(join(" ".join(line))).split() for line in pieces]
        references["teacher"] = pieces
    return Split(sources, references, text, step)
