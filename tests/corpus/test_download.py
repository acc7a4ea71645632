"""Where a file comes from, the mirror or the URL, and that it is the one that is known."""

import fcntl
import hashlib
from pathlib import Path

import pytest

from fastdecode.corpus.download import fetch
from fastdecode.errors import UserError
from tests.corpus.served import BODY, KEY, SHA, Server, leftovers, part_of, row


def test_a_whole_file_arrives_in_one_request(server: Server, out: Path, lock: Path) -> None:
    fetch(KEY, row(server.url), out, None, lock)
    assert out.read_bytes() == BODY
    assert server.ranges == [None]
    assert leftovers(out) == [out.name]
    assert not lock.exists()  # the table knows the checksum


def test_a_wrong_checksum_removes_the_file(server: Server, out: Path, lock: Path) -> None:
    server.body = BODY[:-1] + b"?"
    wrong = hashlib.sha256(server.body).hexdigest()
    with pytest.raises(UserError) as raised:
        fetch(KEY, row(server.url), out, None, lock)
    message = str(raised.value)
    for word in (KEY, server.url, wrong, SHA, "run again"):
        assert word in message
    assert leftovers(out) == []
    assert not lock.exists()
    server.body = BODY
    fetch(KEY, row(server.url), out, None, lock)
    assert server.ranges == [None, None]


def test_a_wrong_size_names_both_sizes(server: Server, out: Path, lock: Path) -> None:
    with pytest.raises(UserError, match=r"307,200 bytes .*expected 5"):
        fetch(KEY, row(server.url, None, 5), out, None, lock)
    assert leftovers(out) == []
    assert not lock.exists()  # nothing was recorded


def test_two_fetches_of_one_file_do_not_mix(server: Server, out: Path, lock: Path) -> None:
    out.parent.mkdir(parents=True)
    with part_of(out).open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(UserError, match="another process"):
            fetch(KEY, row(server.url), out, None, lock)
    assert server.ranges == []


@pytest.mark.parametrize("place", [KEY, "text.bin"])
def test_the_mirror_comes_before_the_url(
    place: str, server: Server, out: Path, lock: Path, tmp_path: Path
) -> None:
    held = tmp_path / "mirror" / place
    held.parent.mkdir(parents=True)
    held.write_bytes(BODY)
    held.chmod(0o444)
    fetch(KEY, row(server.url), out, tmp_path / "mirror", lock)
    assert server.ranges == []
    assert out.read_bytes() == BODY
    assert not out.is_symlink() and out.stat().st_ino != held.stat().st_ino
    assert leftovers(out) == [out.name]


def test_a_mirror_without_the_file_leaves_it_to_the_url(
    server: Server, out: Path, lock: Path, tmp_path: Path
) -> None:
    (tmp_path / "mirror").mkdir()
    fetch(KEY, row(server.url), out, tmp_path / "mirror", lock)
    assert len(server.ranges) == 1 and out.read_bytes() == BODY


def test_a_bare_name_may_be_another_corpus_s_file(
    server: Server, out: Path, lock: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "mirror/text.bin"
    other.parent.mkdir()
    other.write_bytes(BODY[::-1])
    fetch(KEY, row(server.url), out, tmp_path / "mirror", lock)
    assert out.read_bytes() == BODY
    assert f"{other} has another SHA-256" in capsys.readouterr().err


def test_a_bare_name_of_no_known_checksum_is_left_alone(
    server: Server, out: Path, lock: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / "text.bin").write_bytes(BODY[::-1])
    fetch(KEY, row(server.url, sha256=None), out, mirror, lock)
    assert out.read_bytes() == BODY
    assert f"put it at {mirror / KEY} if it is this one" in capsys.readouterr().err


def test_a_bad_mirror_file_is_refused_and_left_alone(
    server: Server, out: Path, lock: Path, tmp_path: Path
) -> None:
    held = tmp_path / "mirror" / KEY
    held.parent.mkdir(parents=True)
    held.write_bytes(BODY[::-1])
    with pytest.raises(UserError) as raised:
        fetch(KEY, row(server.url), out, tmp_path / "mirror", lock)
    for word in (str(held), SHA, hashlib.sha256(BODY[::-1]).hexdigest(), "replace it"):
        assert word in str(raised.value)
    assert held.read_bytes() == BODY[::-1]
    assert server.ranges == [] and leftovers(out) == []


def test_a_mirror_that_is_no_folder_is_an_error(out: Path, lock: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"mirror: .*nowhere is not a folder"):
        fetch(KEY, row("http://127.0.0.1:9/"), out, tmp_path / "nowhere", lock)


def test_a_file_without_url_says_what_to_put_where(out: Path, lock: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=rf"ask the owner; put it at {tmp_path / KEY}$"):
        fetch(KEY, row(None), out, tmp_path, lock)
    with pytest.raises(UserError, match=rf"ask the owner; name a folder as mirror: .* as {KEY}$"):
        fetch(KEY, row(None), out, None, lock)
