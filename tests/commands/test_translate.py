"""Raw lines in, translations out: whatever stands in a line, and however the input comes."""

import gzip
import io
import os
import signal
import subprocess
import sys
from io import BufferedReader, BytesIO
from pathlib import Path
from select import select
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.commands.translate import gathered, open_input, stream
from fastdecode.errors import UserError
from tests.commands.conftest import Call, Place
from tests.gpu import needs_no_gpu

SYSTEM = ("--system", "raw/transformer")
ALONE = (*SYSTEM, "--batch", "1")  # no batch changes a translation
GREEDY = ("--decoder", "greedy")


# Reading


class Pieces(io.RawIOBase):
    """A raw stream that yields these pieces, one a read."""

    def __init__(self, *pieces: bytes):
        self._pieces = list(pieces)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._pieces.pop(0) if self._pieces else b""
        buffer[: len(piece)] = piece
        return len(piece)


def read(*pieces: bytes, most: int = 99) -> list[list[str]]:
    source = stream(BufferedReader(Pieces(*pieces)), "x")
    return list(gathered(source.lines, source.more, most))


def test_a_batch_is_what_can_be_read_without_waiting() -> None:
    assert read(b"a\nb\nc", b"\nd\n", b"e") == [["a", "b"], ["c", "d"], ["e"]]
    assert read(b"a\nb\nc\nd\ne\n", b"f\n", most=2) == [["a", "b"], ["c", "d"], ["e"], ["f"]]
    assert read() == read(b"") == []
    assert read(b"\n") == [[""]]
    assert read(b"a\r\n\nb\r") == [["a", ""], ["b"]]


@given(text=st.binary(max_size=30).map(lambda text: text.replace(b"x", b"\n")), cut=st.integers(0))
def test_lines_end_at_newlines_only_wherever_the_stream_is_cut(text: bytes, cut: int) -> None:
    text = text.decode("utf-8", errors="ignore").encode()
    cut %= len(text) + 1
    pieces = [piece for piece in (text[:cut], text[cut:]) if piece]
    expected = [line.removesuffix("\r") for line in text.decode().split("\n")]
    if not text.endswith(b"\n"):
        expected.append("")
    if text:
        assert [line for batch in read(*pieces) for line in batch] == expected[:-1]


def test_what_came_before_a_fault_is_not_lost() -> None:
    source = stream(BufferedReader(BytesIO(b"a\nb\nc\n\xff\nd\n")), "the input")
    found = gathered(source.lines, source.more, 2)
    assert [next(found), next(found)] == [["a", "b"], ["c"]]
    with pytest.raises(UserError, match="the input, line 4: invalid UTF-8"):
        next(found)


def test_files(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"one\r\n\ntwo\x0b\xe2\x80\xa8three")
    with gzip.open(tmp_path / "packed.gz", "wb") as file:
        file.write(b"one\n\ntwo")
    for name, expected in (
        ("plain", ["one", "", "two\x0b\u2028three"]),
        ("packed.gz", ["one", "", "two"]),
    ):
        found = open_input(str(tmp_path / name))
        assert (list(found.lines), found.total, found.more()) == (expected, 3, True)
    (tmp_path / "latin1").write_bytes(b"one\n\xfcber\n")
    (tmp_path / "cut.gz").write_bytes((tmp_path / "packed.gz").read_bytes()[:-5])
    for name, message in (
        ("latin1", "latin1, line 2: invalid UTF-8"),
        ("cut.gz", "truncated or damaged gzip file"),
        ("missing", "no such file"),
        ("", "is a folder"),
    ):
        with pytest.raises(UserError, match=message):
            open_input(str(tmp_path / name))


def test_a_file_that_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = subprocess.Popen(["sh", "-c", f"printf 'a\\nb' > {tmp_path / 'pipe'}"])
    found = open_input(str(tmp_path / "pipe"))
    assert (list(found.lines), found.total) == (["a", "b"], None)
    assert writer.wait() == 0


# In this process


def test_lines_become_lines_in_their_order(call: Call) -> None:
    lines = ["one two", "", "seven", "three four five nine nine", "  ", "unheard eight", "two"]
    text = "\n".join(lines)
    together = call("translate", *SYSTEM, stdin=text.encode()).split("\n")
    assert together.pop() == "" and len(together) == len(lines)
    assert [bool(line) for line in together] == [bool(line.strip()) for line in lines]
    alone = [call("translate", *SYSTEM, stdin=line.encode()) for line in lines if line.strip()]
    single = call("translate", *ALONE, stdin=text.encode())
    assert "".join(alone) == single.replace("\n\n", "\n")


def test_the_decoder_is_the_one_asked_for(call: Call) -> None:
    text = b"one two three four\nnine eight seven\nfive\n"
    scores = {}
    for name in ("greedy", "beam5", "greedy-ctranslate2", "greedy-int8", "greedy-optimised"):
        lines = call("translate", *ALONE, "--scores", "--decoder", name, stdin=text).splitlines()
        scores[name] = [tuple(line.split("\t")) for line in lines]
        assert all(len(pair) == 2 for pair in scores[name])
    assert scores["greedy-optimised"] == scores["greedy"] != scores["beam5"]
    assert [text for _, text in scores["greedy-ctranslate2"]] == [t for _, t in scores["greedy"]]
    default = call("translate", *ALONE, "--scores", stdin=text)
    assert [tuple(line.split("\t")) for line in default.splitlines()] == scores["greedy"]
    assert all(float(score) < 0 for score, _ in scores["greedy"])
    assert call("translate", *SYSTEM, "--scores", stdin=b"\n") == "\t\n"


