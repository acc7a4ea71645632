from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.corpus.links import Link
from fastdecode.errors import UserError
from fastdecode.files import write_lines
from fastdecode.measure.alignment import alignment_error, alignment_errors, project_to_words

LINKS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), unique=True)


def test_links_between_pieces_become_links_between_words() -> None:
    source, target = "the tow@@ er fell", "der Turm fi@@ el um"
    links = [(0, 0), (1, 1), (2, 1), (3, 2), (3, 3), (3, 4)]
    assert project_to_words(links, source, target) == [(0, 0), (1, 1), (2, 2), (2, 3)]


def test_alignment_error_by_hand() -> None:
    predicted = [[(0, 0), (1, 1), (1, 2)], [(0, 0)]]
    gold = [[(0, 0), (1, 1)], [(0, 1), (1, 0)]]
    error = alignment_error(predicted, gold)  # 4 found, 4 sure, 2 right
    assert error == {"precision": 0.5, "recall": 0.5, "aer": 0.5}


@given(gold=st.lists(LINKS, min_size=1).filter(any))
def test_no_error_against_itself_and_all_of_it_against_nothing(gold: list[list[Link]]) -> None:
    assert alignment_error(gold, gold) == {"precision": 1, "recall": 1, "aer": 0}
    assert alignment_error([[]] * len(gold), gold) == {"precision": 0, "recall": 0, "aer": 1}


def test_incomparable_alignments() -> None:
    with pytest.raises(UserError, match="number of lines"):
        alignment_error([[(0, 0)]], [[(0, 0)], []])
    with pytest.raises(UserError, match="no links"):
        alignment_error([[(0, 0)]], [[]])


def test_errors_of_alignments_of_the_pairs_that_were_kept(tmp_path: Path) -> None:
    files = {
        "source": ["a@@ b c", "d"],
        "target": ["x y@@ z", "w"],
        "kept": ["0", "2"],
        "right.gz": ["0-0 1-0 2-1 2-2", "0-0"],
        "half.gz": ["0-0", "0-0"],
    }
    for name, lines in files.items():
        write_lines(tmp_path / name, lines)
    found = alignment_errors(
        [tmp_path / "right.gz", tmp_path / "half.gz"],
        *(tmp_path / name for name in ("source", "target", "kept")),
        [[(0, 0), (1, 1)], [(5, 5)], [(0, 0)]],
    )
    assert found == {
        "right": {"precision": 1, "recall": 1, "aer": 0},
        "half": {"precision": 1, "recall": 2 / 3, "aer": 1 - 4 / 5},
    }
