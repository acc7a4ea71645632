import tracemalloc
from pathlib import Path

import pytest

from fastdecode.corpus.extract import extract_split
from fastdecode.errors import UserError
from fastdecode.files import count_lines
from tests.corpus.extracting import corpus, extract, write

TMX = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en"/>
<body>
<tu><tuv xml:lang="en"><seg>A <bpt i="1">bold</bpt> &amp; new</seg></tuv>
    <tuv xml:lang="ro"><seg>Îndrăzneț</seg></tuv></tu>
<tu><tuv xml:lang="ro"><seg>al doilea</seg></tuv><tuv lang="EN-gb"><seg>second</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>no partner</seg></tuv></tu>
</body></tmx>
"""


@pytest.mark.parametrize("name", ["setimes/en-ro.tmx.gz", "en-ro.tmx"])
def test_a_translation_memory(name: str, tmp_path: Path) -> None:
    write(tmp_path / name, TMX)
    pairs = [("A bold & new", "Îndrăzneț"), ("second", "al doilea")]
    piece = {"kind": "tmx", "download": name}
    assert extract(tmp_path, piece, source="en", target="ro") == pairs
    assert extract(tmp_path, piece, source="ro", target="en") == [(b, a) for a, b in pairs]


def test_a_broken_translation_memory_names_the_line(tmp_path: Path) -> None:
    write(tmp_path / "x.tmx", TMX.replace("</tu>", "", 1))
    with pytest.raises(UserError, match=r"x\.tmx: not well-formed XML .*line 9.*delete"):
        extract(tmp_path, {"kind": "tmx", "download": "x.tmx"}, source="en", target="ro")


def test_a_translation_memory_is_read_as_a_stream(tmp_path: Path) -> None:
    head, unit = TMX[: TMX.index("<tu>")], TMX[TMX.index("<tu>") : TMX.index("</tu>") + 5]
    peaks = []
    for units in (200, 4000):
        write(tmp_path / "x.tmx.gz", f"{head}{unit * units}</body></tmx>")
        tracemalloc.start()
        piece = {"kind": "tmx", "download": "x.tmx.gz"}
        row = corpus(piece, source="en", target="ro")
        outs = tmp_path / "en.gz", tmp_path / "ro.gz"
        extract_split(row, "train", tmp_path, *outs)
        assert count_lines(outs[0]) == units
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]


def test_aspec(tmp_path: Path) -> None:
    write(tmp_path / "train-1.txt", "0.9 ||| A-1 ||| 1 ||| 日本 語。 ||| Japanese ||\n")
    write(tmp_path / "dev.txt", "A-2 ||| 3 ||| 水 ||| Water\n")
    pieces = [{"kind": "aspec", "download": name} for name in ("train-1.txt", "dev.txt")]
    assert extract(tmp_path, *pieces, source="ja") == [
        ("日本 語。", "Japanese ||"),
        ("水", "Water"),
    ]
    write(tmp_path / "dev.txt", "A-2 ||| 3 ||| 水 ||| Water\n水\tWater\n")
    with pytest.raises(UserError, match=r"dev\.txt, line 2: 1 fields"):
        extract(tmp_path, *pieces, source="ja")
