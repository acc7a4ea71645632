"""From downloaded files to aligned raw lines: two gzipped text files for each split.

Archives are read as streams, member by member; nothing is unpacked to disk.
"""

import difflib
import gzip
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import IO
from xml.etree import ElementTree
from xml.sax.saxutils import unescape

from fastdecode.config.corpora import AnyPiece, Bilingual, Corpus, Files, Format, Members, Pair
from fastdecode.corpus.characters import composed
from fastdecode.errors import UserError
from fastdecode.files import decode_lines, open_to_write, read_lines
from fastdecode.progress import track

DAMAGE = (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError)
QUOTES = {"&quot;": '"', "&apos;": "'"}
SEGMENT = re.compile(r"<seg\b[^>]*>(.*?)</seg\s*>", re.DOTALL | re.IGNORECASE)
# As the field prepares train.tags: lines about a talk go, its title and description stay as text.
TED_MARKUP = re.compile(r"\s*</?(doc|url|keywords|talkid|speaker|reviewer|translator)\b")
TED_TEXT = re.compile(r"</?(title|description)>")
XML_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
ASPEC_SEPARATOR = " ||| "


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
                piece.format, [(f"{archive}: {m}", _member_lines(archive, m)) for m in members]
            )
            origin = f"{archive}: {piece.source}"
        case Bilingual():
            reader = {"tmx": _tmx, "aspec": _aspec}[piece.kind]
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


# Formats: lines of a file to sentences


def _plain(name: str, lines: Iterable[str]) -> Iterator[str]:
    yield from lines


def _subwords(name: str, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield re.sub(r"@@( |$)", "", line)


def _sgm(name: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield the text of <seg> elements in their order, wherever lines break (files are small)."""
    text = "\n".join(lines)
    for segment in SEGMENT.finditer(text):
        if "<seg" in segment[1].lower():
            line = text.count("\n", 0, segment.start()) + 1
            raise UserError(f"{name}, line {line}: <seg> without </seg>: mend the file")
        yield unescape(segment[1], QUOTES)


def _ted(name: str, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if not TED_MARKUP.match(line):
            yield unescape(TED_TEXT.sub("", line), QUOTES)


FORMATS: dict[Format, Callable[[str, Iterable[str]], Iterator[str]]] = {
    "plain": _plain,
    "subwords": _subwords,
    "sgm": _sgm,
    "ted": _ted,
}


# Files with both languages


def _tmx(path: Path, source: str, target: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a translation memory; units without one of the languages are no pairs."""
    with (
        _damage_reported(path),
        gzip.open(path) if path.suffix == ".gz" else path.open("rb") as xml,
    ):
        parents: list[ElementTree.Element] = []
        try:
            for event, element in ElementTree.iterparse(xml, events=("start", "end")):
                if event == "start":
                    parents.append(element)
                    continue
                parents.pop()
                if element.tag == "tu":
                    sides = {_language(tuv): _text(tuv) for tuv in element.iter("tuv")}
                    parents[-1].clear()  # else the whole memory piles up in its <body>
                    if source in sides and target in sides:
                        yield sides[source], sides[target]
        except ElementTree.ParseError as error:
            raise UserError(
                f"{path}: not well-formed XML ({error}): delete it and fetch it again"
            ) from None


def _language(tuv: ElementTree.Element) -> str:
    """Return `en` of xml:lang="en", "EN-GB", or the older lang="en"."""
    code = tuv.get(XML_LANGUAGE) or tuv.get("lang") or ""
    return re.split("[-_]", code.lower())[0]


def _text(tuv: ElementTree.Element) -> str:
    segment = tuv.find("seg")
    return "" if segment is None else "".join(segment.itertext())


def _aspec(path: Path, source: str, target: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of an ASPEC file, whose last two fields are Japanese and English."""
    for number, line in enumerate(read_lines(path), 1):
        fields = line.split(ASPEC_SEPARATOR)
        if len(fields) < 4:
            raise UserError(
                f"{path}, line {number}: {len(fields)} fields between |||, expected 4 or 5: "
                "put ASPEC's own file there"
            )
        sides = {"ja": fields[-2], "en": fields[-1]}
        yield sides[source], sides[target]


# Archives


def _member_lines(archive: Path, member: str) -> Iterator[str]:
    """Yield the lines of one member of a .tgz, .tar.gz or .zip, split at newlines only."""
    with _damage_reported(archive), _open_member(archive, member) as file:
        yield from decode_lines(file, f"{archive}: {member}")


@contextmanager
def _damage_reported(archive: Path) -> Iterator[None]:
    """Turn what a missing or broken archive raises into a UserError."""
    if not archive.is_file():
        raise UserError(f"{archive}: no such file")
    try:
        yield
    except DAMAGE as error:
        raise UserError(
            f"{archive}: truncated or damaged archive ({error}): delete it and fetch it again"
        ) from None


@contextmanager
def _open_member(archive: Path, member: str) -> Iterator[IO[bytes]]:
    """Open one member of an archive; UserError with near names if it is not there."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as zipped:
            names = zipped.namelist()
            if member in names:
                with zipped.open(member) as file:
                    yield file
                return
    else:
        names = []
        with tarfile.open(archive, "r:gz") as packed:
            for entry in packed:
                names.append(entry.name.removeprefix("./"))
                if names[-1] == member and (content := packed.extractfile(entry)) is not None:
                    yield content
                    return
    near = difflib.get_close_matches(member, names, n=3) or names[:3]
    raise UserError(f"{archive}: no member {member}; there are {', '.join(near)}, …")
