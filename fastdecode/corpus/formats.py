"""Formats of a file in one language: its lines to sentences."""

import re
from collections.abc import Callable, Iterable, Iterator
from xml.sax.saxutils import unescape

from fastdecode.config.corpora import Format
from fastdecode.errors import UserError

QUOTES = {"&quot;": '"', "&apos;": "'"}
SEGMENT = re.compile(r"<seg\b[^>]*>(.*?)</seg\s*>", re.DOTALL | re.IGNORECASE)
# As the field prepares train.tags: lines about a talk go, its title and description stay as text.
TED_MARKUP = re.compile(r"\s*</?(doc|url|keywords|talkid|speaker|reviewer|translator)\b")
TED_TEXT = re.compile(r"</?(title|description)>")


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
