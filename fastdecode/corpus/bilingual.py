"""Files that have both languages: translation memories, and ASPEC."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from fastdecode.corpus.archives import damage_reported
from fastdecode.errors import UserError
from fastdecode.files import read_lines

XML_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
ASPEC_SEPARATOR = " ||| "


def read_tmx(path: Path, source: str, target: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a translation memory; units without one of the languages are no pairs."""
    with (
        damage_reported(path),
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


def read_aspec(path: Path, source: str, target: str) -> Iterator[tuple[str, str]]:
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
