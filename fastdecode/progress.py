"""Progress lines for long work: a line now and then, readable in a terminal and in a log file."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def say(label: str, message: str) -> None:
    """Print one progress line to standard error."""
    print(f"[{label}] {message}", file=sys.stderr, flush=True)


def track(
    items: Iterable[T], label: str, unit: str, total: int | None = None, every: float = 10.0
) -> Iterator[T]:
    """Yield `items`, saying every `every` seconds how many are done, how fast, and what is left.

    Work that ends within the first `every` seconds stays silent.
    """
    start = last = time.monotonic()
    for count, item in enumerate(items, 1):
        yield item
        now = time.monotonic()
        if now - last >= every:
            last = now
            speed = count / (now - start)
            of = f" of {total:,}" if total else ""
            left = f", {(total - count) / speed:,.0f} s left" if total else ""
            say(label, f"{count:,}{of} {unit}, {speed:,.0f} a second{left}")
