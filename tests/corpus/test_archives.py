from pathlib import Path
from typing import Any

import pytest

from fastdecode.errors import UserError
from tests.corpus.extracting import extract, members, pack, write


@pytest.mark.parametrize("archive", ["wmt13/training-parallel-europarl-v7.tgz", "ep.zip"])
def test_members_of_archives(archive: str, tmp_path: Path) -> None:
    pack(
        tmp_path / archive,
        {
            "training/europarl-v7.cs-en.cs": "x\n",
            "training/europarl-v7.de-en.en": "Resumption\nPlease rise\n",
            "training/europarl-v7.de-en.de": "Wiederaufnahme\nBitte erheben\n",
        },
    )
    piece = members(archive, "training/europarl-v7.de-en.de", "training/europarl-v7.de-en.en")
    expected = [("Wiederaufnahme", "Resumption"), ("Bitte erheben", "Please rise")]
    assert extract(tmp_path, piece) == expected
    assert {f.name for f in tmp_path.iterdir()} == {Path(archive).parts[0], "out"}


def test_members_at_the_root_and_with_a_leading_dot(tmp_path: Path) -> None:
    pack(tmp_path / "cc.tgz", {"commoncrawl.de-en.de": "a\n", "./commoncrawl.de-en.en": "b\n"})
    piece = members("cc.tgz", "commoncrawl.de-en.de", "commoncrawl.de-en.en")
    assert extract(tmp_path, piece) == [("a", "b")]


@pytest.mark.parametrize("archive", ["a.tgz", "a.zip"])
def test_a_missing_member_names_its_neighbours(archive: str, tmp_path: Path) -> None:
    pack(tmp_path / archive, {"training/europarl-v7.de-en.de": "a\n", "README": ""})
    piece = members(archive, "training/europarl-v7.de-en.de", "training/europarl-v8.de-en.de")
    with pytest.raises(
        UserError,
        match=rf"{archive}: no member training/europarl-v8\S+; .*training/europarl-v7\.de-en\.de",
    ):
        extract(tmp_path, piece)


@pytest.mark.parametrize("archive", ["a.tgz", "a.zip", "a.tmx.gz"])
@pytest.mark.parametrize("keep", [0.0, 0.3, 0.7, 0.95])
def test_a_truncated_archive_is_to_be_deleted(archive: str, keep: float, tmp_path: Path) -> None:
    text = "".join(f"{n * 7919 % 10007} {n * 104729 % 100003}\n" for n in range(20000))
    if archive == "a.tmx.gz":
        path = write(tmp_path / archive, f"<tmx><body>{text}</body></tmx>")
        piece = {"kind": "tmx", "download": archive}
    else:
        path = pack(tmp_path / archive, {"x/de": text, "x/en": text})
        piece = members(archive, "x/en", "x/de")
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * keep)])
    with pytest.raises(UserError, match=rf"{archive}: .*delete it and fetch it again"):
        extract(tmp_path, piece)


@pytest.mark.parametrize("archive", ["a.tgz", "a.zip"])
def test_a_damaged_archive_is_to_be_deleted(archive: str, tmp_path: Path) -> None:
    text = "".join(f"{n * 7919 % 10007} {n * 104729 % 100003}\n" for n in range(20000))
    path = pack(tmp_path / archive, {"x/de": text})
    content = bytearray(path.read_bytes())
    middle, late = len(content) // 2, len(content) * 9 // 10
    content[middle:late] = b"\xff" * (late - middle)
    path.write_bytes(content)
    with pytest.raises(UserError, match=f"{archive}: truncated or damaged .*delete it"):
        extract(tmp_path, members(archive, "x/de", "x/de"))


@pytest.mark.parametrize(
    ("name", "piece"),
    [
        ("a.tgz", members("a.tgz", "x", "y")),
        ("a.zip", members("a.zip", "x", "y")),
        ("a.tmx.gz", {"kind": "tmx", "download": "a.tmx.gz"}),
    ],
)
def test_what_is_no_archive_is_said_in_one_line(
    name: str, piece: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(b"<html>moved</html>" * 100)
    with pytest.raises(UserError, match=f"{name}: truncated or damaged") as raised:
        extract(tmp_path, piece)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("archive", ["a.tgz", "a.zip"])
def test_invalid_utf8_names_member_and_line(archive: str, tmp_path: Path) -> None:
    pack(tmp_path / archive, {"x/de": "gut\nschön\n".encode("latin-1"), "x/en": "a\nb\n"})
    with pytest.raises(UserError, match=rf"{archive}: x/de, line 2: invalid UTF-8 .*byte 4"):
        extract(tmp_path, members(archive, "x/de", "x/en"))
