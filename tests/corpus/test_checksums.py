"""The lock file of checksums, and that no file that breaks off gets into it."""

import bz2
import gzip
import hashlib
import lzma
import multiprocessing
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.corpus.checksums import read_lock, record
from fastdecode.corpus.download import fetch
from fastdecode.errors import UserError
from tests.corpus.served import BODY, KEY, SHA, Server, leftovers, row


def test_an_unknown_checksum_is_recorded_and_binds(
    server: Server, out: Path, lock: Path, tmp_path: Path
) -> None:
    file = row(server.url, None, None)
    fetch("b", file, out, None, lock)
    fetch("a", file, out, None, lock)
    assert lock.read_text() == f"{SHA}  a\n{SHA}  b\n"
    fetch("a", file, out, None, lock)

    server.body = BODY[::-1]
    out.unlink()
    with pytest.raises(UserError, match=f"{SHA}.*delete its line in {lock}"):
        fetch("a", file, out, None, lock)
    assert leftovers(out) == []
    (tmp_path / "a").write_bytes(b"other")
    with pytest.raises(UserError, match=SHA):
        fetch("a", file, out, tmp_path, lock)
    assert lock.read_text() == f"{SHA}  a\n{SHA}  b\n"


@pytest.mark.parametrize("ending", ["gz", "tgz", "bz2", "xz", "zip"])
def test_what_breaks_off_is_not_recorded(
    out: Path, lock: Path, tmp_path: Path, ending: str
) -> None:
    """Else its checksum would bind, and the whole file that takes its place be refused."""
    archive = {"tgz": "gztar", "zip": "zip"}.get(ending)
    key = f"b.{ending}"
    if archive:
        (tmp_path / "in").mkdir()
        (tmp_path / "in/b").write_bytes(BODY)
        whole = Path(shutil.make_archive(str(tmp_path / "made"), archive, tmp_path / "in"))
        body = whole.read_bytes()
    else:
        pack = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}[ending]
        body = pack(BODY)
    (tmp_path / key).write_bytes(body[:-10])
    with pytest.raises(UserError, match=f"{key}: .* is truncated or damaged .*: replace it there"):
        fetch(key, row(None, None, None), out, tmp_path, lock)
    assert not lock.exists() and not out.exists()
    (tmp_path / key).write_bytes(body)
    fetch(key, row(None, None, None), out, tmp_path, lock)
    assert read_lock(lock).keys() == {key} and out.read_bytes() == body


def test_what_breaks_off_at_its_source_is_removed(server: Server, out: Path, lock: Path) -> None:
    server.body = gzip.compress(BODY)[:-10]
    with pytest.raises(UserError, match="it was removed: run again; if it comes out the same, it"):
        fetch("b.gz", row(server.url, None, None), out, None, lock)
    assert leftovers(out) == [] and not lock.exists()


def test_the_mirror_also_records(out: Path, lock: Path, tmp_path: Path) -> None:
    held = tmp_path / KEY
    held.parent.mkdir()
    held.write_bytes(BODY)
    fetch(KEY, row(None, None, None), out, tmp_path, lock)
    assert read_lock(lock) == {KEY: SHA}


def test_a_spoilt_lock_file_names_the_line(lock: Path) -> None:
    lock.write_text(f"{SHA}  a\n{SHA[:9]}  b\n")
    with pytest.raises(UserError, match=r"downloads\.lock, line 2"):
        read_lock(lock)


def record_many(lock: Path, name: int) -> None:
    for number in range(15):
        record(lock, f"{name}/{number}", SHA)


def test_processes_record_at_the_same_time(lock: Path) -> None:
    runs = [
        multiprocessing.get_context("fork").Process(target=record_many, args=(lock, name))
        for name in range(4)
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert len(read_lock(lock)) == 4 * 15


names = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1)


@given(st.dictionaries(names, st.binary(max_size=3)))
def test_what_is_recorded_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, recorded: dict[str, bytes]
) -> None:
    lock = tmp_path_factory.mktemp("lock") / "lock"
    sums = {key: hashlib.sha256(value).hexdigest() for key, value in recorded.items()}
    for key, value in sums.items():
        assert record(lock, key, value) == value
        assert record(lock, key, "0" * 64) == value
    assert read_lock(lock) == sums
