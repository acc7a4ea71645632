"""From downloaded files to aligned raw lines: two gzipped text files for each split."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from fastdecode.config.corpora import AnyPiece, Bilingual, Corpus, Files, Format, Members, Pair
from fastdecode.corpus.archives import member_lines
from fastdecode.corpus.bilingual import read_aspec, read_tmx
from fastdecode.corpus.characters import composed
from fastdecode.corpus.formats import FORMATS
from fastdecode.errors import UserError
from fastdecode.files import open_to_write, read_lines
from fastdecode.progress import track


def extract_split(corpus: Corpus, split: str, downloads: Path, source: Path, target: Path) -> None:
    """Write both sides of a split of files to `source` and `target`.

    `downloads` is the folder with the downloads, each at its key. Every run of whitespace in a line
    becomes one space, none is left at its ends, and letters and their accents become one character:
    line k of both sides stays a pair whatever reads them.

    Raises UserError if a file, a member, or a line is missing or damaged.
    """
    pairs = (pair for piece in corpus.splits[split] for pair in _read(piece, corpus, downloads))
    with open_to_write(source) as left, open_to_write(target) as right:
        for pair in track(pairs, f"extract {split}", "pairs"):
            for file, line in zip((left, right), pair, strict=True):
                file.write(" ".join(composed(line).removeprefix("\ufeff").split()) + "\n")


def _read(piece: AnyPiece, corpus: Corpus, downloads: Path) -> Iterator[tuple[str, str]]:
    """Yield the raw pairs of one piece; UserError if there are none."""
    match piece:
        case Pair():
            files = [downloads / key for key in piece.downloads]
            pairs = _aligned(piece.format, [(str(f), read_lines(f)) for f in files])
            origin = str(files[0])
        case Files():
            pairs = _aligned(piece.format, [(str(f), read_lines(f)) for f in piece.paths])
            origin = str(piece.source)
        case Members():
            archive, members = downloads / piece.archive, (piece.source, piece.target)
            pairs = _aligned(
                piece.format, [(f"{archive}: {m}", member_lines(archive, m)) for m in members]
            )
            origin = f"{archive}: {piece.source}"
        case Bilingual():
            reader = {"tmx": read_tmx, "aspec": read_aspec}[piece.kind]
            pairs = reader(downloads / piece.download, corpus.source, corpus.target)
            origin = str(downloads / piece.download)
    empty = True
    for pair in pairs:
        empty = False
        yield pair
    if empty:
        raise UserError(
            f"{origin}: no sentence pairs in it: check the file, and the piece that names it"
        )


def _aligned(form: Format, texts: list[tuple[str, Iterator[str]]]) -> Iterator[tuple[str, str]]:
    """Yield the sentence pairs of two named texts; UserError if one has more sentences."""
    sides = [FORMATS[form](name, lines) for name, lines in texts]
    for count, (left, right) in enumerate(zip_longest(*sides)):
        if left is None or right is None:
            longer = count + 1 + sum(1 for side in sides for _ in side)
            lengths = (count, longer) if left is None else (longer, count)
            raise UserError(
                f"{texts[0][0]} has {lengths[0]} lines but {texts[1][0]} has {lengths[1]}: "
                "both sides of a parallel text must have the same number of lines"
            )
        yield left, right
