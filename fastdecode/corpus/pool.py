"""One function over many items, in several processes: in order, and in bounded memory."""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

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
    """
    if processes <= 1:
        yield from ((item, function(item)) for item in items)
        return
    left = iter(items)
    with multiprocessing.get_context("fork").Pool(processes, _start, (function,)) as pool:
        while round_ := list(islice(left, processes * CHUNK * ROUND)):
            yield from zip(round_, pool.map(_call, round_, chunksize=CHUNK), strict=True)


def _start(function: Callable[[Any], Any]) -> None:
    global _function
    _function = function


def _call(item: Any) -> Any:
    return _function(item)