def test_an_empty_file_gives_nothing(call: Call, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert call("translate", *SYSTEM, str(tmp_path / "empty")) == ""
    assert call("translate", *SYSTEM) == ""


def test_threads(call: Call) -> None:
    before = torch.get_num_threads()
    try:
        call("translate", *SYSTEM, "--threads", "2")
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_a_person_is_told_that_the_command_waits(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr("fastdecode.commands.translate.say", lambda *words: said.append(words[1]))
    call("translate", *SYSTEM, *GREEDY)
    assert said == []
    call("translate", *SYSTEM, *GREEDY, terminal=True)
    assert said == ["waiting for lines on standard input; Ctrl-D ends them"]


def test_the_decoder_that_is_taken_is_said(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("fastdecode.commands.translate.say", lambda *words: said.append(words[1]))
    call("translate", *SYSTEM)
    assert said == ["decoding with greedy; --decoder names another"]


@needs_no_gpu
def test_devices(call: Call, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="error: device: cuda, but this machine shows no GPU"):
        call("translate", *SYSTEM, "--device", "cuda")
    with pytest.raises(SystemExit, match="shows no GPU"):  # before it is asked to be trained
        call("translate", "--system", "transformer-big/transformer", "--device", "cuda")
    (tmp_path / "half.yaml").write_text("{device: cuda, precision: fp16}")
    with pytest.raises(SystemExit, match="the run's precision, fp16, needs cuda"):
        call("translate", *SYSTEM, "--configfile", str(tmp_path / "half.yaml"), "--device", "cpu")
    with pytest.raises(SystemExit, match="needs cuda"):  # before it is asked to be trained
        call(
            *("translate", "--system", "transformer-big/transformer", "--device", "cpu"),
            *("--configfile", str(tmp_path / "half.yaml")),
        )


# In a process of its own


def finished(process: subprocess.Popen[bytes], text: bytes) -> tuple[int, list[str], list[str]]:
    """Return status, output lines and error lines."""
    out, err = process.communicate(text)
    return process.returncode, out.decode().split("\n"), err.decode().splitlines()


def test_whatever_stands_in_a_line(place: Place, call: Call) -> None:
    """Odd characters break no line in two; one line that is too long disturbs no other."""
    odd = [
        *("\ufeffone two", "", "three\x0bfour\x0cfive", "six\x1cseven\x85eight\u2028nine"),
        *("one\x00two", "three\rfour", "  ", "zwölf 十三 🜚 <unk> </s> @@", "x" * 300),
        *("one " * 10_000, "nine eight\r"),
    ]
    status, out, err = finished(place.start("translate", *ALONE, *GREEDY), "\n".join(odd).encode())
    plain = [
        *("one two", "", "three four five", "six seven eight nine"),
        *("one two", "three four", "", odd[7], odd[8], "", "nine eight"),
    ]
    assert out == call("translate", *ALONE, stdin="\n".join(plain).encode()).split("\n")
    assert (status, len(out)) == (1, len(odd) + 1)
    long, last = err
    assert "line 10: 10,000 tokens, and the model reads at most 1,023: left untranslated" in long
    assert last == (
        "error: 1 of 11 lines were too long to translate (see above): empty lines stand in their "
        "places"
    )


def test_bytes_that_are_not_utf8(place: Place) -> None:
    status, out, err = finished(
        place.start("translate", *SYSTEM, *GREEDY), b"one\ntwo\n\xfcber\nthree\n"
    )
    assert (status, len(out)) == (1, 3)  # the lines before it, and the end of the last
    (line,) = err
    assert line.startswith("error: standard input, line 3: invalid UTF-8 (invalid start byte at by")


def test_an_ensemble_fits_fairseqs_engine_only(place: Place) -> None:
    system = ("--system", "raw/transformer-big-x3", "--decoder", "greedy-optimised")
    status, out, err = finished(place.start("translate", *system), b"one\n")
    (line,) = err
    assert (status, out) == (1, [""])
    assert line.startswith("error: --decoder: greedy-optimised does not decode transformer-big-x3:")


@pytest.mark.parametrize(("closed", "named"), [("<&-", "input"), (">&-", "output")])
def test_a_closed_stream(place: Place, closed: str, named: str) -> None:
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "fastdecode"]
    process = subprocess.run(
        [*command, *place.arguments("translate", *SYSTEM)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    (line,) = process.stderr.splitlines()
    assert process.returncode == 1
    assert line.startswith(f"error: standard {named} is closed")


def test_a_reader_that_has_seen_enough(place: Place, tmp_path: Path) -> None:
    (tmp_path / "long").write_text("one two three\n" * 3000)
    process = place.start("translate", *SYSTEM, *GREEDY, "--batch", "2", str(tmp_path / "long"))
    assert process.stdout and process.stderr
    assert process.stdout.readline().strip()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 141


def test_lines_are_answered_at_once_and_ctrl_c_ends_it(place: Place) -> None:
    process = place.start("translate", *SYSTEM, *GREEDY)
    assert process.stdin and process.stdout and process.stderr
    for line in (b"one two\n", b"\n", b"seven\n"):
        process.stdin.write(line)
        process.stdin.flush()
        readable, _, _ = select([process.stdout], [], [], 60)
        assert readable, "no answer while the input is open"
        answer = process.stdout.readline()
        assert answer.endswith(b"\n") and bool(answer.strip()) == bool(line.strip())
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    assert process.stderr.read() == process.stdout.read() == b""
