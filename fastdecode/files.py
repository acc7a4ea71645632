"""Reading and writing files so that a half-written one is never taken for a whole one."""

import gzip
import hashlib
import io
import json
import os
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from glob import escape
from itertools import zip_longest
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from fastdecode.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

# How packed files begin.
PACKED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
    b"\x28\xb5\x2f\xfd": "zstd",
}
MARKED = {  # how files begin in encodings with a byte-order mark, the longer one first
    BOM_UTF32_LE: "UTF-32",
    BOM_UTF32_BE: "UTF-32",
    BOM_UTF16_LE: "UTF-16",
    BOM_UTF16_BE: "UTF-16",
}


def check_folder(folder: Path) -> None:
    """Raise UserError where no folder can be made, since something else has its name."""
    if folder.is_symlink() and not folder.exists():
        raise UserError(
            f"{folder}: this link leads to {folder.readlink()}, which is not there: mount it, "
            "make it, or remove the link"
        )
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder}: this is a file, where a folder is to be: move it")


def check_new(folder: Path) -> None:
    """Raise UserError if something stands where a folder is to be made, but for an empty one.

    It does, too, if the folder that it is to be made in is a file.
    """
    if folder.is_symlink() or folder.exists():
        if not (folder.is_dir() and not any(folder.iterdir())):
            raise UserError(f"{folder} exists: choose a folder that does not, or remove it")
    elif not (above := next(path for path in folder.absolute().parents if path.exists())).is_dir():
        raise UserError(f"{folder} cannot be made: {above} is a file: choose another folder")


@contextmanager
def write_aside(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside `path`; rename it to `path` only if the block succeeds.

    What a killed process left of an earlier attempt is removed: one process at a time writes a
    path.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob(f".{escape(path.name)}.*.part"):
        if left.name.removeprefix(f".{path.name}.").removesuffix(".part").isdigit():
            left.unlink(missing_ok=True)  # else it is of a path whose name goes on
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    except OSError as error:
        error.filename = error.filename or str(path)  # ENOSPC from write() names no file
        raise
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def open_to_write(path: Path) -> Iterator[IO[str]]:
    """Open UTF-8 text for writing, gzipped if the name ends in `.gz`; appears when complete.

    The gzip header carries no time and no name, so equal text gives equal bytes.
    """
    with write_aside(path) as part, part.open("wb") as raw:
        if path.suffix == ".gz":
            with (
                gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed,
                io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as text,
            ):
                yield text
        else:
            with io.TextIOWrapper(raw, encoding="utf-8", newline="\n") as text:
                yield text


def write_lines(path: Path, lines: Iterable[str]) -> int:
    """Write lines (without their newline) to `path`; return how many."""
    count = 0
    with open_to_write(path) as file:
        for line in lines:
            file.write(line + "\n")
            count += 1
    return count


def write_csv(path: Path, frame: "pd.DataFrame") -> None:
    """Write a frame as CSV without its index, numbers with all their digits."""
    with open_to_write(path) as file:
        frame.to_csv(file, index=False, lineterminator="\n")


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, plain or `.gz`, split at newline characters only.

    Unlike str.splitlines, other Unicode line separators stay inside the line: corpora contain them
    and two sides must keep the same number of lines. A final carriage return is dropped, and the
    byte-order mark that some editors put before the first line.

    Raises UserError on a missing file, a truncated archive, one without `.gz` in its name, and
    invalid UTF-8 (with its line).
    """
    if path.is_dir():
        raise UserError(f"{path}: this is a folder: name a file")
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    try:
        if path.suffix == ".gz" and path.stat().st_size == 0:  # gzip reads it as no lines
            raise EOFError("it is empty")
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            yield from decode_lines(file, str(path))
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UserError(
            f"{path}: truncated or damaged gzip file ({error}): put a whole one in its place, or, "
            "if a run wrote it, delete it and run again; what is no gzip has no .gz in its name"
        ) from None


def decode_lines(lines: Iterable[bytes], name: str) -> Iterator[str]:
    """Yield lines as text without their newline, as read_lines does.

    Raises UserError on invalid UTF-8, saying where in the file `name`, and on gzip.
    """
    for number, line in enumerate(lines, 1):
        try:
            text = line.decode("utf-8").removesuffix("\n").removesuffix("\r")
            yield text.removeprefix("\ufeff") if number == 1 else text
        except UnicodeDecodeError as error:
            if number == 1 and (packed := _named(line, PACKED)):
                gzip_alone = ", or give it a name that ends in .gz" if packed == "gzip" else ""
                raise UserError(f"{name}: this is a {packed} file: unpack it{gzip_alone}") from None
            if number == 1 and (code := _named(line, MARKED)):
                raise UserError(
                    f"{name}: this is {code}: convert it, as by iconv -f {code} -t UTF-8"
                ) from None
            raise UserError(
                f"{name}, line {number}: invalid UTF-8 ({error.reason} at byte "
                f"{error.start + 1} of the line): convert the file to UTF-8"
            ) from None


def _named(line: bytes, beginnings: Mapping[bytes, str]) -> str | None:
    """Return the name of how a line begins; None if it begins otherwise."""
    return next((name for begin, name in beginnings.items() if line.startswith(begin)), None)


def read_pairs(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    """Yield line pairs of two parallel files.

    Raises UserError if one of them has more lines than the other.
    """
    for left, right in zip_longest(read_lines(source), read_lines(target)):
        if left is None or right is None:
            raise UserError(
                f"{source} has {count_lines(source)} lines but {target} has {count_lines(target)}: "
                "both sides of a parallel text must have the same number of lines"
            )
        yield left, right


def count_lines(path: Path) -> int:
    """Count the lines of a text file, plain or `.gz`."""
    return sum(1 for _ in read_lines(path))


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON with a final newline."""
    with open_to_write(path) as file:
        json.dump(value, file, indent=2, ensure_ascii=False)
        file.write("\n")


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Raises UserError if it is missing or not JSON.
    """
    try:
        return json.loads("\n".join(read_lines(path)))
    except json.JSONDecodeError as error:
        raise UserError(f"{path}: not valid JSON ({error}): delete it and run again") from None
