"""Writing the toy corpus to files, and reading its links and references back.

For every split: `<split>.en.gz` and `<split>.de.gz`, raw text, one sentence a line;
`<split>.links.gz`, the word alignment of each pair as `source-target` positions from 0 among the
words and punctuation marks of the two lines; and, for all but the training split,
`<split>.references.jsonl.gz`, one object a line: `references`, at most 64 of the right
translations, the one in `<split>.de.gz` first, and `count`, how many there are.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fastdecode.corpus.links import Link, format_links, parse_links
from fastdecode.corpus.toy.draw import Draw
from fastdecode.corpus.toy.sentences import draw_sentence
from fastdecode.corpus.toy.tree import Tree, Word, accepts, capitalised, finish, nth, sample
from fastdecode.errors import UserError
from fastdecode.files import read_lines, write_lines
from fastdecode.progress import track

TOY_SIZES: Mapping[str, int] = {"train": 6000, "valid": 300, "test": 300}
TRAIN = "train"
LENGTHS = range(3, 41)  # source words, punctuation included
MOST_REFERENCES = 64
MOST_REPEATS = 3  # of one source in the training split


@dataclass(frozen=True, slots=True)
class References:
    """Right translations of one sentence: at most 64 of them, and how many there are in all."""

    references: list[str]
    count: int


@dataclass(frozen=True, slots=True)
class Example:
    """One sentence pair: words and punctuation marks, links, and the tree of right translations."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[Link, ...]
    tree: Tree
    references: tuple[tuple[str, ...], ...]  # the target first; empty in the training split

    def is_right(self, translation: str) -> bool:
        """Say whether a raw translation is one of the right ones."""
        return accepts(self.tree, split_words(translation))


def join_words(words: tuple[str, ...]) -> str:
    """Return raw text: no space before a punctuation mark or 's."""
    return re.sub(r" (?=[,.?!]|'s )", "", " ".join(words))


def split_words(text: str) -> list[str]:
    """Return the words and punctuation marks of raw text, as the Moses tokeniser would."""
    return re.findall(r"\w+|'s|[^\w\s]", text)


def draw_examples(seed: int, sizes: Mapping[str, int] = TOY_SIZES) -> dict[str, list[Example]]:
    """Draw all splits; an example depends on its seed, split and place, and on no later one.

    The sources of all splits but train occur once in the whole corpus; a source occurs in train at
    most three times, each time with another translation.
    """
    held_out: set[tuple[str, ...]] = set()
    found: dict[str, list[Example]] = {}
    for split in sorted(sizes, key=lambda name: name == TRAIN):  # train last, the others in order
        numbers = track(range(sizes[split]), f"toy {split}", "pairs", sizes[split])
        seen: Counter[tuple[str, ...]] = Counter()
        pairs: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
        found[split] = []
        for number in numbers:
            draw = Draw(seed, split, number)
            while True:
                example = _draw_example(draw, with_references=split != TRAIN)
                pair = example.source, example.target
                most = MOST_REPEATS if split == TRAIN else 1
                if (
                    len(example.source) in LENGTHS
                    and example.source not in held_out
                    and seen[example.source] < most
                    and pair not in pairs
                ):
                    break
            seen[example.source] += 1
            pairs.add(pair)
            found[split].append(example)
        held_out |= seen.keys()
    return {split: found[split] for split in sizes}


def _draw_example(draw: Draw, with_references: bool) -> Example:
    sentence = draw_sentence(draw)
    tree = sentence.german
    target = finish(sample(tree, draw))
    source = [token.text for token in sentence.english]
    source[0] = capitalised(source[0])
    position = {id(token): i for i, token in enumerate(sentence.english)}
    links = {(position[id(token)], j) for j, word in enumerate(target) for token in word.sources}
    references = _references(tree, target, draw) if with_references else ()
    return Example(tuple(source), _texts(target), tuple(sorted(links)), tree, references)


def _references(tree: Tree, target: list[Word], draw: Draw) -> tuple[tuple[str, ...], ...]:
    """Return the target and all others, or as many as are wanted, each as likely as the next."""
    found = {_texts(target): None}  # keeps its order
    if tree.count <= MOST_REFERENCES:
        found.update((_texts(finish(nth(tree, i))), None) for i in range(tree.count))
    while len(found) < min(tree.count, MOST_REFERENCES):
        found[_texts(finish(nth(tree, draw.below(tree.count))))] = None
    return tuple(found)


def _texts(words: list[Word]) -> tuple[str, ...]:
    return tuple(word.text for word in words)


def share_right(seed: int, split: str, translations: Sequence[str]) -> float:
    """Return the share of raw translations of a held-out split that are right, listed or not.

    Raises ValueError if there is not one for each line of the split.
    """
    held_out = {name: size for name, size in TOY_SIZES.items() if name != TRAIN}
    examples = draw_examples(seed, held_out)[split]
    pairs = zip(examples, translations, strict=True)
    return sum(example.is_right(translation) for example, translation in pairs) / len(examples)


def generate(seed: int, sizes: Mapping[str, int], out: Path) -> None:
    """Write the corpus of a seed into the folder `out`; the files are described above."""
    for split, examples in draw_examples(seed, sizes).items():
        write_lines(out / f"{split}.en.gz", (join_words(pair.source) for pair in examples))
        write_lines(out / f"{split}.de.gz", (join_words(pair.target) for pair in examples))
        write_lines(
            out / f"{split}.links.gz",
            (format_links(pair.links) for pair in examples),
        )
        if split != TRAIN:
            write_lines(
                out / f"{split}.references.jsonl.gz", (_references_line(pair) for pair in examples)
            )


def _references_line(example: Example) -> str:
    references = [join_words(words) for words in example.references]
    return json.dumps({"references": references, "count": example.tree.count}, ensure_ascii=False)


def read_links(path: Path) -> Iterator[list[Link]]:
    """Yield the links of each pair.

    Raises UserError on anything but links, with the line.
    """
    for number, line in enumerate(read_lines(path), 1):
        try:
            yield parse_links(line)
        except UserError as error:
            raise UserError(f"{path}, line {number}: {error}: generate the corpus again") from None


def read_references(path: Path) -> Iterator[References]:
    """Yield the right translations of each line.

    Raises UserError on a line that is not an object with `references` and `count`.
    """
    for number, line in enumerate(read_lines(path), 1):
        try:
            row = json.loads(line)
            references, count = row["references"], row["count"]
        except (ValueError, TypeError, KeyError):
            references, count = None, None
        if (
            not isinstance(count, int)
            or not isinstance(references, list)
            or not all(isinstance(text, str) for text in references)
            or not references
        ):
            raise UserError(
                f"{path}, line {number}: must be an object with a list of texts `references` and "
                "a number `count`: generate the corpus again"
            )
        yield References(references, count)
