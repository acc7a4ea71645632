"""CSV files with fixed columns, numbers in some and words in all others."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from fastdecode.errors import UserError
from fastdecode.files import write_csv


@dataclass(frozen=True)
class Sheet:
    """The columns of one kind of CSV; those of `numbers` hold floats, NaN where nothing stands.

    Words in `added`, the last columns, are not in files that were written before there were any:
    these have none of them, or the first ones.
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
        """Write the frame, the numbers with all their digits."""
        write_csv(path, frame)

    def read(self, path: Path) -> pd.DataFrame:
        """Read such a CSV. Raises UserError if it is missing or empty, or has other columns."""
        if not path.is_file():
            raise UserError(f"{path}: no such file")
        if not path.stat().st_size:
            raise UserError(f"{path}: empty file: make it again")
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        missing = self.columns[len(frame.columns) :]
        if set(missing) <= set(self.added):
            frame = frame.assign(**dict.fromkeys(missing, ""))
        if tuple(frame.columns) != self.columns:
            raise UserError(f"{path}: its columns are not {', '.join(self.columns)}: make it again")
        for name in self.numbers:
            frame[name] = [float(cell or "nan") for cell in frame[name]]
        return frame
