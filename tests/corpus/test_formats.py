from pathlib import Path
from typing import Any

import pytest

from fastdecode.errors import UserError
from tests.corpus.extracting import extract, members, pack, write

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
