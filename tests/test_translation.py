import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastdecode.errors import UserError
from fastdecode.files import read_lines, write_lines
from fastdecode.translation import Translation, read_translations, write_translations

HEADER = {"provenance": {"system": "base"}}
ONE = Translation("Der Hund.", ["der", "hu@@", "nd", "."], -0.1, 5, [2, 3], {"encode": 0.01})

texts = st.text(st.characters(exclude_categories=["Cs"]))
translations = st.builds(
    Translation,
    text=texts,
    tokens=st.lists(texts),
    score=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    passes=st.integers(min_value=0),
    accepted=st.lists(st.integers(min_value=0)),
)


@given(pairs=st.lists(st.tuples(texts, translations)), suffix=st.sampled_from([".jsonl", ".gz"]))
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read(
    tmp_path: Path, pairs: list[tuple[str, Translation]], suffix: str
) -> None:
    sources, written = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    path = tmp_path / f"x{suffix}"
    write_translations(path, HEADER, sources, written)
    assert read_translations(path) == ({**HEADER, "lines": len(pairs)}, sources, written)


def test_times_leave_no_trace_in_the_file(tmp_path: Path) -> None:
    slow = Translation(ONE.text, ONE.tokens, ONE.score, ONE.passes, ONE.accepted, {"encode": 9.0})
    for name, translation in (("a", ONE), ("b", slow)):
        write_translations(tmp_path / f"{name}.jsonl.gz", HEADER, ["The dog."], [translation])
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


def test_the_file_is_for_reading_too(tmp_path: Path) -> None:
    write_translations(tmp_path / "x.jsonl", HEADER, ["The dog."], [ONE])
    header, line = map(json.loads, read_lines(tmp_path / "x.jsonl"))
    assert header == {"provenance": {"system": "base"}, "lines": 1}
    assert line == {
        "index": 0,
        "source": "The dog.",
        "text": "Der Hund.",
        "tokens": ["der", "hu@@", "nd", "."],
        "score": -0.1,
        "passes": 5,
        "accepted": [2, 3],
    }


@pytest.mark.parametrize("count", [0, 2])
def test_each_source_needs_its_translation(tmp_path: Path, count: int) -> None:
    with pytest.raises(ValueError, match=r"shorter|longer"):
        write_translations(tmp_path / "x.jsonl", HEADER, ["The dog."], [ONE] * count)
    assert not (tmp_path / "x.jsonl").exists()


def test_a_score_that_is_no_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no finite numbers"):
        write_translations(
            tmp_path / "x.jsonl", HEADER, ["a"], [Translation("a", ["a"], float("nan"), 1)]
        )


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda lines: lines[:-1], "counts 3 translations but 2 follow"),
        (lambda lines: [*lines[:-1], lines[-1][:20]], "line 4"),
        (lambda lines: [lines[0], *lines[2:]], "line 2.*index 1 where 0 should be"),
        (lambda lines: [*lines[:2], lines[2].replace('"passes"', '"steps"'), lines[3]], "line 3"),
        (lambda lines: ["{}", *lines[1:]], "line 1.*lines"),
        (lambda lines: ["[1]", *lines[1:]], "line 1"),
        (lambda lines: [], "empty file"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, damage, message: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "x.jsonl"
    write_translations(path, HEADER, ["a", "b", "c"], [ONE] * 3)
    write_lines(path, damage(list(read_lines(path))))
    with pytest.raises(UserError, match=message):
        read_translations(path)
