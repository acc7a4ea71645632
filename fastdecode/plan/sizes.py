"""How much text a dataset has: counted where its corpus is prepared, else as its row says."""

from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from fastdecode.config.corpora import Corpus
from fastdecode.config.read import Configuration
from fastdecode.corpus.tokenise import SEGMENTED
from fastdecode.files import count_lines, read_json, read_lines

PIECES_A_WORD = 1.2  # BPE
TEST_LINES = 1_000  # of a split that is not there yet
SAMPLE = 1_000  # lines of a file of the user's own


@dataclass(frozen=True)
class Size:
    """One split of one dataset."""

    lines: int
    pieces: float  # BPE tokens of a line, with its end: mean of both sides
    known: bool  # counted, not assumed


class Sizes:
    """The sizes of every split of a run's datasets."""

    def __init__(self, config: Configuration, results: Path):
        """Read what is there below `results`."""
        self._config, self._results = config, results
        self.of = cache(self._of)
        self.vocabulary = cache(self._vocabulary)

    def _of(self, dataset: str, split: str) -> Size:
        row = self._config.datasets[dataset]
        corpus = self._config.corpora[row.corpus]
        report = self._results / "corpora" / row.corpus / "report.json"
        if report.is_file():
            found = read_json(report)["splits"].get(split)
            if found:
                sides = found["sides"].values()
                words = sum(side["tokens"] for side in sides) / max(len(sides), 1)
                lines = int(found["kept"])
                return Size(lines, words / max(lines, 1) * PIECES_A_WORD + 1, True)
        return _counted(corpus, split) or Size(
            corpus.pairs or 0 if split == "train" else TEST_LINES,
            corpus.words * PIECES_A_WORD + 1,
            False,
        )

    def _vocabulary(self, dataset: str) -> int:
        """Return the number of words of the target side: counted, or as many as merges."""
        target = self._config.corpora[self._config.datasets[dataset].corpus].target
        words = self._results / dataset / "raw/bin" / f"dict.{target}.txt"
        if words.is_file():
            return len(words.read_text(encoding="utf-8").splitlines()) + 4
        return self._config.datasets[dataset].bpe.merges

    def assumed(self) -> list[str]:
        """Return, for people, what is assumed of corpora that are not prepared yet."""
        said = []
        for name in self._config.datasets:
            size = self.of(name, "train")
            if not size.lines:
                said.append(
                    f"{name}: no training lines, since nobody knows how many there are: give its "
                    "corpus `pairs:`"
                )
            elif not size.known:
                said.append(
                    f"{name}: {size.lines:,} training lines of {size.pieces:.0f} pieces; its "
                    "corpus is not prepared yet"
                )
        return said


def _counted(corpus: Corpus, split: str) -> Size | None:
    """Count the user's own files of a split, if it is made of such; a sample tells the words."""
    pieces = corpus.splits.get(split, ())
    paths = [path for piece in pieces for path in piece.paths]
    if not paths or any(piece.downloads for piece in pieces):
        return None
    if not all(path.is_file() for path in paths):
        return None
    lines = sum(count_lines(path) for piece in pieces for path in piece.paths[:1])
    languages = (corpus.source, corpus.target)
    sides = [side for piece in pieces for side in zip(languages, piece.paths, strict=True)]
    spaced = [path for language, path in sides if language not in SEGMENTED]
    sample = [line for path in spaced for line in islice(read_lines(path), SAMPLE)]
    words = sum(len(line.split()) for line in sample) / len(sample) if sample else corpus.words
    return Size(lines, words * PIECES_A_WORD + 1, False)
