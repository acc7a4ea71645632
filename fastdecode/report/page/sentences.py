"""The same source lines through all decoders, as examples."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from fastdecode.errors import UserError
from fastdecode.measure.sampling import middles
from fastdecode.translation import read_translations

EXAMPLES = 6


def examples(
    dataset: str,
    split: str,
    translations: Mapping[str, Path],
    references: Sequence[str],
    drawn: Collection[int] = (),
) -> pd.DataFrame:
    """Return a line for each example and decoder: what it wrote.

    `translations` are files by target/system/decoder, all of one split. Chosen are lines of which
    decoders write different things, spread evenly over the lengths of their references: no choice
    looks at which of them is good. The lines `drawn`, numbered from 1, are there in any case.

    Raises UserError where files are of different lines.
    """
    sources: list[str] = []
    texts: dict[str, list[str]] = {}
    for what, path in translations.items():
        _, found, written = read_translations(path)
        sources = sources or found
        if found != sources or len(found) != len(references):
            raise UserError(f"{path}: it is of other lines than {next(iter(translations))}")
        texts[what] = [translation.text for translation in written]
    return pd.DataFrame(
        [
            {
                "dataset": dataset,
                "split": split,
                "line": line + 1,
                "what": what,
                "source": sources[line],
                "reference": references[line],
                "text": written[line],
            }
            for line in chosen(list(texts.values()), references, [line - 1 for line in drawn])
            for what, written in texts.items()
        ],
        columns=["dataset", "split", "line", "what", "source", "reference", "text"],
    )


def chosen(
    texts: Sequence[Sequence[str]], references: Sequence[str], drawn: Collection[int] = ()
) -> list[int]:
    """Return the numbers of the lines that are shown, with those `drawn`, the shortest first."""

    def length(line: int) -> tuple[int, int]:
        return len(references[line].split()), line

    lines = range(len(references))
    differing = [line for line in lines if len({written[line] for written in texts}) > 1]
    order = sorted(differing or lines, key=length)
    return sorted({*middles(order, EXAMPLES), *drawn}, key=length)


def alike(names: Iterable[str], texts: Iterable[str]) -> list[tuple[list[str], str]]:
    """Return each text once, with the names of all that wrote exactly it, in the order of both."""
    writers: dict[str, list[str]] = {}
    for name, text in zip(names, texts, strict=True):
        writers.setdefault(text, []).append(name)
    return [(names_of, text) for text, names_of in writers.items()]
