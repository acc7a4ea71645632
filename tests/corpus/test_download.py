import bz2
import fcntl
import gzip
import hashlib
import lzma
import multiprocessing
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.config.corpora import Download
from fastdecode.corpus import download
from fastdecode.corpus.download import fetch, read_lock
from fastdecode.errors import UserError

KEY = "wmt/text.bin"
BODY = bytes(range(256)) * 1200  # 307,200 bytes
SHA = hashlib.sha256(BODY).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves BODY; each request takes the next of `faults`, after the last all goes well."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.body = BODY
        self.faults: list[str | int] = []
        self.ranges: list[str | None] = []
        self.release = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/text.bin"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server = self.server
        fault = server.faults.pop(0) if server.faults else "none"
        wanted = self.headers["Range"]
        server.ranges.append(wanted)
        if isinstance(fault, int):
            return self.send_error(fault)
        body = server.body
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        if wanted and fault != "ignores range":
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            body = body[start:]
        else:
            self.send_response(200)
        kind = "text/html; charset=utf-8" if fault == "web page" else "application/x-gzip"
        self.send_header("Content-Type", kind)
        if fault != "no length":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if fault == "cuts":
            body = body[: len(body) // 3]
        if fault == "stalls":
            self.wfile.write(body[: len(body) * 2 // 3])
            server.release.wait(20)
            return None
        self.wfile.write(body)
        return None

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    with Server() as running:
        threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True).start()
        yield running
        running.release.set()
        running.shutdown()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr(download.time, "sleep", waited.append)
    return waited


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "downloads" / KEY


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "downloads.lock"


def row(url: str | None, sha256: str | None = SHA, size: int | None = len(BODY)) -> Download:
    return Download(url=url, bytes=size, sha256=sha256, by_hand="ask the owner")


def part_of(out: Path) -> Path:
    return out.with_name(f".{out.name}.part")


def leftovers(out: Path) -> list[str]:
    return [f.name for f in out.parent.iterdir()] if out.parent.exists() else []


# URL


def test_a_whole_file_arrives_in_one_request(server: Server, out: Path, lock: Path) -> None:
    fetch(KEY, row(server.url), out, None, lock)
    assert out.read_bytes() == BODY
    assert server.ranges == [None]
    assert leftovers(out) == [out.name]
    assert not lock.exists()  # the table knows the checksum


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
    monkeypatch.setattr(download, "TRIES", 1)
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


def test_two_fetches_of_one_file_do_not_mix(server: Server, out: Path, lock: Path) -> None:
    out.parent.mkdir(parents=True)
    with part_of(out).open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(UserError, match="another process"):
            fetch(KEY, row(server.url), out, None, lock)
    assert server.ranges == []


# Mirror


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


# Lock file


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
        download._recorded(lock, f"{name}/{number}", SHA)


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
        assert download._recorded(lock, key, value) == value
        assert download._recorded(lock, key, "0" * 64) == value
    assert read_lock(lock) == sums
