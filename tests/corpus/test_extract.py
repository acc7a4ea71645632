import gzip
import io
import os
import shutil
import tarfile
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.config.base import read_yaml
from fastdecode.config.corpora import Corpus, Download
from fastdecode.corpus.download import fetch
from fastdecode.corpus.extract import extract_split
from fastdecode.errors import UserError
from fastdecode.files import count_lines, read_lines

ROOT = Path(__file__).parents[2]
MIRROR = Path(os.environ.get("FASTDECODE_MIRROR", ROOT.parent / "shared" / "data"))


def corpus(*pieces: dict[str, Any], source: str = "de", target: str = "en") -> Corpus:
    """A corpus whose split `train` has these pieces."""
    return Corpus.model_validate(
        {"source": source, "target": target, "splits": {"train": pieces, "valid": pieces}}
    )


def extract(folder: Path, *pieces: dict[str, Any], **languages: str) -> list[tuple[str, str]]:
    """Extract the pieces, checking what holds of every extraction; return the pairs."""
    row = corpus(*pieces, **languages)
    shutil.rmtree(folder / "out", ignore_errors=True)
    source, target = folder / "out" / "train.de.gz", folder / "out" / "train.en.gz"
    try:
        extract_split(row, "train", folder, source, target)
    except UserError:
        assert not source.parent.exists() or not any(source.parent.iterdir())
        raise
    return list(zip(read_lines(source), read_lines(target), strict=True))


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def pack(path: Path, members: dict[str, str | bytes]) -> Path:
    """Write an archive with these members, each below its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    contents = {n: c.encode() if isinstance(c, str) else c for n, c in members.items()}
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
            for name, content in contents.items():
                zipped.writestr(name, content)
    else:
        with tarfile.open(path, "w:gz") as packed:
            for folder in {str(Path(name).parent) for name in contents} - {"."}:
                entry = tarfile.TarInfo(folder)
                entry.type = tarfile.DIRTYPE
                packed.addfile(entry)
            for name, content in contents.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                packed.addfile(entry, io.BytesIO(content))
    return path


def members(archive: str, source: str, target: str, form: str = "plain") -> dict[str, Any]:
    return {
        "kind": "members",
        "format": form,
        "archive": archive,
        "source": source,
        "target": target,
    }


# Plain text


def test_a_pair_of_downloads(tmp_path: Path) -> None:
    write(tmp_path / "multi30k/train.de.gz", "Zwei Männer.\nEin Hund.\n")
    write(tmp_path / "multi30k/train.en.gz", "Two men.\nA dog.\n")
    piece = {"kind": "pair", "source": "multi30k/train.de.gz", "target": "multi30k/train.en.gz"}
    assert extract(tmp_path, piece) == [("Zwei Männer.", "Two men."), ("Ein Hund.", "A dog.")]


def test_files_of_the_users_own_one_after_another(tmp_path: Path) -> None:
    pieces = []
    for number, suffix in enumerate(("", ".gz")):
        source = write(tmp_path / f"mine/{number}.de{suffix}", f"eins {number}\n")
        target = write(tmp_path / f"mine/{number}.en{suffix}", f"one {number}\n")
        pieces.append({"kind": "files", "source": str(source), "target": str(target)})
    downloads = tmp_path / "unused"
    assert extract(downloads, *pieces) == [("eins 0", "one 0"), ("eins 1", "one 1")]
    assert extract(downloads, *reversed(pieces)) == [("eins 1", "one 1"), ("eins 0", "one 0")]


def test_whitespace_becomes_single_spaces_and_lines_stay_lines(tmp_path: Path) -> None:
    write(tmp_path / "x.de", "\ufeff  a\tb \r\nc\u2028d\x0be\x85f\n\n\xa0g  h\n")
    write(tmp_path / "x.en", "1\n2\n3\n4")
    assert extract(tmp_path, {"kind": "pair", "source": "x.de", "target": "x.en"}) == [
        ("a b", "1"),
        ("c d e f", "2"),
        ("", "3"),
        ("g h", "4"),
    ]


def test_a_letter_and_its_accent_become_one_character(tmp_path: Path) -> None:
    write(tmp_path / "x.de", "Die Tu\u0308r ist scho\u0308n.\n")
    write(tmp_path / "x.en", "nai\u0308ve\n")
    found = extract(tmp_path, {"kind": "pair", "source": "x.de", "target": "x.en"})
    assert found == [("Die Tür ist schön.", "naïve")]


def test_equal_text_gives_equal_bytes(tmp_path: Path) -> None:
    write(tmp_path / "x.de", "a\n")
    piece = {"kind": "pair", "source": "x.de", "target": "x.de"}
    outs = [tmp_path / f"{name}.gz" for name in "abcd"]
    extract_split(corpus(piece), "train", tmp_path, outs[0], outs[1])
    extract_split(corpus(piece), "train", tmp_path, outs[2], outs[3])
    assert len({out.read_bytes() for out in outs}) == 1


lines = st.lists(st.text(st.characters(codec="utf-8")).filter(lambda t: "\n" not in t), min_size=1)


@given(lines)
def test_no_text_breaks_the_alignment(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    write(folder / "x.de.gz", "".join(f"{s}\n" for s in sentences))
    pack(folder / "x.tgz", {"en": "".join(f"{n}\n" for n in range(len(sentences)))})
    pack(folder / "y.zip", {"a/de": "".join(f"{s}\n" for s in sentences), "en": "?"})
    write(folder / "x.en", "".join(f"{n}\n" for n in range(len(sentences))))
    pairs = extract(folder, {"kind": "pair", "source": "x.de.gz", "target": "x.en"})
    assert [number for _, number in pairs] == [str(n) for n in range(len(sentences))]
    assert all(s == " ".join(s.splitlines()).strip() for s, _ in pairs)
    assert extract(folder, members("y.zip", "a/de", "a/de")) == [(s, s) for s, _ in pairs]


def test_subwords_are_joined(tmp_path: Path) -> None:
    pack(
        tmp_path / "lee2018/wmt16.tar.gz",
        {
            "wmt16/en-ro/dev/dev.bpe.en": "the un@@ believ@@ able cat@@ s .\nan @ sign x@@\n",
            "wmt16/en-ro/dev/dev.bpe.ro": "pis@@ icile\nun @@ semn\n",
        },
    )
    piece = members(
        "lee2018/wmt16.tar.gz",
        "wmt16/en-ro/dev/dev.bpe.en",
        "wmt16/en-ro/dev/dev.bpe.ro",
        "subwords",
    )
    assert extract(tmp_path, piece, source="en", target="ro") == [
        ("the unbelievable cats .", "pisicile"),
        ("an @ sign x", "un semn"),
    ]


# Archives


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


# WMT's sgm and TED's files

SGM = """<srcset setid="newstest2013" srclang="any">
<doc sysid="ref" docid="news/1" origlang="en">
<hl>
<seg id="1">Q&amp;A: &lt;5 &quot;votes&quot;</seg>
</hl>
<p>
<seg id="2">Two
 lines </seg><seg id="3"></seg>
