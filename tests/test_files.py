import bz2
import gzip
import lzma
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastdecode.errors import UserError
from fastdecode.files import (
    check_folder,
    count_lines,
    decode_lines,
    open_to_write,
    read_json,
    read_lines,
    read_pairs,
    sha256,
    write_aside,
    write_json,
    write_lines,
)

NAMES = ["x.txt", "x.gz"]
lines = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r")))


def stored(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def one_line(error: pytest.ExceptionInfo[UserError]) -> str:
    message = str(error.value)
    assert "\n" not in message
    return message


# Writing


@pytest.mark.parametrize("name", NAMES)
@given(text=lines)
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read(tmp_path: Path, name: str, text: list[str]) -> None:
    assert write_lines(tmp_path / name, text) == len(text)
    assert list(read_lines(tmp_path / name)) == text
    assert count_lines(tmp_path / name) == len(text)


@pytest.mark.parametrize("name", NAMES)
def test_a_failure_in_the_middle_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, name: str
) -> None:
    def failing() -> Iterator[str]:
        yield from ["new"] * 50_000  # more than any buffer
        raise RuntimeError("broken")

    for existing in (None, "old"):
        if existing:
            write_lines(tmp_path / name, [existing])
        with pytest.raises(RuntimeError, match="broken"):
            write_lines(tmp_path / name, failing())
        assert [file.name for file in tmp_path.iterdir()] == ([name] if existing else [])
    assert list(read_lines(tmp_path / name)) == ["old"]


@pytest.mark.parametrize("name", NAMES)
def test_a_kill_in_the_middle_leaves_no_file_of_that_name(tmp_path: Path, name: str) -> None:
    code = (
        "import sys; from pathlib import Path; from fastdecode.files import open_to_write\n"
        "with open_to_write(Path(sys.argv[1])) as file:\n"
        "    file.write('line\\n' * 100_000); file.flush()\n"
        "    print('written', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / name)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"written\n"
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not (tmp_path / name).exists()
    assert not list(tmp_path.glob("*.txt")) + list(tmp_path.glob("*.gz"))  # nor one taken for it
    (part,) = tmp_path.iterdir()  # what is left, until the file is written again
    write_lines(tmp_path / f"other-{name}", ["line"])
    assert part.exists()
    write_lines(tmp_path / Path(name).stem, ["line"])  # of which the other's name goes on
    assert part.exists()
    write_lines(tmp_path / name, ["line"])
    assert not part.exists()


def test_equal_text_gives_equal_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_lines(tmp_path / "a.gz", ["one", "two"])
    monkeypatch.setattr("time.time", lambda: 2_000_000_000.0)
    write_lines(tmp_path / "other" / "b.gz", ["one", "two"])
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "other" / "b.gz").read_bytes()


def test_the_folder_is_made(tmp_path: Path) -> None:
    with write_aside(tmp_path / "new" / "folder" / "x") as part:
        part.write_bytes(b"1")
        assert part.parent == tmp_path / "new" / "folder"  # one file system: the rename is atomic
    assert (tmp_path / "new" / "folder" / "x").read_bytes() == b"1"


def test_an_error_of_the_system_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with pytest.raises(OSError, match=str(path)), write_aside(path):
        raise OSError(28, "No space left on device")


# Reading


@pytest.mark.parametrize("name", NAMES)
def test_lines_end_at_newlines_only(tmp_path: Path, name: str) -> None:
    content = "a\u2028b\x0bc\x85d\r\ne\rf\n\n\u2029\nlast"
    path = stored(tmp_path / name, content.encode())
    assert list(read_lines(path)) == ["a\u2028b\x0bc\x85d", "e\rf", "", "\u2029", "last"]
    assert count_lines(path) == 5


@pytest.mark.parametrize("name", NAMES)
def test_the_mark_that_editors_put_before_a_text_is_no_part_of_it(
    tmp_path: Path, name: str
) -> None:
    path = stored(tmp_path / name, "\ufeffone\n\ufefftwo\n".encode())
    assert list(read_lines(path)) == ["one", "\ufefftwo"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", [b"\xff", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\x80"])
def test_invalid_utf8_is_refused_with_its_place(tmp_path: Path, name: str, bad: bytes) -> None:
    path = stored(tmp_path / name, b"fine\nna\xc3\xafve " + bad + b"\nfine\n")
    reader = read_lines(path)
    assert next(reader) == "fine"
    with pytest.raises(UserError) as error:
        next(reader)
    assert f"{path}, line 2: invalid UTF-8" in one_line(error)
    assert "at byte 8 of the line" in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"{tmp_path}/x: no such file"):
        count_lines(tmp_path / "x")
    with pytest.raises(UserError, match=f"{tmp_path}: this is a folder: name a file"):
        count_lines(tmp_path)


