"""CSV files that are read again: those with fixed columns, and those that need some at least."""

import gzip
import os
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from fastdecode.errors import UserError
from fastdecode.files import write_csv

AGAIN = "delete it and run the workflow again"
BROKEN = (pd.errors.ParserError, UnicodeDecodeError, EOFError, gzip.BadGzipFile, zlib.error)


@dataclass(frozen=True)
class Sheet:
    """The columns of one kind of CSV; those of `numbers` hold floats, NaN where nothing stands.

    Columns in `added` are not in files that were written before there were any.
    """

    columns: tuple[str, ...]
    numbers: tuple[str, ...]
    added: tuple[str, ...] = ()

    def frame(self, lines: Sequence[dict[str, Any]]) -> pd.DataFrame:
        """Return lines as a frame: what a line does not say is "" or NaN."""
        frame = pd.DataFrame(lines, columns=list(self.columns))
        words = [name for name in self.columns if name not in self.numbers]
        frame[words] = frame[words].astype(object).where(frame[words].notna(), "").map(str)
        return frame.astype(dict.fromkeys(self.numbers, float))

    def write(self, path: Path, frame: pd.DataFrame) -> None:
        """Write a frame with these columns, the numbers with all their digits."""
        if tuple(frame.columns) != self.columns:
            raise ValueError(f"{path}: {', '.join(frame.columns)} are not the columns of its kind")
        write_csv(path, frame)

    def read(self, path: Path) -> pd.DataFrame:
        """Read such a CSV.

        Raises UserError if it is missing or no CSV, has other columns, or text for a number.
        """
        frame = read_csv(path, "make it again", dtype=str, keep_default_na=False)
        missing = [name for name in self.added if name not in frame]
        if list(frame.columns) != [name for name in self.columns if name not in missing]:
            raise UserError(f"{path}: its columns are not {', '.join(self.columns)}: make it again")
        frame = frame.reindex(columns=list(self.columns), fill_value="")
        for name in self.numbers:
            try:
                frame[name] = [float(cell or "nan") for cell in frame[name]]
            except ValueError as error:
                raise UserError(f"{path}: {name}: {error}: make it again") from None
        return frame


def read_rows(path: Path, needed: Collection[str], again: str, **options: Any) -> pd.DataFrame:
    """Read a CSV that has the columns `needed`, and maybe others, as pandas does with `options`.

    Raises UserError, which says `again`, if it is missing or empty, lacks a column or has no rows.
    """
    frame = read_csv(path, again, **options)
    missing = [name for name in needed if name not in frame]
    if missing or frame.empty:
        what = f"no column {', '.join(missing)}" if missing else "no rows"
        raise UserError(f"{path}: it has {what}: {again}")
    return frame


def read_csv(path: Path, again: str = AGAIN, **options: Any) -> pd.DataFrame:
    """Read a CSV as pandas does with `options`.

    Raises UserError, which says `again`, if it is missing or empty, cut in a line, or no CSV.
    """
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    try:
        if _end(path) not in (b"", b"\n"):
            raise UserError(f"{path}: its last line is cut: {again}")
        frame: pd.DataFrame = pd.read_csv(path, **options)
    except pd.errors.EmptyDataError:
        raise UserError(f"{path}: it is empty: {again}") from None
    except BROKEN as error:
        raise UserError(f"{path}: it is no CSV ({error}): {again}") from None
    return frame


def _end(path: Path) -> bytes:
    """Return the last byte of a file, plain or `.gz`; b"" if it is empty."""
    if path.suffix != ".gz":
        with path.open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - 1, 0))
            return file.read()
    last = b""
    with gzip.open(path, "rb") as packed:
        while chunk := packed.read(2**20):
            last = chunk[-1:]
    return last
