import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fastdecode.errors import UserError
from fastdecode.files import write_lines
from fastdecode.measure.quality import Generated, quality, split_compounds, split_quality
from fastdecode.translation import Translation

REFERENCE = [
    "Der Hund, der schläft, ist groß.",
    "Ein Mann fährt ein rotes Fahrrad.",
    "Zwei Kinder spielen am U-Bahnhof.",
]
TOKENISED = [
    "Der Hund , der schläft , ist groß .",
    "Ein Mann fährt ein rotes Fahrrad .",
    "Zwei Kinder spielen am U @-@ Bahnhof .",  # unlike what sacreBLEU's tokeniser makes of it
]
TEXTS = [
    "Der Hund, der schläft, war klein.",
    "Ein Mann fährt ein Fahrrad.",
    "zwei Kinder spielen am U-Bahnhof.",
]
TOKENS = [
    "Der Hu@@ nd , der schläft , war klein .",
    "Ein Mann fährt ein Fahr@@ rad .",
    "zwei Kinder spielen am U @-@ Bahn@@ hof .",
]
WORDS = [line.replace("@@ ", "") for line in TOKENS]
SPLIT = [line.replace("@-@", "@ ##AT##-##AT## @") for line in WORDS]
SPLIT_TOKENISED = [line.replace("@-@", "@ ##AT##-##AT## @") for line in TOKENISED]
RIGHT = [
    [REFERENCE[0]],
    ["Ein Mann fährt ein Fahrrad.", REFERENCE[1]],
    ["Am U-Bahnhof spielen zwei Kinder.", REFERENCE[2], "Da spielen zwei am U-Bahnhof."],
]


def translate(texts: Sequence[str], tokens: Sequence[str]) -> list[Translation]:
    return [
        Translation(text, line.split(), None, 1) for text, line in zip(texts, tokens, strict=True)
    ]


def score(
    texts: Sequence[str] = TEXTS, tokens: Sequence[str] = TOKENS, **other: Any
) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "reference": REFERENCE,
        "tokenised": TOKENISED,
        "references": RIGHT,
        "language": "de",
        "lowercase": False,
    }
    return quality(translate(texts, tokens), **arguments | other)


def sacrebleu(folder: Path, hypotheses: list[str], *references: list[str], more: str) -> float:
    """Return the score that sacreBLEU's own command prints for files of these lines."""
    write_lines(folder / "hypotheses", hypotheses)
    for number, lines in enumerate(references):
        write_lines(folder / str(number), lines)
    names = [str(folder / str(number)) for number in range(len(references))]
    command = [sys.executable, "-m", "sacrebleu", *names, "-i", str(folder / "hypotheses")]
    done = subprocess.run(
        [*command, *more.split(), "--score-only", "--width", "10"],
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout)


@pytest.mark.parametrize(
    ("metric", "lowercase", "hypotheses", "references", "more"),
    [
        ("bleu", False, TEXTS, [REFERENCE], "-m bleu"),
        ("bleu", True, TEXTS, [REFERENCE], "-m bleu --lowercase"),
        ("chrf", True, TEXTS, [REFERENCE], "-m chrf --chrf-lowercase"),
        ("tokenised_bleu", False, WORDS, [TOKENISED], "-m bleu --tokenize none --force"),
        ("tokenised_bleu", True, WORDS, [TOKENISED], "-m bleu -tok none --force --lowercase"),
        ("compound_split_bleu", False, SPLIT, [SPLIT_TOKENISED], "-m bleu -tok none --force"),
    ],
)
def test_scores_are_those_of_the_sacrebleu_command(
    tmp_path: Path,
    metric: str,
    lowercase: bool,
    hypotheses: list[str],
    references: list[list[str]],
    more: str,
) -> None:
    ours = score(lowercase=lowercase)[metric]["value"]
    assert ours == pytest.approx(sacrebleu(tmp_path, hypotheses, *references, more=more), abs=1e-9)
    assert 0 < ours < 100


