"""What is fetched from a URL: retries, parts that outlive a killed run, answers that are none."""

import hashlib
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fastdecode.corpus import transfer
from fastdecode.corpus.download import fetch
from fastdecode.errors import UserError
from tests.corpus.served import BODY, KEY, Server, leftovers, part_of, row


@pytest.mark.parametrize("known", [True, False])
def test_cut_connections_are_continued(
    known: bool, server: Server, waits: list[float], out: Path, lock: Path
) -> None:
    server.faults = ["cuts", "cuts"]
    file = row(server.url) if known else row(server.url, None, None)
    fetch(KEY, file, out, None, lock)
    first = len(BODY) // 3
    second = first + (len(BODY) - first) // 3
    assert server.ranges == [None, f"bytes={first}-", f"bytes={second}-"]
    assert out.read_bytes() == BODY
    assert waits == [1, 2]


def test_a_body_without_length_is_held_against_the_known_size(
    server: Server, waits: list[float], out: Path, lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.body = BODY[:1000]
    server.faults = ["no length"]
    monkeypatch.setattr(transfer, "TRIES", 1)
    with pytest.raises(UserError, match="broke off after 1,000 of 307,200 bytes"):
        fetch(KEY, row(server.url), out, None, lock)
    assert not out.exists()
    server.body = BODY
    fetch(KEY, row(server.url), out, None, lock)
    assert server.ranges == [None, "bytes=1000-"]
    assert out.read_bytes() == BODY


def test_a_killed_run_is_continued(server: Server, out: Path, lock: Path) -> None:
    server.body = BODY * 10  # more than the megabyte that is written at a time
    server.faults = ["stalls"]
    sha = hashlib.sha256(server.body).hexdigest()
    file = row(server.url, sha, len(server.body))
    code = (
        "from pathlib import Path\n"
        "from fastdecode.config.corpora import Download\n"
        "from fastdecode.corpus.download import fetch\n"
        f"fetch({KEY!r}, Download(**{file.model_dump()!r}), Path({str(out)!r}), None, "
        f"Path({str(lock)!r}))\n"
    )
    run = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 20
    while not (part_of(out).exists() and part_of(out).stat().st_size):
        assert time.monotonic() < deadline and run.poll() is None
        time.sleep(0.02)
    run.kill()
    run.wait()
    have = part_of(out).stat().st_size
    assert 0 < have < len(server.body) and not out.exists()

    fetch(KEY, file, out, None, lock)
    assert server.ranges == [None, f"bytes={have}-"]
    assert out.read_bytes() == server.body
    assert leftovers(out) == [out.name]


def test_a_part_that_was_whole_needs_no_request(server: Server, out: Path, lock: Path) -> None:
    out.parent.mkdir(parents=True)
    part_of(out).write_bytes(BODY)
    fetch(KEY, row(server.url), out, None, lock)
    assert server.ranges == []
    assert out.read_bytes() == BODY


def test_a_part_longer_than_the_file_is_thrown_away(server: Server, out: Path, lock: Path) -> None:
    out.parent.mkdir(parents=True)
    part_of(out).write_bytes(BODY + b"more")
    fetch(KEY, row(server.url), out, None, lock)
    assert server.ranges == [None]
    assert out.read_bytes() == BODY


def test_without_a_checksum_an_earlier_part_is_not_trusted(
    server: Server, out: Path, lock: Path
) -> None:
    out.parent.mkdir(parents=True)
    part_of(out).write_bytes(b"of another file")
    fetch(KEY, row(server.url, None, None), out, None, lock)
    assert server.ranges == [None]
    assert out.read_bytes() == BODY


def test_a_server_without_ranges_sends_the_file_again(
    server: Server, waits: list[float], out: Path, lock: Path
) -> None:
    server.faults = ["cuts", "ignores range"]
    fetch(KEY, row(server.url), out, None, lock)
    assert server.ranges == [None, f"bytes={len(BODY) // 3}-"]
    assert out.read_bytes() == BODY


def test_an_unsatisfiable_range_starts_over(
    server: Server, waits: list[float], out: Path, lock: Path
) -> None:
    out.parent.mkdir(parents=True)
    part_of(out).write_bytes(BODY[:500])
    server.faults = [416]
    fetch(KEY, row(server.url), out, None, lock)
    assert server.ranges == ["bytes=500-", None]
    assert out.read_bytes() == BODY


@pytest.mark.parametrize("code", [401, 404, 410])
def test_an_answer_that_will_not_change_is_not_asked_twice(
    code: int, server: Server, waits: list[float], out: Path, lock: Path, tmp_path: Path
) -> None:
    server.faults = [code]
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    with pytest.raises(UserError, match=f"HTTP {code}.*put it at {mirror / KEY}"):
        fetch(KEY, row(server.url), out, mirror, lock)
    assert len(server.ranges) == 1 and waits == [] and not out.exists()


def test_a_passing_fault_is_tried_again_with_growing_waits(
    server: Server, waits: list[float], out: Path, lock: Path
) -> None:
    server.faults = [503, 429, 500, 502]
    fetch(KEY, row(server.url), out, None, lock)
    assert waits == [1, 2, 4, 8]
    assert out.read_bytes() == BODY


def test_a_web_page_is_no_corpus_and_spoils_no_part(server: Server, out: Path, lock: Path) -> None:
    out.parent.mkdir(parents=True)
    part_of(out).write_bytes(BODY[:500])
    server.faults = ["web page"]
    with pytest.raises(UserError, match="a web page, not the file"):
        fetch(KEY, row(server.url), out, None, lock)
    assert part_of(out).read_bytes() == BODY[:500]
    with pytest.raises(UserError, match="a web page, not the file"):
        server.faults = ["web page"]
        fetch(KEY, row(server.url, None, None), out, None, lock)
    assert not lock.exists() and not out.exists()


def test_without_a_network_one_line_points_to_the_mirror(
    server: Server, waits: list[float], out: Path, lock: Path
) -> None:
    url = server.url
    server.shutdown()
    server.server_close()
    with pytest.raises(UserError, match=r"5 tries \(.*refused.*mirror: in config") as raised:
        fetch(KEY, row(url), out, None, lock)
    assert "\n" not in str(raised.value)
    assert waits == [1, 2, 4, 8]
