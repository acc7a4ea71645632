"""The one exception whose message is meant for the user, and how a program ends with it."""

import errno
import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTED = 130  # as a shell reports a program that Ctrl-C ended
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
NO_MEMORY = (  # as PyTorch, CUDA's libraries and C++ say it
    "out of memory",
    "can't allocate memory",
    "cannot allocate memory",
    "bad_alloc",
    "alloc_failed",
)
# A place that is not ours, is read-only, or has a file where a folder should be.
BARRED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.EISDIR)


class UserError(Exception):
    """Something the user can mend: one line that says what is wrong, where, and what to do."""


@contextmanager
def clear_errors() -> Iterator[None]:
    """End the process with one line `error: …` and status 1 on a UserError.

    So does a full disk, a file or a name that is too long for it, a place that cannot be written or
    read, one without locks, and memory that does not suffice. Ctrl-C ends it without a word, status
    130.

    Any other exception is a fault of ours and keeps its traceback.
    """
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except UserError as error:
        sys.exit(f"error: {error}")
    except (MemoryError, RuntimeError) as error:
        if not no_memory(error):
            raise
        needed = re.search(r"to allocate (\d+) bytes", str(error))
        size = f" ({int(needed[1]) / 1e9:.1f} GB more are needed)" if needed else ""
        sys.exit(
            f"error: there is too little memory{size}: take smaller batches, a narrower search, or "
            "a larger machine"
        )
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            where = f" while writing {error.filename}" if error.filename else ""
            sys.exit(
                f"error: the disk is full{where}: free some space and run the same command again; "
                "finished steps are kept"
            )
        if error.errno == errno.EFBIG:
            where = f"{error.filename}: " if error.filename else ""
            sys.exit(
                f"error: {where}no file may be as large here, by the file system or `ulimit -f`: "
                "raise that limit, or work on another; finished steps are kept"
            )
        if error.errno in NO_LOCKS and not error.filename:  # flock() names no file
            sys.exit(
                f"error: {os.strerror(error.errno).lower()}: files are locked (flock) where "
                "results/ lies, and in the temporary folder: mount that file system with locks, or "
                "work on another"
            )
        if error.errno == errno.ENAMETOOLONG and error.filename:
            sys.exit(f"error: {error.filename}: {os.strerror(error.errno).lower()}: shorten it")
        if error.errno == errno.ENOENT and _makes(error):
            sys.exit(f"error: {error.filename}: it cannot be made there: name another place")
        if error.errno not in BARRED or not error.filename:
            raise
        sys.exit(
            f"error: {error.filename}: {os.strerror(error.errno).lower()}: name another place, or "
            "change its permissions"
        )


def no_memory(error: MemoryError | RuntimeError) -> bool:
    """Tell whether memory did not suffice: PyTorch says so in a RuntimeError's text."""
    said = str(error).lower()
    return isinstance(error, MemoryError) or any(words in said for words in NO_MEMORY)


def _makes(error: OSError) -> bool:
    """Tell whether a folder or a file was to be made: what is missing then is no file of ours."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    makers = ("mkdir", "makedirs", "mkdtemp")  # of pathlib, os and tempfile
    opened = error.filename2 is None and str(error.filename).endswith(".part")  # not moved
    return frame.f_code.co_name in makers or opened