def test_several_references_are_those_of_the_sacrebleu_command(tmp_path: Path) -> None:
    twice = [[line, other] for line, other in zip(REFERENCE, TEXTS[::-1], strict=True)]
    metrics = score(references=twice)
    theirs = sacrebleu(tmp_path, TEXTS, REFERENCE, TEXTS[::-1], more="-m bleu")
    assert metrics["multi_reference_bleu"]["value"] == pytest.approx(theirs, abs=1e-9)
    assert "nrefs:2" in metrics["multi_reference_bleu"]["signature"]


def test_passes_and_what_they_add() -> None:
    lines = [
        Translation("a", ["a"] * 5, None, 2, [4, 2]),
        Translation("b", ["b"] * 3, None, 4, [1, 1, 1, 1]),
        Translation("", [], None, 0),  # a blank line: no pass
    ]
    others = {"reference": REFERENCE, "tokenised": TOKENISED, "references": None}
    metrics = quality(lines, **others, language="de", lowercase=False)  # type: ignore[arg-type]
    assert metrics["passes"]["value"] == 2
    assert metrics["tokens_per_pass"]["value"] == pytest.approx(sum([4, 2, 1, 1, 1, 1]) / 6)
    elsewhere = quality(lines[2:] * 3, **others, language="de", lowercase=False)  # type: ignore[arg-type]
    unknown = {"passes", "tokens_per_pass", "repetition_rate"}
    assert unknown <= metrics.keys() and not unknown & elsewhere.keys()


def test_signatures() -> None:
    metrics = score(lowercase=True)
    assert "case:lc|eff:no|tok:13a" in metrics["bleu"]["signature"]
    assert "case:lc" in metrics["chrf"]["signature"]
    assert "tok:none" in metrics["tokenised_bleu"]["signature"]
    assert "nrefs:var" in metrics["multi_reference_bleu"]["signature"]
    assert "nrefs:1" in metrics["bleu"]["signature"]
    assert metrics["hypotheses"]["signature"] is None
    assert "tok:zh" in score(language="zh")["bleu"]["signature"]


