"""Archives that are read as streams, member by member: nothing is unpacked to disk."""

import difflib
import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from fastdecode.errors import UserError
from fastdecode.files import decode_lines

DAMAGE = (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError)


def member_lines(archive: Path, member: str) -> Iterator[str]:
    """Yield the lines of one member of a .tgz, .tar.gz or .zip, split at newlines only."""
    with damage_reported(archive), _open_member(archive, member) as file:
        yield from decode_lines(file, f"{archive}: {member}")


@contextmanager
def damage_reported(archive: Path) -> Iterator[None]:
    """Turn what a missing or broken archive raises into a UserError."""
    if not archive.is_file():
        raise UserError(f"{archive}: no such file")
    try:
        yield
    except DAMAGE as error:
        raise UserError(
            f"{archive}: truncated or damaged archive ({error}): delete it and fetch it again"
        ) from None


@contextmanager
def _open_member(archive: Path, member: str) -> Iterator[IO[bytes]]:
    """Open one member of an archive; UserError with near names if it is not there."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as zipped:
            names = zipped.namelist()
            if member in names:
                with zipped.open(member) as file:
                    yield file
                return
    else:
        names = []
        with tarfile.open(archive, "r:gz") as packed:
            for entry in packed:
                names.append(entry.name.removeprefix("./"))
                if names[-1] == member and (content := packed.extractfile(entry)) is not None:
                    yield content
                    return
    near = difflib.get_close_matches(member, names, n=3) or names[:3]
    raise UserError(f"{archive}: no member {member}; there are {', '.join(near)}, …")
