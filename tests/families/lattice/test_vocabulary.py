from pathlib import Path

import pytest

from fastdecode.errors import UserError
from fastdecode.families.lattice.vocabulary import SPECIAL, Numbers, checksum, read_dictionary
from fastdecode.files import write_lines


def test_numbers_are_fairseqs(tmp_path: Path) -> None:
    from fairseq.data import Dictionary

    write_lines(tmp_path / "dict", ["the 9", "a@@ 3", "ü 3", "madeupword0000 0"])
    theirs = Dictionary.load(str(tmp_path / "dict"))
    ours = read_dictionary(tmp_path / "dict")
    assert ours == theirs.symbols
    numbers = Numbers(ours)
    assert [numbers[w] for w in (*ours, "?")] == [theirs.index(w) for w in (*ours, "?")]


@pytest.mark.parametrize("line", ["the", "the nine", ""])
def test_another_file_is_refused(tmp_path: Path, line: str) -> None:
    write_lines(tmp_path / "dict", ["a 1", line])
    with pytest.raises(UserError, match="dict, line 2: not a word and its count"):
        read_dictionary(tmp_path / "dict")


def test_the_checksum_tells_orders_apart() -> None:
    words = [*SPECIAL, "a", "b"]
    assert checksum(words) == checksum(list(words))
    assert len({checksum(words), checksum(words[::-1]), checksum([*words, "c"])}) == 3
