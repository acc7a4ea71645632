"""Where the files of a page are: of a run in one folder, of one that is redrawn perhaps in two."""

from collections.abc import Collection
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path
from urllib.parse import quote


@dataclass(frozen=True)
class Place:
    """The folder of a page's files and, if it is another, that of the page."""

    folder: Path
    out: Path | None = None
    drawn: Collection[str] = ()  # names of the files that were drawn anew, beside the page

    def path(self, name: str) -> Path:
        """Return where a file is."""
        return (self.out if self.out and name in self.drawn else self.folder) / name

    def link(self, name: str) -> str:
        """Return where a file is, as seen from the page."""
        there = self.path(name).parent.resolve() / name
        return quote(Path(relpath(there, (self.out or self.folder).resolve())).as_posix())