</p>
</doc>
<DOC docid="news/2"><SEG id="1">Last&apos;s</SEG></DOC>
</srcset>
"""


def test_an_sgm_pair(tmp_path: Path) -> None:
    pack(
        tmp_path / "wmt19/dev.tgz",
        {
            "dev/newstest2013-src.en.sgm": SGM,
            "dev/newstest2013-ref.de.sgm": "".join(
                f'<seg id="{n}"> Satz {n} </seg>\n' for n in range(4)
            ),
        },
    )
    piece = members(
        "wmt19/dev.tgz", "dev/newstest2013-src.en.sgm", "dev/newstest2013-ref.de.sgm", "sgm"
    )
    assert extract(tmp_path, piece, source="en", target="de") == [
        ('Q&A: <5 "votes"', "Satz 0"),
        ("Two lines", "Satz 1"),
        ("", "Satz 2"),
        ("Last's", "Satz 3"),
    ]


def test_an_unclosed_segment_is_named(tmp_path: Path) -> None:
    write(tmp_path / "x.sgm", '<doc>\n<seg id="1">a\n<seg id="2">b</seg>\n</doc>')
    piece = {"kind": "pair", "format": "sgm", "source": "x.sgm", "target": "x.sgm"}
    with pytest.raises(UserError, match=r"x\.sgm, line 2: <seg> without </seg>"):
        extract(tmp_path, piece)


def test_ted_talks(tmp_path: Path) -> None:
    def tags(title: str, *spoken: str) -> str:
        return (
            f"<url>http://www.ted.com/talks/lang/de/{title}.html</url>\n"
            f"<keywords>talks, {title}</keywords>\n<speaker>S. P.</speaker>\n"
            f"<talkid>1218</talkid>\n<title>{title}</title>\n"
            f"<description>About {title}</description>\n<reviewer></reviewer>\n"
            '<translator href="x">T</translator>\n' + "".join(f" {s}\n" for s in spoken)
        )

    xml = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<mteval>\n<refset setid="dev2010">\n'
        '<doc docid="535" genre="lectures">\n<title>Not {0}</title>\n'
        '<seg id="1"> First {0} </seg>\n<seg id="2"> R&amp;D {0} </seg>\n</doc>\n'
        "</refset>\n</mteval>\n"
    )
    pack(
        tmp_path / "iwslt14/de-en.tgz",
        {
            "de-en/train.tags.de-en.de": tags("Hg", "Es <b>kann</b> 1 < 2.") + tags("Z", "Gut"),
            "de-en/train.tags.de-en.en": tags("Hg", "It can.") + tags("Z", "I&apos;m <3"),
            "de-en/IWSLT14.TED.dev2010.de-en.de.xml": xml.format("de"),
            "de-en/IWSLT14.TED.dev2010.de-en.en.xml": xml.format("en"),
        },
    )

    def piece(name: str, form: str, ending: str = "") -> dict[str, Any]:
        de, en = (f"de-en/{name}.de-en.{language}{ending}" for language in ("de", "en"))
        return members("iwslt14/de-en.tgz", de, en, form)

    assert extract(
        tmp_path, piece("train.tags", "ted"), piece("IWSLT14.TED.dev2010", "sgm", ".xml")
    ) == [
        ("Hg", "Hg"),
        ("About Hg", "About Hg"),
        ("Es <b>kann</b> 1 < 2.", "It can."),
        ("Z", "Z"),
        ("About Z", "About Z"),
        ("Gut", "I'm <3"),
        ("First de", "First en"),
        ("R&D de", "R&D en"),
    ]


# Both languages in one file

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


# Errors


@pytest.mark.parametrize(("de", "en"), [(3, 2), (1, 4), (0, 2), (2, 0)])
def test_different_line_counts_are_both_named(de: int, en: int, tmp_path: Path) -> None:
    pack(tmp_path / "a.tgz", {"x.de": "a\n" * de, "x.en": "b\n" * en})
    with pytest.raises(
        UserError, match=rf"a\.tgz: x\.de has {de} lines but .*a\.tgz: x\.en has {en}:"
    ):
        extract(tmp_path, members("a.tgz", "x.de", "x.en"))


@pytest.mark.parametrize(
    ("name", "content", "piece"),
    [
        ("a.tgz", None, members("a.tgz", "x", "y")),
        ("a.zip", None, members("a.zip", "x", "y")),
        ("x.de", None, {"kind": "pair", "source": "x.de", "target": "x.de"}),
        ("x.tmx", None, {"kind": "tmx", "download": "x.tmx"}),
        ("x.txt", None, {"kind": "aspec", "download": "x.txt"}),
        ("x.de", "", {"kind": "pair", "source": "x.de", "target": "x.de"}),
        ("x.sgm", "<a/>", {"kind": "pair", "format": "sgm", "source": "x.sgm", "target": "x.sgm"}),
        ("x.tmx", "<tmx/>", {"kind": "tmx", "download": "x.tmx"}),
    ],
)
def test_missing_and_empty_files(
    name: str, content: str | None, piece: dict[str, Any], tmp_path: Path
) -> None:
    if content is not None:
        write(tmp_path / name, content)
    expected = "no such file" if content is None else "no sentence pairs"
    with pytest.raises(UserError, match=rf"{name}: {expected}"):
        extract(tmp_path, piece, source="ja")


def test_an_empty_piece_is_no_silent_loss(tmp_path: Path) -> None:
    write(tmp_path / "x.de", "a\n")
    write(tmp_path / "empty", "")
    full = {"kind": "pair", "source": "x.de", "target": "x.de"}
    with pytest.raises(UserError, match="empty: no sentence pairs"):
        extract(tmp_path, full, {"kind": "pair", "source": "empty", "target": "empty"})


@pytest.mark.parametrize("archive", ["a.tgz", "a.zip"])
def test_invalid_utf8_names_member_and_line(archive: str, tmp_path: Path) -> None:
    pack(tmp_path / archive, {"x/de": "gut\nschön\n".encode("latin-1"), "x/en": "a\nb\n"})
    with pytest.raises(UserError, match=rf"{archive}: x/de, line 2: invalid UTF-8 .*byte 4"):
        extract(tmp_path, members(archive, "x/de", "x/en"))


# Real data


@pytest.mark.skipif(not (MIRROR / "multi30k").is_dir(), reason=f"no multi30k below {MIRROR}")
def test_multi30k_has_its_published_sizes(tmp_path: Path) -> None:
    row = Corpus.model_validate(read_yaml(ROOT / "config/corpora/multi30k.de-en.yaml"))
    table = read_yaml(ROOT / "config/downloads.yaml")
    sizes = {}
    for split in row.split_names:
        for key in row.downloads(split):
            file = Download.model_validate(table[key])
            fetch(key, file, tmp_path / key, MIRROR, tmp_path / "lock")
        sides = tmp_path / f"{split}.de.gz", tmp_path / f"{split}.en.gz"
        extract_split(row, split, tmp_path, *sides)
        sizes[split] = count_lines(sides[0])
        assert [count_lines(side) for side in sides] == [sizes[split]] * 2
    assert sizes == {
        "train": 29000,
        "valid": 1014,
        "test_2016_flickr": 1000,
        "test_2017_flickr": 1000,
    }
    assert next(read_lines(tmp_path / "train.de.gz")).startswith("Zwei junge weiße Männer")
