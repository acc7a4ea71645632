"""Fetching one file that a corpus is made from: whole and verified, or not at all.

The mirror folder is searched before the URL, and the checksum is verified either way.
"""

import fcntl
import shutil
from pathlib import Path

from fastdecode.config.corpora import Download
from fastdecode.corpus.checksums import verify
from fastdecode.corpus.transfer import MEGABYTE, receive
from fastdecode.errors import UserError
from fastdecode.files import sha256, write_aside
from fastdecode.progress import say


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
    found = held(mirror, key, file) if mirror else None
    if found is not None:
        say(key, f"copying {found} ({found.stat().st_size / MEGABYTE:,.1f} MB)")
        with write_aside(out) as copy:
            shutil.copyfile(found, copy)
            verify(copy, key, file, lock, str(found), "replace it there, or take it away")
    elif file.url is not None:
        _fetch_url(key, file, file.url, out, lock, f"get it elsewhere and {_put_it(key, mirror)}")
    else:
        raise UserError(by_hand(key, file, mirror))


def by_hand(key: str, file: Download, mirror: Path | None) -> str:
    """Say where a file that has no URL comes from, and where it belongs."""
    return f"{key}: {file.by_hand}; {_put_it(key, mirror)}"


def held(mirror: Path, key: str, file: Download) -> Path | None:
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
        receive(key, file.bytes, url, received, elsewhere)
        try:
            again = "it was removed: run again; if it comes out the same, it is the source's fault"
            verify(part, key, file, lock, url, again)
        except UserError:
            part.unlink()
            raise
        part.replace(out)
