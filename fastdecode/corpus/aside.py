"""Making several files that appear together, when all of them are complete."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory


@contextmanager
def build_aside(folder: Path) -> Iterator[Path]:
    """Yield an empty folder beside `folder`; move its files there only if the block succeeds.

    What a killed process has left there of the same folder is removed: one at a time builds it.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    ours = re.compile(rf"\.{re.escape(folder.name)}\.[a-z0-9_]{{8}}")  # as tempfile makes names
    for left in filter(lambda path: ours.fullmatch(path.name), folder.parent.iterdir()):
        rmtree(left, ignore_errors=True)
    with TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as name:
        part = Path(name)
        yield part
        folder.mkdir(exist_ok=True)
        for path in sorted(part.iterdir()):
            path.replace(folder / path.name)
