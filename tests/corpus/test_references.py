from pathlib import Path

import pytest

from fastdecode.corpus.references import several_references
from fastdecode.errors import UserError
from fastdecode.files import write_lines

EXTRA = ["S-1\tyes", "T-1\t\u00a0ja ", "R1-1\tjawohl", "R2-1\tdoch"]
EXTRA += ["S-2\tno", "T-2\tnein", "R1-2\tnee"]


def found(folder: Path, extra: list[str], pairs: list[tuple[str, str]]) -> list[list[str]]:
    names = [folder / name for name in ("extra.gz", "test.en.gz", "test.de.gz")]
    sources, targets = zip(*pairs, strict=True)
    for path, lines in zip(names, (extra, sources, targets), strict=True):
        write_lines(path, lines)
    return several_references(*names)


def test_lines_get_the_translations_of_their_pair(tmp_path: Path) -> None:
    pairs = [("no", "nein"), ("maybe", "vielleicht"), ("yes", "ja"), ("yes", "nein")]
    assert found(tmp_path, EXTRA, pairs) == [["nee"], [], ["jawohl", "doch"], []]


def test_letters_and_their_accents_are_composed_as_a_corpus_is(tmp_path: Path) -> None:
    extra = ["S-1\tfor", "T-1\tfu\u0308r", "R1-1\tdafu\u0308r"]
    assert found(tmp_path, extra, [("for", "f\u00fcr")]) == [["daf\u00fcr"]]


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ([*EXTRA, "R3-1 jo"], "line 8: begins with no S-1, T-1 or R1-1 and a tab"),
        ([*EXTRA, "X-1\tjo"], "line 8: begins with"),
        (EXTRA[:5], "of S-2, T-2 and R1-2 one is missing"),
        (EXTRA[:2], "of S-1, T-1 and R1-1 one is missing"),
        ([line.replace("ja", "je") for line in EXTRA[:4]], "of no line of .*test.en.gz: it is of"),
    ],
)
def test_what_says_nothing_of_the_split_is_refused(
    tmp_path: Path, extra: list[str], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        found(tmp_path, extra, [("yes", "ja")])