@pytest.mark.parametrize("language", ["ja", "ko"])
def test_a_missing_tokeniser_is_named(monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    monkeypatch.setattr(f"sacrebleu.tokenizers.tokenizer_{language}_mecab.MeCab", None)
    with pytest.raises(UserError, match=rf"pip install -e '.\[{language}\]'"):
        score(language=language)
    project = Path(__file__).parents[2] / "pyproject.toml"
    assert language in tomllib.loads(project.read_text())["project"]["optional-dependencies"]


def test_perfect_translations() -> None:
    metrics = score(REFERENCE, TOKENISED)
    for name in ("bleu", "chrf", "tokenised_bleu", "multi_reference_bleu"):
        assert metrics[name]["value"] == pytest.approx(100)
    assert metrics["length_ratio"]["value"] == 1
    assert metrics["among_references"]["value"] == 1


@pytest.mark.parametrize(
    ("line", "split"),
    [
        ("U-Bahn und Zug", "U ##AT##-##AT## Bahn und Zug"),
        ("auf- und ab - oder -an", "auf- und ab - oder -an"),  # a hyphen inside a token alone
        ("vor-mit-nach", "vor ##AT##-##AT## mit ##AT##-##AT## nach"),
        ("x-y-z", "x ##AT##-##AT## y-z"),  # y is spent
        ("U @-@ Bahn", "U @ ##AT##-##AT## @ Bahn"),
        ("10\u00a0-\u00a020", "10\u00a0 ##AT##-##AT## \u00a020"),  # spaces of other kinds are none
        ("", ""),
    ],
)
def test_compounds_are_split_as_perl_does(line: str, split: str) -> None:
    assert split_compounds([line]) == [split]
    perl = shutil.which("perl")
    if perl is not None:
        script = r"s{(\S)-(\S)}{$1 ##AT##-##AT## $2}g"
        done = subprocess.run(
            [perl, "-ple", script], input=line + "\n", capture_output=True, text=True, check=True
        )
        assert done.stdout == split + "\n"


def test_split_compounds_change_the_score() -> None:
    metrics = score()
    assert metrics["compound_split_bleu"]["value"] > metrics["tokenised_bleu"]["value"]
    signature = metrics["tokenised_bleu"]["signature"]
    assert metrics["compound_split_bleu"]["signature"] == f"{signature}|compounds:split"


def test_every_family_of_metrics_is_there() -> None:
    metrics = score()
    assert metrics["lines_by_length/1-10"]["value"] == 3
    assert metrics["bleu_by_length/1-10"] == metrics["bleu"]
    assert metrics["precision1_all"]["value"] == (7 + 6 + 7) / (9 + 6 + 8)
    assert metrics["precision1_last5"]["value"] == (3 + 5 + 5) / 15


def test_repetitions_are_of_pieces() -> None:
    tokens = ["A A@@ A@@ b", TOKENS[1], TOKENS[2]]
    metrics = score(tokens=tokens)
    pieces = sum(len(line.split()) for line in tokens)
    assert metrics["repetition_rate"] == {"value": 1 / pieces, "unit": "share", "signature": None}


def test_counts_and_shares() -> None:
    metrics = score([TEXTS[0], TEXTS[1], " "], [TOKENS[0], TOKENS[1], ""])
    assert metrics["hypotheses"]["value"] == 3
    assert metrics["empty_hypotheses"]["value"] == 1
    assert metrics["among_references"]["value"] == 1 / 3
    assert metrics["length_ratio"]["value"] == (9 + 6) / (9 + 7 + 8)


def test_case_decides_what_is_right_unless_it_was_lowered() -> None:
    assert score()["among_references"]["value"] == 1 / 3
    assert score(lowercase=True)["among_references"]["value"] == 2 / 3


def test_several_references_ignore_case_where_it_was_lowered() -> None:
    upper = score([text.upper() for text in TEXTS], lowercase=True)["multi_reference_bleu"]
    assert upper == score(lowercase=True)["multi_reference_bleu"]
    assert "case:lc" in upper["signature"]
    assert upper["value"] > score()["multi_reference_bleu"]["value"]


def test_precisions_ignore_case_where_it_was_lowered() -> None:
    assert score(lowercase=True)["precision1_all"]["value"] == (7 + 6 + 8) / (9 + 6 + 8)
    assert score()["precision1_all"]["value"] == (7 + 6 + 7) / (9 + 6 + 8)  # zwei


def test_any_of_the_right_translations_will_do() -> None:
    """Ragged lists: a line's last reference counts no less than its first."""
    texts = [right[-1] for right in RIGHT]
    metrics = score(texts, TOKENS)
    assert metrics["multi_reference_bleu"]["value"] == pytest.approx(100)
    assert metrics["among_references"]["value"] == 1


def test_what_of_a_generated_split_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw, tokenised, listed = (tmp_path / name for name in ("raw", "tokenised", "listed"))
    write_lines(raw, REFERENCE)
    write_lines(tokenised, TOKENISED)
    write_lines(listed, (json.dumps({"references": right, "count": 9}) for right in RIGHT))
    translations = translate(TEXTS, TOKENS)
    plain = split_quality(translations, raw, tokenised, None, "de", False)
    assert plain == score(references=None)
    asked: list[Any] = []
    monkeypatch.setattr("fastdecode.measure.quality.share_right", lambda *of: asked.append(of) or 1)
    known = split_quality(translations, raw, tokenised, Generated(listed, 7, "test"), "de", False)
    assert known.pop("right") == {"value": 1, "unit": "share", "signature": None}
    assert (known, asked) == (score(), [(7, "test", TEXTS)])


def test_one_reference_is_all_that_is_needed() -> None:
    assert not {"multi_reference_bleu", "among_references"} & score(references=None).keys()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"reference": REFERENCE[:2]}, "3 translations but 2 lines in the reference"),
        ({"tokenised": TOKENISED * 2}, "3 translations but 6 lines in the tokenised reference"),
        ({"references": RIGHT[:1]}, "3 translations but 1 lines in the list of right"),
        ({"references": [RIGHT[0], [], RIGHT[2]]}, "line 2 of the right translations"),
    ],
)
def test_lines_that_do_not_fit_are_refused(other: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        score(**other)


def test_an_empty_test_set_is_no_zero() -> None:
    with pytest.raises(UserError, match="empty"):
        score([], [], reference=[], tokenised=[], references=None)
