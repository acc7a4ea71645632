"""Fetching one file that a corpus is made from: whole and verified, or not at all.

The mirror folder is searched before the URL, and the checksum is verified either way. A checksum
that is not known beforehand is written into a lock file on the first fetch, in the format of
`sha256sum` (`<sha256>  <key>` a line), and binds every later one.
"""

import bz2
import fcntl
import gzip
import http.client
import lzma
import math
import os
import shutil
import ssl
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from fastdecode.config.corpora import Download
from fastdecode.errors import UserError
from fastdecode.files import read_lines, sha256, write_aside, write_lines
from fastdecode.progress import say, track

TRIES = 5
FIRST_WAIT = 1.0  # seconds before the second try; doubled before each further one
TIMEOUT = 60.0  # seconds without a byte
MEGABYTE = 1_000_000
PASSING = (408, 416, 429)  # of the 4xx answers, those that another try may mend

COMPRESSED: dict[str, Callable[[Path], Any]] = {  # what opens them, by how names end
    ".gz": gzip.open,
    ".tgz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}
NETWORK_ERRORS = (
    urllib.error.URLError,
    http.client.HTTPException,
    ConnectionError,
    TimeoutError,
    ssl.SSLError,
)


def fetch(key: str, file: Download, out: Path, mirror: Path | None, lock: Path) -> None:
    """Bring the download `key` to `out`, from `mirror`/`key`, `mirror`/<file name>, or its URL.

    A mirror's file is copied, not linked: the mirror may go away or be read-only, and Snakemake
    touches and deletes its outputs. A bare name may be another corpus's: such a file counts only if
    it has the known SHA-256. What a broken transfer leaves beside `out` is continued by the
    next one if the file's SHA-256 is known, which tells in the end whether the parts fit.

    Raises UserError if the file cannot be had, or is not the one that is known.
    """
    if mirror is not None and not mirror.is_dir():
        raise UserError(f"mirror: {mirror} is not a folder: correct it, or set mirror: null")
    found = _held(mirror, key, file) if mirror else None
    if found is not None:
        say(key, f"copying {found} ({found.stat().st_size / MEGABYTE:,.1f} MB)")
        with write_aside(out) as copy:
            shutil.copyfile(found, copy)
            _verify(copy, key, file, lock, str(found), "replace it there, or take it away")
    elif file.url is not None:
        _fetch_url(key, file, file.url, out, lock, f"get it elsewhere and {_put_it(key, mirror)}")
    else:
        raise UserError(f"{key}: {file.by_hand}; {_put_it(key, mirror)}")


def _held(mirror: Path, key: str, file: Download) -> Path | None:
    """Return where the mirror has the file of a download, or None."""
    place, bare = mirror / key, mirror / Path(key).name
    if place.is_file() or not bare.is_file():
        return place if place.is_file() else None
    if file.sha256 and sha256(bare) == file.sha256:
        return bare
    why = "has another SHA-256: taken for another corpus's file"
    if file.sha256 is None:
        why = f"may be another corpus's: {_put_it(key, mirror)} if it is this one"
    say(key, f"{bare} {why}")
    return None


def _put_it(key: str, mirror: Path | None) -> str:
    """Say where a file belongs that the user has to bring."""
    if mirror:
        return f"put it at {mirror / key}"
    return f"name a folder as mirror: in config/config.yaml and put it there as {key}"


def _fetch_url(key: str, file: Download, url: str, out: Path, lock: Path, elsewhere: str) -> None:
    """Fetch a URL to `out` by way of a part file that outlives a killed run."""
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_name(f".{out.name}.part")
    with part.open("ab") as received:
        try:
            fcntl.flock(received, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"{key}: another process is fetching it to {out}: wait for it, or end it"
            ) from None
        if file.sha256 is None:  # nothing could tell whether an earlier run's part belongs to it
            received.truncate(0)
        _receive_with_retries(key, file.bytes, url, received, elsewhere)
        try:
            again = "it was removed: run again; if it comes out the same, it is the source's fault"
            _verify(part, key, file, lock, url, again)
        except UserError:
            part.unlink()
            raise
        part.replace(out)


def _receive_with_retries(
    key: str, size: int | None, url: str, received: IO[bytes], elsewhere: str
) -> None:
    """Append to `received` until the file is whole, in up to TRIES tries.

    Raises UserError after the last of them, or at once on an answer that will not change.
    """
    wait = FIRST_WAIT
    for attempt in range(1, TRIES + 1):
        try:
            _receive(key, size, url, received, elsewhere)
            return
        except urllib.error.HTTPError as error:
            reason = f"HTTP {error.code} {error.reason}"
            if error.code == 416:  # what we have is no beginning of that file
                received.truncate(0)
            if error.code < 500 and error.code not in PASSING:
                raise UserError(f"{key}: {url} answers {reason}: {elsewhere}") from None
        except NETWORK_ERRORS as error:
            reason = str(getattr(error, "reason", error)) or type(error).__name__
        say(key, f"try {attempt} of {TRIES} failed: {reason}")
        if attempt < TRIES:
            time.sleep(wait)
            wait *= 2
    raise UserError(
        f"{key}: {url} could not be fetched in {TRIES} tries ({reason}): run again when it can be "
        f"reached, or {elsewhere}"
    )


def _receive(key: str, size: int | None, url: str, received: IO[bytes], elsewhere: str) -> None:
    """Append what is missing to `received`; raise one of NETWORK_ERRORS if it breaks off."""
    have = received.seek(0, os.SEEK_END)
    if have == size:
        return
    if size is not None and have > size:
        have = received.truncate(0)
    headers = {"User-Agent": "fastdecode", **({"Range": f"bytes={have}-"} if have else {})}
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        if response.headers.get_content_type() == "text/html":
            raise UserError(f"{key}: {url} answers with a web page, not the file: {elsewhere}")
        if have and response.status != http.HTTPStatus.PARTIAL_CONTENT:
            say(key, "the server sends the whole file again")
            have = received.truncate(0)
        elif have:
            say(key, f"going on after {have / MEGABYTE:,.1f} MB")
        length = response.headers["Content-Length"]
        end = have + int(length) if length else size
        megabytes = math.ceil((end - have) / MEGABYTE) if end else None
        chunks = iter(lambda: response.read(MEGABYTE), b"")
        for chunk in track(chunks, key, "MB", total=megabytes):
            have += received.write(chunk)
        received.flush()
    if end is not None and have < end:
        raise ConnectionError(f"the connection broke off after {have:,} of {end:,} bytes")


def _verify(path: Path, key: str, file: Download, lock: Path, origin: str, advice: str) -> None:
    """Raise UserError unless `path` has the known size and checksum; record an unknown checksum."""
    size, checksum = path.stat().st_size, sha256(path)
    if file.bytes is not None and size != file.bytes:
        fault = f"{size:,} bytes (SHA-256 {checksum}), expected {file.bytes:,}"
        fault += f" (SHA-256 {file.sha256})" if file.sha256 else ""
    else:
        if file.sha256 is None and key not in read_lock(lock):
            _check_whole(path, key, origin, advice)  # before its checksum binds all that follow
        expected = file.sha256 or _recorded(lock, key, checksum)
        if checksum == expected:
            return
        fault = f"SHA-256 {checksum}, expected {expected}"
        if file.sha256 is None:
            fault += f" (recorded by the first fetch; delete its line in {lock} to forget that)"
    raise UserError(f"{key}: the file from {origin} has {fault}: {advice}")


def _check_whole(path: Path, key: str, origin: str, advice: str) -> None:
    """Raise UserError if a compressed file or an archive breaks off; `key` says what it is."""
    name, faults = key.lower(), (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)
    unpack = next((one for ending, one in COMPRESSED.items() if name.endswith(ending)), None)
    try:
        if name.endswith(".zip") and not zipfile.is_zipfile(path):
            raise EOFError("its end is missing")
        if unpack:
            with unpack(path) as file:
                while file.read(MEGABYTE):
                    pass
    except (*faults, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the disk's, not the file's
            raise
        raise UserError(
            f"{key}: the file from {origin} is truncated or damaged ({error}): {advice}"
        ) from None


def _recorded(lock: Path, key: str, checksum: str) -> str:
    """Return the checksum recorded for `key`; record this one if there is none yet."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    # The lock file itself is replaced as a whole, so another file must stand for it meanwhile.
    with lock.with_name(f".{lock.name}.guard").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        known = read_lock(lock)
        if key not in known:
            known[key] = checksum
            write_lines(lock, (f"{value}  {name}" for name, value in sorted(known.items())))
        return known[key]


def read_lock(lock: Path) -> dict[str, str]:
    """Return key → SHA-256 of a lock file; of one that does not exist yet, nothing.

    Raises UserError with the line that is not `<sha256>  <key>`.
    """
    known = {}
    for number, line in enumerate(read_lines(lock) if lock.exists() else (), 1):
        checksum, _, key = line.partition("  ")
        if len(checksum) != 64 or not key:
            raise UserError(f"{lock}, line {number}: not `<sha256>  <key>`: delete the line")
        known[key] = checksum
    return known
