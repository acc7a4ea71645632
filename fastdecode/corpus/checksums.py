"""Whether a file that was fetched is the one that is known, and the lock file of checksums.

A checksum that is not known beforehand is written into a lock file on the first fetch, in the
format of `sha256sum` (`<sha256>  <key>` a line), and binds every later one.
"""

import bz2
import fcntl
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastdecode.config.corpora import Download
from fastdecode.errors import UserError
from fastdecode.files import read_lines, sha256, write_lines

PIECE = 1_000_000  # bytes that are unpacked at once
COMPRESSED: dict[str, Callable[[Path], Any]] = {  # what opens them, by how names end
    ".gz": gzip.open,
    ".tgz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}


def verify(path: Path, key: str, file: Download, lock: Path, origin: str, advice: str) -> None:
    """Raise UserError unless `path` has the known size and checksum; record an unknown checksum."""
    size, checksum = path.stat().st_size, sha256(path)
    if file.bytes is not None and size != file.bytes:
        fault = f"{size:,} bytes (SHA-256 {checksum}), expected {file.bytes:,}"
        fault += f" (SHA-256 {file.sha256})" if file.sha256 else ""
    else:
        if file.sha256 is None and key not in read_lock(lock):
            _check_whole(path, key, origin, advice)  # before its checksum binds all that follow
        expected = file.sha256 or record(lock, key, checksum)
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
                while file.read(PIECE):
                    pass
    except (*faults, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the disk's, not the file's
            raise
        raise UserError(
            f"{key}: the file from {origin} is truncated or damaged ({error}): {advice}"
        ) from None


def record(lock: Path, key: str, checksum: str) -> str:
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
