"""Raw lines to tokens between single spaces, and back.

Languages that write spaces are tokenised as Moses does: punctuation normalised, words parted from
punctuation, hyphens inside words split off as ` @-@ `, nothing escaped. Chinese is segmented by
jieba, Japanese by MeCab with the IPA dictionary, the one that sacreBLEU's `ja-mecab` counts with.

Detokenising restores the normalised line for ordinary text. It cannot where tokenising loses what
stood there: spaces around quotation marks (`"a"-b`) and slashes (`a/b`), an apostrophe inside a
German word (`Martin's`), and in Chinese and Japanese any space not between two Latin words;
in Hindi and Bengali the end of a sentence (`है।`) gains one.
"""

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Protocol

from sacremoses import MosesDetokenizer, MosesPunctNormalizer, MosesTokenizer
from sacremoses.corpus import NonbreakingPrefixes

from fastdecode.corpus.characters import without_controls
from fastdecode.errors import UserError

SEGMENTED = ("zh", "ja")
MOSES = frozenset(NonbreakingPrefixes().available_langs.values()) - {"yue", *SEGMENTED}

LOOSE_SPACE = re.compile("(?<![A-Za-z0-9]) | (?![A-Za-z0-9])")  # all but those between Latin words


class Tokeniser(Protocol):
    """Turns lines into tokens and tokens into lines."""

    def tokenise(self, line: str) -> str:
        """Return the tokens of a raw line, a single space between two."""

    def detokenise(self, line: str) -> str:
        """Return tokens as running text."""


def tokeniser(language: str, *, lowercase: bool = False, pretokenised: bool = False) -> Tokeniser:
    """Return the tokeniser of a language (ISO 639 code).

    `lowercase` makes it lowercase the tokens. `pretokenised` text is only split at white space, and
    detokenising leaves it alone.

    Raises UserError for a language without tokeniser, or whose segmenter is not installed.
    """
    if pretokenised:
        return _Spaces(lowercase)
    if language == "zh":
        return _Segmented(_jieba(), lowercase)
    if language == "ja":
        return _Segmented(_mecab(), lowercase)
    if language in MOSES:
        return _Moses(language, lowercase)
    raise UserError(
        f"no tokeniser for the language {language!r}: tokenise its text yourself and set "
        f"pretokenised: true (known: {', '.join(sorted({*MOSES, *SEGMENTED}))})"
    )


def _joined(tokens: Iterable[str], lowercase: bool) -> str:
    """Join tokens by single spaces; splitting again removes any other white space."""
    line = " ".join(" ".join(tokens).split())
    return line.lower() if lowercase else line


def _spaced(line: str) -> str:
    """Make one space of every run of white space, as in a corpus: no-break spaces among it.

    Punctuation is so normalised alike in what a model learns and in what it is given to translate.
    """
    return " ".join(without_controls(line).split())


class _Spaces:
    def __init__(self, lowercase: bool):
        self._lowercase = lowercase

    def tokenise(self, line: str) -> str:
        return _joined([without_controls(line)], self._lowercase)

    def detokenise(self, line: str) -> str:
        return line


class _Moses:
    def __init__(self, language: str, lowercase: bool):
        self._normaliser = MosesPunctNormalizer(language)
        self._tokeniser = MosesTokenizer(language)
        self._detokeniser = MosesDetokenizer(language)
        self._lowercase = lowercase

    def tokenise(self, line: str) -> str:
        line = self._normaliser.normalize(_spaced(line))
        tokens = self._tokeniser.tokenize(line, aggressive_dash_splits=True, escape=False)
        return _joined(tokens, self._lowercase)

    def detokenise(self, line: str) -> str:
        return str(self._detokeniser.detokenize(line.split(), unescape=False))


class _Segmented:
    def __init__(self, segment: Callable[[str], Iterable[str]], lowercase: bool):
        self._segment = segment
        self._lowercase = lowercase

    def tokenise(self, line: str) -> str:
        return _joined(self._segment(_spaced(line)), self._lowercase)

    def detokenise(self, line: str) -> str:
        return LOOSE_SPACE.sub("", line)


def _jieba() -> Callable[[str], Iterable[str]]:
    try:
        jieba = import_module("jieba")
    except ImportError:
        raise _not_installed("Chinese", "jieba", "zh") from None
    jieba.setLogLevel("WARNING")
    jieba.initialize()  # now, so that forked processes share the dictionary
    return lambda line: jieba.cut(line)


def _mecab() -> Callable[[str], Iterable[str]]:
    try:
        ipadic, mecab = import_module("ipadic"), import_module("MeCab")
    except ImportError:
        raise _not_installed("Japanese", "mecab-python3 and ipadic", "ja") from None
    tagger = mecab.Tagger(f"{ipadic.MECAB_ARGS} -Owakati")
    return lambda line: tagger.parse(line).split()


def _not_installed(language: str, packages: str, extra: str) -> UserError:
    return UserError(
        f"{language} text is segmented by {packages}, which cannot be imported: "
        f"run `.venv/bin/pip install -e '.[{extra}]'` in the project's folder"
    )
