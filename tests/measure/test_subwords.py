from pathlib import Path

import pytest

from fastdecode.corpus.bpe import learn
from fastdecode.errors import UserError
from fastdecode.files import write_lines
from fastdecode.measure.subwords import lengths_of, measure_subwords


@pytest.fixture
def codes(tmp_path: Path) -> Path:
    write_lines(tmp_path / "text.gz", ["the lower tower"] * 2)
    learn([tmp_path / "text.gz"], 99, tmp_path / "codes")
    return tmp_path / "codes"


def test_what_a_vocabulary_comes_to(codes: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "source.gz", tmp_path / "target"
    write_lines(source, ["the lower tower", "lowly"])  # l@@ ow@@ l@@ y, or the like
    write_lines(target, ["the", "tower the"])
    dictionary = tmp_path / "dict"
    write_lines(dictionary, ["the 2", "tower 2", "madeupword0000 0"])
    found = measure_subwords([source, target], [codes, codes], [dictionary, dictionary])
    merges = len(codes.read_text().splitlines()) - 1
    assert merges < 99  # as many as there are
    assert found["merges"] == {"source": merges, "target": merges}
    assert found["vocabulary"] == {"source": 2, "target": 2}
    assert (found["lines"], found["mean_length"]["target"]) == (2, 1.5)
    assert found["mean_length"]["source"] == sum(lengths_of(source, codes)) / 2 > 3


def test_an_empty_text_is_refused(codes: Path, tmp_path: Path) -> None:
    write_lines(tmp_path / "empty", [])
    with pytest.raises(UserError, match="empty: no lines to count BPE tokens of"):
        lengths_of(tmp_path / "empty", codes)