def test_what_stands_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "results"
    check_folder(place)
    place.symlink_to(tmp_path / "disk")
    with pytest.raises(UserError, match=f"{place}: this link leads to {tmp_path}/disk, which is"):
        check_folder(place)
    (tmp_path / "disk").mkdir()
    check_folder(place)
    (tmp_path / "disk").rmdir()
    (tmp_path / "disk").touch()
    with pytest.raises(UserError, match=f"{place}: this is a file, where a folder is to be"):
        check_folder(place)


def test_text_that_is_called_an_archive_need_not_be_deleted(tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_text("Ein Hund.\n")
    with pytest.raises(UserError, match=r"what is no gzip has no \.gz in its name"):
        count_lines(tmp_path / "x.gz")


def test_an_archive_that_is_called_text_is_known(tmp_path: Path) -> None:
    path = tmp_path / "x.de"
    path.write_bytes(gzip.compress(b"Ein Hund.\n"))
    said = f"{path}: this is a gzip file: unpack it, or give it a name that ends in .gz"
    with pytest.raises(UserError) as error:
        count_lines(path)
    assert one_line(error) == said
    with pytest.raises(UserError, match=r"^standard input: this is a gzip file: unpack it"):
        list(decode_lines([path.read_bytes()], "standard input"))
    for code in ("UTF-16", "UTF-32"):
        path.write_bytes("Ein Hund.\n".encode(code))
        with pytest.raises(UserError, match=rf"x.de: this is {code}: .*iconv -f {code} -t UTF-8"):
            count_lines(path)
    for packed, kind in ((bz2.compress(b"Ein Hund.\n"), "bzip2"), (lzma.compress(b"E\n"), "xz")):
        path.write_bytes(packed)
        with pytest.raises(UserError, match=rf"x.de: this is a {kind} file: unpack it$"):
            count_lines(path)
    path.write_bytes(b"one\n\x1f\x8b\n")
    with pytest.raises(UserError, match=r"x.de, line 2: invalid UTF-8"):
        count_lines(path)


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    write_lines(path, (f"line {number}" for number in range(5000)))
    whole = path.read_bytes()
    middle = len(whole) // 2
    cut = whole[:middle]
    flipped = whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :]
    for damaged in (cut, whole[:-4], whole[:5], flipped, b"no gzip at all", b""):
        path.write_bytes(damaged)
        with pytest.raises(UserError) as error:
            count_lines(path)
        assert f"{path}: truncated or damaged" in one_line(error)


@given(one=st.lists(st.just("a"), max_size=4), other=st.lists(st.just("b"), max_size=4))
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pairs_need_equal_sides(tmp_path: Path, one: list[str], other: list[str]) -> None:
    left, right = tmp_path / "left.gz", tmp_path / "right"
    write_lines(left, one)
    write_lines(right, other)
    if len(one) == len(other):
        assert list(read_pairs(left, right)) == list(zip(one, other, strict=True))
        return
    with pytest.raises(UserError) as error:
        list(read_pairs(left, right))
    assert f"{left} has {len(one)} lines but {right} has {len(other)}" in one_line(error)


def test_an_empty_line_is_no_missing_line(tmp_path: Path) -> None:
    write_lines(tmp_path / "a", ["", "x", ""])
    write_lines(tmp_path / "b", ["y", "", ""])
    assert list(read_pairs(tmp_path / "a", tmp_path / "b")) == [("", "y"), ("x", ""), ("", "")]


# Checksums and JSON


def test_sha256_is_the_known_one(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    assert sha256(tmp_path / "x").startswith("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb")


def test_json_comes_back_and_reads_well(tmp_path: Path) -> None:
    value = {"ü": [1, 2.5, None, "a\u2028b\r\n"], "k": {"x": True}}
    write_json(tmp_path / "x.json", value)
    assert read_json(tmp_path / "x.json") == value
    text = (tmp_path / "x.json").read_text(encoding="utf-8")
    assert '"ü"' in text and text.endswith("}\n")


@pytest.mark.parametrize("content", ["", '{"a": 1', "{'a': 1}", '{"a": 1}{'])
def test_json_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(UserError) as error:
        read_json(tmp_path / "x.json")
    assert f"{tmp_path}/x.json: not valid JSON" in one_line(error)


def test_json_that_cannot_be_written_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        write_json(tmp_path / "x.json", {"a": 1, "b": object()})
    assert not list(tmp_path.iterdir())


def test_open_to_write_writes_newlines_as_they_are(tmp_path: Path) -> None:
    with open_to_write(tmp_path / "x") as file:
        file.write("a\r\nb\n")
    assert (tmp_path / "x").read_bytes() == b"a\r\nb\n"
