"""Clean lines of what is not text, and write every letter as one character."""

import re
import unicodedata

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
INVISIBLE = re.compile("[\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")


def composed(line: str) -> str:
    """Return a line with a character for each accented letter (Unicode's NFC).

    Text may have two, the letter and its accent (NFD), as file systems and programs of macOS write
    it. Tokenisers part them, and no reference that is written otherwise agrees.
    """
    return unicodedata.normalize("NFC", line)


def without_controls(line: str) -> str:
    """Replace control characters and line separators by spaces; delete invisible characters.

    What is left is composed.
    """
    return composed(INVISIBLE.sub("", CONTROL.sub(" ", line)))
