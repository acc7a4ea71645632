"""Making several files that appear together, when all of them are complete."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def build_aside(folder: Path) -> Iterator[Path]:
    """Yield an empty folder beside `folder`; move its files there only if the block succeeds."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as name:
        part = Path(name)
        yield part
        folder.mkdir(exist_ok=True)
        for path in sorted(part.iterdir()):
            path.replace(folder / path.name)
