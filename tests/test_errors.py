import errno
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from fastdecode.errors import INTERRUPTED, UserError, clear_errors
from fastdecode.files import open_to_write, write_lines


def message_of(error: pytest.ExceptionInfo[SystemExit]) -> str:
    """What Python prints on this exit, with status 1."""
    assert isinstance(error.value.code, str)
    assert "\n" not in error.value.code
    return error.value.code


def test_a_user_error_is_one_line_and_status_1() -> None:
    with pytest.raises(SystemExit) as error, clear_errors():
        raise UserError("x.txt, line 3: what to do")
    assert message_of(error) == "error: x.txt, line 3: what to do"


def test_ctrl_c_ends_without_a_traceback() -> None:
    with pytest.raises(SystemExit) as exit_, clear_errors():
        raise KeyboardInterrupt
    assert exit_.value.code == INTERRUPTED == 130


def test_our_own_faults_keep_their_traceback() -> None:
    with pytest.raises(KeyError), clear_errors():
        raise KeyError("x")
    with pytest.raises(PermissionError), clear_errors():
        raise PermissionError(errno.EACCES, "denied")  # of no file


def test_a_place_that_may_not_be_written_is_said(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(SystemExit) as exit_, clear_errors():
        file.mkdir(exist_ok=True)
    assert message_of(exit_).startswith(f"error: {file}: file exists: name another place, ")
    with pytest.raises(SystemExit) as exit_, clear_errors():
        write_lines(file / "x.txt", ["line"])
    assert "file exists" in message_of(exit_)
    with pytest.raises(SystemExit) as exit_, clear_errors():
        raise PermissionError(errno.EACCES, "denied", "x")
    assert message_of(exit_).startswith("error: x: permission denied: ")


@pytest.mark.parametrize(
    "make",
    [
        lambda path: write_lines(path / "x", []),
        os.makedirs,
        lambda path: tempfile.mkdtemp(dir=path.parents[1], prefix="no"),
        lambda path: write_lines(path.parent, []),
    ],
)
def test_a_folder_that_cannot_be_made_is_said(make: Callable[[Path], object]) -> None:
    folder = Path("/proc/no/such")  # nobody makes folders there
    with pytest.raises(SystemExit) as exit_, clear_errors():
        make(folder)
    said = message_of(exit_)
    assert re.fullmatch(r"error: /proc/\.?no\S*: it cannot be made there: name another place", said)


def test_memory_that_is_too_little_is_said() -> None:
    with pytest.raises(SystemExit) as exit_, clear_errors():
        torch.empty(2**60, dtype=torch.uint8)
    assert "(1152921504.6 GB more are needed): take smaller batches" in message_of(exit_)
    with pytest.raises(RuntimeError, match="inconsistent tensor size"), clear_errors():
        torch.ones(2) @ torch.ones(3)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("CUDA failed with error out of memory"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("std::bad_alloc"),
    ],
)
def test_whoever_has_too_little_memory_says_so(error: Exception) -> None:
    with pytest.raises(SystemExit) as exit_, clear_errors():
        raise error
    assert message_of(exit_).startswith("error: there is too little memory: take smaller batches")


def test_a_file_that_is_missing_is_a_fault_of_ours(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), clear_errors():
        (tmp_path / "x").read_text()
    with pytest.raises(FileNotFoundError), clear_errors():
        (tmp_path / ".x.part").replace(tmp_path / "x")  # that somebody took away


def test_a_name_that_is_too_long_is_said(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as exit_, clear_errors():
        write_lines(tmp_path / ("x" * 280), ["line"])
    assert re.search(r"/\.x+\.\d+\.part: file name too long: shorten it$", message_of(exit_))


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS])
def test_a_file_system_without_locks_is_said(code: int) -> None:
    with pytest.raises(SystemExit) as error, clear_errors():
        raise OSError(code, "x")  # as flock() does, without a name
    assert "files are locked (flock) where results/ lies, and" in message_of(error)


def test_no_error_no_exit() -> None:
    with clear_errors():
        pass


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("name", ["x.txt", "x.gz"])
def test_a_full_disk_is_said_with_the_file(tmp_path: Path, code: int, name: str) -> None:
    with pytest.raises(SystemExit) as error, clear_errors(), open_to_write(tmp_path / name) as file:
        file.write("line")
        raise OSError(code, "full")  # as write() does, without a name
    assert message_of(error).startswith(f"error: the disk is full while writing {tmp_path / name}:")
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_too_large_is_said_with_its_name() -> None:
    for name in ("x.gz", None):
        with pytest.raises(SystemExit) as error, clear_errors():
            raise OSError(errno.EFBIG, "large", name)
        start = f"error: {name}: " if name else "error: "
        assert message_of(error).startswith(f"{start}no file may be as large here")


def test_a_full_disk_without_a_file_is_said_too() -> None:
    with pytest.raises(SystemExit) as error, clear_errors():
        raise OSError(errno.ENOSPC, "full")
    assert message_of(error).startswith("error: the disk is full: free some space")


@pytest.mark.parametrize("name", ["x.txt", "x.gz"])
def test_a_disk_that_is_really_full(small_disk: Path, name: str) -> None:
    def text() -> Iterator[str]:
        for number in range(200_000):
            yield str(number * 7919 % 200_003)

    write_lines(small_disk / name, ["old"])
    with pytest.raises(SystemExit) as error, clear_errors():
        write_lines(small_disk / name, text())
    assert f"the disk is full while writing {small_disk / name}" in message_of(error)
    assert [file.name for file in small_disk.iterdir()] == [name]
    assert (small_disk / name).stat().st_size < 100  # the old one
