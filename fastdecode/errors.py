"""The one exception whose message is meant for the user, and how a program ends with it."""

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager


class UserError(Exception):
    """Something the user can mend: one line that says what is wrong, where, and what to do."""


@contextmanager
def clear_errors() -> Iterator[None]:
    """End the process with one line `error: …` and status 1 on a UserError or a full disk.

    Any other exception is a fault of ours and keeps its traceback.
    """
    try:
        yield
    except UserError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        where = f" while writing {error.filename}" if error.filename else ""
        sys.exit(
            f"error: the disk is full{where}: free some space and run the same command again; "
            "finished steps are kept"
        )
