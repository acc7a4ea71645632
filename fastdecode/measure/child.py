"""Work in a process of its own, which takes its memory with it when it ends."""

import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar, cast

from fastdecode.errors import UserError

T = TypeVar("T")
FORK = multiprocessing.get_context("fork")


def in_child(task: Callable[[], T], label: str) -> T:
    """Return what `task` returns in a forked process; raise the UserError that it raises there.

    Raises UserError, beginning with `label`, if the process ends without an answer.
    """
    receiver, sender = FORK.Pipe(duplex=False)
    child = FORK.Process(target=_answer, args=(task, sender))
    child.start()
    sender.close()  # the child's copy is left: its end is the end of the file
    try:
        answer = receiver.recv()
    except EOFError:
        answer = None
    finally:
        receiver.close()
        child.join()
    if answer is None:
        raise UserError(f"{label}: the process {_end(child.exitcode)}")
    if isinstance(answer, UserError):
        raise answer
    (result,) = answer
    return cast(T, result)


def _answer(task: Callable[[], Any], sender: Connection) -> None:
    try:
        sender.send((task(),))
    except UserError as error:
        sender.send(error)


def _end(code: int | None) -> str:
    """Say how a process ended."""
    if code == -signal.SIGKILL:
        return "was killed: memory did not suffice, or someone else did it"
    if code is not None and code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return "ended with an error, which stands above"
