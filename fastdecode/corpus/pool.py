"""One function over many items, in several processes: in order, and in bounded memory."""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any, TypeVar

from fastdecode.errors import UserError

T = TypeVar("T")
R = TypeVar("R")

CHUNK = 500  # items a process takes at a time
ROUND = 20  # chunks a process gets before the results of all are handed on

_function: Callable[[Any], Any]


def map_ordered(
    function: Callable[[T], R], items: Iterable[T], processes: int
) -> Iterator[tuple[T, R]]:
    """Yield every item with its result, in the order of the items.

    The result does not depend on `processes`. They are forked, so that `function` may hold anything
    and need not be pickled; items and results are. At most one round of items is in memory.

    Raises UserError if a process is killed.
    """
    if processes <= 1:
        yield from ((item, function(item)) for item in items)
        return
    left = iter(items)
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(processes, context, _start, (function,)) as pool:
        while round_ := list(islice(left, processes * CHUNK * ROUND)):
            try:
                results = list(pool.map(_call, round_, chunksize=CHUNK))
            except BrokenProcessPool:
                raise UserError(
                    "one of several processes was killed: was memory short? free some, or give "
                    "the job more (on a cluster mem_mb), and run again"
                ) from None
            yield from zip(round_, results, strict=True)


def _start(function: Callable[[Any], Any]) -> None:
    global _function
    _function = function


def _call(item: Any) -> Any:
    return _function(item)
