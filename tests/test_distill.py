from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.distill import join_shards, shard_of
from fastdecode.errors import UserError
from fastdecode.files import read_json, read_lines, sha256, write_lines


@given(size=st.integers(0, 60), shards=st.integers(1, 70))
def test_shards_are_the_whole_in_order_and_nearly_equal(size: int, shards: int) -> None:
    lines = [str(number) for number in range(size)]
    parts = [shard_of(lines, shard, shards) for shard in range(shards)]
    assert [line for part in parts for line in part] == lines
    sizes = {len(part) for part in parts}
    assert max(sizes) - min(sizes) <= 1


def put(folder: Path, lines: int, *counts: int) -> tuple[list[Path], Path]:
    """Write a source of so many lines and shards of these counts."""
    source = folder / "source.gz"
    write_lines(source, (f"s{number}" for number in range(lines)))
    shards = [folder / f"{number}of{len(counts)}.gz" for number in range(len(counts))]
    for shard, count in zip(shards, counts, strict=True):
        write_lines(shard, (f"{shard.name} {number}" for number in range(count)))
    return shards, source


def test_joined_shards_are_one_text_with_a_record(tmp_path: Path) -> None:
    shards, source = put(tmp_path, 5, 1, 2, 2)
    text, record = tmp_path / "out" / "train.gz", tmp_path / "out" / "record.json"
    join_shards(shards, source, text, record, {"system": "teacher"})
    assert list(read_lines(text)) == [
        "0of3.gz 0",
        "1of3.gz 0",
        "1of3.gz 1",
        "2of3.gz 0",
        "2of3.gz 1",
    ]
    assert read_json(record) == {
        "provenance": {"system": "teacher"},
        "lines": 5,
        "shards": {shard.name: sha256(shard) for shard in shards},
    }


@pytest.mark.parametrize("counts", [(1, 2, 1), (1, 2, 3), (5,), (0, 0, 0), (2, 2, 1), (1, 3, 1)])
def test_wrong_counts_are_refused_and_leave_nothing(tmp_path: Path, counts: tuple[int]) -> None:
    shards, source = put(tmp_path, 5 + (counts == (5,)), *counts)
    with pytest.raises(UserError) as error:
        join_shards(shards, source, tmp_path / "out/train.gz", tmp_path / "out/record.json", {})
    message = str(error.value)
    assert "\n" not in message
    assert f"{source} has {5 + (counts == (5,))} lines" in message
    assert all(f"{shard}: {count}" in message for shard, count in zip(shards, counts, strict=True))
    assert not (tmp_path / "out").exists()


def test_a_damaged_shard_is_named(tmp_path: Path) -> None:
    shards, source = put(tmp_path, 4, 2, 2)
    shards[1].write_bytes(shards[1].read_bytes()[:-6])
    with pytest.raises(UserError, match=f"{shards[1]}: truncated"):
        join_shards(shards, source, tmp_path / "out/train.gz", tmp_path / "out/record.json", {})
    assert not (tmp_path / "out").exists()


def test_empty_text_has_empty_shards(tmp_path: Path) -> None:
    shards, source = put(tmp_path, 1, 0, 1)  # fewer lines than shards
    join_shards(shards, source, tmp_path / "train.gz", tmp_path / "record.json", {})
    assert list(read_lines(tmp_path / "train.gz")) == ["1of2.gz 0"]
