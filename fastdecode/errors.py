"""The one exception whose message is meant for the user, and how a program ends with it."""

import errno
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
# A place that is not ours, is read-only, or has a file where a folder should be.
BARRED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.EISDIR)


class UserError(Exception):
    """Something the user can mend: one line that says what is wrong, where, and what to do."""


@contextmanager
def clear_errors() -> Iterator[None]:
    """End the process with one line `error: …` and status 1 on a UserError.

    So does a full disk, a place that cannot be written or read, one without locks, and a name that
    is too long.

    Any other exception is a fault of ours and keeps its traceback.
    """
    try:
        yield
    except UserError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            where = f" while writing {error.filename}" if error.filename else ""
            sys.exit(
                f"error: the disk is full{where}: free some space and run the same command again; "
                "finished steps are kept"
            )
        if error.errno in NO_LOCKS and not error.filename:  # flock() names no file
            sys.exit(
                f"error: {os.strerror(error.errno).lower()}: files are locked (flock) where "
                "results/ lies, and in the temporary folder: mount that file system with locks, or "
                "work on another"
            )
        if error.errno == errno.ENAMETOOLONG and error.filename:
            sys.exit(f"error: {error.filename}: {os.strerror(error.errno).lower()}: shorten it")
        if error.errno == errno.ENOENT and _makes_folder(error):
            sys.exit(f"error: {error.filename}: no folder can be made there: name another place")
        if error.errno not in BARRED or not error.filename:
            raise
        sys.exit(
            f"error: {error.filename}: {os.strerror(error.errno).lower()}: name another place, or "
            "change its permissions"
        )


def _makes_folder(error: OSError) -> bool:
    """Tell whether a folder was to be made: what is missing then is no file of ours."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_code.co_name in ("mkdir", "makedirs")  # of pathlib, or os
