import copy
import re
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
import snakemake.utils
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from fastdecode.commands.selection import read_run
from fastdecode.config.base import check, merge, nearest, read_yaml
from fastdecode.config.corpora import Corpus, Download
from fastdecode.config.rows import Dataset, Ensemble, Family, System, Training
from fastdecode.config.run import Latency, Run
from fastdecode.errors import UserError

MEMBERS = {"kind": "members", "archive": "a/x.tar.xz", "source": "a", "target": "b"}
DATASET = {"corpus": "toy", "bpe": {"merges": 600}}
FILES = {"kind": "files", "source": "a.de", "target": "a.en"}
SPLITS = {"train": [FILES], "valid": [FILES | {"source": "b.de"}]}
CORPUS = {"source": "de", "target": "en", "splits": SPLITS}
RUN = read_run([])
NAME = "expected a name of at most 100 letters, digits, dots, _ and -, the first a letter or digit"
QUOTE = 'expected text, found false, as YAML reads no, off or false: put it in quotes, such as "no"'


def fault(model: type[BaseModel], values: object) -> str:
    with pytest.raises(UserError) as error:
        check(model, values, "x.yaml, row")
    message = str(error.value)
    assert message.startswith("x.yaml, row: ")
    assert "\n" not in message
    return message.removeprefix("x.yaml, row: ")


# check


def test_a_row_cannot_be_changed() -> None:
    row = check(Latency, {"lines": 3}, "x.yaml")
    assert (row.lines, row.repeats) == (3, 5)
    with pytest.raises(ValidationError):
        row.lines = 4  # type: ignore[misc]


@pytest.mark.parametrize(
    ("model", "values", "message"),
    [
        (Training, {"dropuot": 0.1}, 'unknown key "dropuot"; did you mean "dropout"?'),
        (
            Latency,
            {"zzz": 1},
            'unknown key "zzz" (known: batch_lines, batches, lines, repeats, scenarios, threads, '
            "warmup)",
        ),
        (Dataset, DATASET | {"roles": {"bas": "x"}}, '"roles.bas"; did you mean "base"?'),
        (Dataset, DATASET | {"bpe": {"merge": 600}}, '"bpe.merge"; did you mean "merges"? (and 1'),
        (
            Family,
            {"systems": {}, "decoders": {}, "ensembles": {"a": {"sytem": "x", "seeds": [1, 2]}}},
            'unknown key "ensembles.a.sytem"; did you mean "system"? (and 1 more)',
        ),
        (
            Corpus,
            {
                "source": "de",
                "target": "en",
                "splits": {"train": [{"kind": "members", "arch": "a"}]},
            },
            'unknown key "splits.train.0.arch"; did you mean "archive"?',
        ),
        (
            Corpus,
            CORPUS | {"splits": {"train": [FILES | {"files": "a"}]}},  # called as its kind
            'unknown key "splits.train.0.files" (known: format, kind, source, target)',
        ),
        (Run, RUN | {"roles": {"small": "tiny"}}, 'unknown key "roles.small" (known: base, big)'),
        (Run, RUN | {"roles": {"bigg": "tiny"}}, 'unknown key "roles.bigg"; did you mean "big"?'),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_known(
    model: type[BaseModel], values: object, message: str
) -> None:
    assert message in fault(model, values)


@pytest.mark.parametrize(
    ("model", "values", "message"),
    [
        (Dataset, {"corpus": "toy"}, 'the key "bpe" is missing'),
        (Dataset, DATASET | {"bpe": {}}, 'the key "bpe.merges" is missing'),
        (
            Training,
            {"max_epochs": 1, "adam_betas": [0.9]},
            '"adam_betas": too few items, found [0.9]',
        ),
        (Training, {}, "training never ends: give max_updates or max_epochs"),
        (Training, {"max_epochs": 0}, '"max_epochs": input should be greater than 0, found 0'),
        (Training, {"max_epochs": 1, "select": "beu"}, "'last', 'bleu' or 'loss', found 'beu'"),
        (Latency, {"lines": "many"}, '"lines": input should be a valid integer'),
        (Latency, {"lines": 0, "warmup": 0}, "found 0 (and 1 more)"),
        (Latency, {"threads": [1, 0]}, "\"threads.1\": input should be greater than 0 or 'all',"),
        (
            Latency,
            {"threads": [1, "every"]},
            "\"threads.1\": input should be a valid integer or 'all', found 'every'",
        ),
        (
            Training,
            {"max_epochs": True},
            "max_epochs: expected a number, found true, as YAML reads yes,",
        ),
        (Training, {"max_epochs": 1, "lr": False}, "lr: expected a number, found false, as YAML"),
        (
            Latency,
            {"threads": [1, True]},
            "threads: expected a number, found true, as YAML reads yes,",
        ),
        (Dataset, DATASET | {"bpe": 600}, '"bpe": expected keys and values, found 600'),
        (Dataset, DATASET | {"training": []}, '"training": expected keys and values, found []'),
        (Dataset, None, "expected keys and values, found None"),
        (Dataset, ["toy"], "expected keys and values, found ['toy']"),
        (Dataset, DATASET | {"tests": "a\nb"}, '"tests": input should be a valid list, found \'a'),
        (Dataset, DATASET | {"tests": []}, '"tests": list should have at least 1 item, found []'),
        (
            Corpus,
            {"source": "de", "target": "en", "splits": {"train": [{"kind": "fils"}]}},
            '"splits.train.0": unknown kind "fils"; did you mean "files"?',
        ),
        (
            Corpus,
            {"source": "de", "target": "en", "splits": {"train": [MEMBERS]}},
            "a/x.tar.xz is none of .tgz, .tar.gz, .zip: pack it as one of these",
        ),
        (
            Training,
            {"max_epochs": 1, "lr": inf},
            '"lr": input should be a finite number, found inf',
        ),
        (
            Training,
            {"max_epochs": 1, "weight_decay": nan},
            '"weight_decay": input should be a fini',
        ),
        (Ensemble, {"system": "a", "seeds": [1]}, '"seeds": list should have at least 2 items'),
    ],
)
def test_a_fault_is_told_in_one_line(model: type[BaseModel], values: object, message: str) -> None:
    assert message in fault(model, values)
    assert not re.search("tuple|constrained|literal|validation", fault(model, values))


@pytest.mark.parametrize(
    ("model", "values", "message"),
    [
        (
            Corpus,
            CORPUS | {"splits": {"train": [{"source": "a.de", "target": "a.en"}]}},
            'the key "splits.train.0.kind" is missing (known: aspec, files, members, pair, tmx)',
        ),
        (
            Corpus,
            CORPUS | {"splits": {"train": [{"kind": "files", "source": "a.de"}]}},
            'the key "splits.train.0.target" is missing',
        ),
        (
            Corpus,
            CORPUS | {"splits": {"train": ["a.de"]}},
            "\"splits.train.0\": expected keys and values, found 'a.de'",
        ),
        (
            Corpus,
            CORPUS | {"source": "german"},
            "\"source\": expected two or three small letters, such as de, found 'german'",
        ),
        (
            Corpus,
            CORPUS | {"splits": {"my test": [FILES]}},
            '"splits.my test": expected a name of letters, digits, _ and -, the first a letter or '
            "digit, found 'my test'",
        ),
        (
            System,
            {"layers": "6"},
            "\"layers\": expected encoder-decoder layers, such as 6-6, found '6'",
        ),
        (System, {"layers": 6}, '"layers": expected encoder-decoder layers, such as 6-6, found 6'),
        (
            Download,
            {"url": "ftp://x"},
            "\"url\": expected an address that begins with https:// or http://, found 'ftp://x'",
        ),
        (
            Download,
            {"by_hand": "x", "sha256": "F0"},
            "\"sha256\": expected 64 digits and letters a to f, found 'F0'",
        ),
        (Run, RUN | {"name": "a b"}, f"\"name\": {NAME}, found 'a b'"),
        (Run, RUN | {"decoders": ["beam5", "a b"]}, f"\"decoders.1\": {NAME}, found 'a b'"),
        (
            Run,
            RUN | {"decoders": ["beam5", {"raw/transformer": "greedy"}]},
            "\"decoders.1.raw/transformer\": input should be a valid list, found 'greedy'",
        ),
        (
            Run,
            RUN | {"decoders": ["beam5", {"systems": "greedy"}]},  # as pydantic calls the entry
            "\"decoders.1.systems\": input should be a valid list, found 'greedy'",
        ),
        (
            Run,
            RUN | {"decoders": ["beam5", "beam5"]},
            "decoders: beam5 stands twice: once is enough",
        ),
    ],
)
def test_a_fault_is_told_in_words_of_the_user(
    model: type[BaseModel], values: object, message: str
) -> None:
    assert fault(model, values) == message


def test_text_that_yaml_reads_as_true_or_false_is_known(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("source: no\ntarget: en\n")  # from Norwegian
    read = read_yaml(tmp_path / "x.yaml")
    assert fault(Corpus, CORPUS | read) == f'"source": {QUOTE}'
    piece = FILES | {"source": False}
    assert fault(Corpus, CORPUS | {"splits": {"train": [piece]}}) == (
        f'"splits.train.0.source": {QUOTE}'
    )
    assert fault(Corpus, CORPUS | {"holdout": {False: 2}}) == f'"holdout.False": {QUOTE}'
    assert fault(Run, RUN | {"mirror": True}) == (
        '"mirror": expected text, found true, as YAML reads yes, on or true: put it in quotes, '
        'such as "yes"'
    )
    (tmp_path / "x.yaml").write_text('source: "no"\n')
    assert check(Corpus, CORPUS | read_yaml(tmp_path / "x.yaml"), "x.yaml").source == "no"


def test_a_list_is_not_too_short_where_what_stands_in_it_is_at_fault() -> None:
    assert fault(Latency, {"batches": [0]}).endswith(", found 0")
    assert fault(Latency, {"batches": [0, -1]}).endswith(", found 0 (and 1 more)")
    assert fault(Latency, {"batches": [0], "threads": []}).endswith(", found [] (and 1 more)")


def test_a_mapping_at_fault_is_not_told_whole() -> None:
    values = DATASET | {"roles": {"base": {"name": "x"}}}
    assert fault(Dataset, values) == f'"roles.base": {NAME}'


def test_nearest() -> None:
    assert nearest("tansformer", ["transformer", "big"]) == '; did you mean "transformer"?'
    assert nearest("x", ["b", "a"]) == " (known: a, b)"
    assert nearest("x", []) == " (known: none)"


def test_nearest_is_short() -> None:
    searches = ["ctc-argmax", "ctc-beam-optimised", "greedy"]
    assert nearest("ctc", searches) == '; did you mean "ctc-argmax" or "ctc-beam-optimised"?'
    assert nearest("ct", searches) == f" (known: {', '.join(searches)})"
    many = [f"ctc-with-{number}" for number in range(30)]
    for word in ("ctc", "x"):
        assert nearest(word, many).startswith(" (30 are known, listed by `fastdecode show`")


# merge

keys = st.sampled_from("abc")
values = st.recursive(
    st.none() | st.integers(0, 3) | st.lists(st.integers(0, 3), max_size=2),
    lambda inner: st.dictionaries(keys, inner, min_size=1, max_size=3),
    max_leaves=8,
)
tables = st.dictionaries(keys, values, max_size=3)


@given(tables, tables)
@example({"a": {"b": {"c": 1, "d": [1]}}}, {"a": {"b": {"d": [2], "e": 3}}})
def test_merge_does_what_snakemake_does_with_a_configfile(
    under: dict[str, Any], over: dict[str, Any]
) -> None:
    before = copy.deepcopy((under, over))
    merged = merge(under, over)
    assert (under, over) == before  # neither is changed
    snakemake.utils.update_config(under, over)
    assert merged == under


@given(tables, tables, tables)
def test_merging_three_is_merging_twice(
    one: dict[str, Any], two: dict[str, Any], three: dict[str, Any]
) -> None:
    assert merge(one, two, three) == merge(merge(one, two), three)
    assert merge(one) == merge(one, one) == one
    assert merge() == {}


def test_mappings_are_merged_and_lists_replaced() -> None:
    under = {"a": {"b": 1, "c": [1, 2]}, "d": 1}
    assert merge(under, {"a": {"c": [3], "e": None}}) == {
        "a": {"b": 1, "c": [3], "e": None},
        "d": 1,
    }


# YAML


def yaml_fault(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(UserError) as error:
        read_yaml(path)
    message = str(error.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


def test_yaml_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("a: [1, ü]\r\nb: {c: null}\n", encoding="utf-8")
    assert read_yaml(tmp_path / "x.yaml") == {"a": [1, "ü"], "b": {"c": None}}


def test_what_is_no_yaml_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    assert yaml_fault(path, b"a: 1\nb: [1\nc: 2\n").startswith(", line 3: not valid YAML: ")
    assert yaml_fault(path, b"a: 1\n\tb: 2\n").startswith(", line 2: not valid YAML: ")
    assert ": not valid YAML: unacceptable character" in yaml_fault(path, b"a: 1\nb: \x00\n")
    assert ", line 2: invalid UTF-8" in yaml_fault(path, b"a: 1\nb: \xfc\n")


def test_a_key_that_stands_twice_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    assert yaml_fault(path, b"a: {x: 1}\nb: 2\na: {y: 2}\n") == (
        ', line 3: not valid YAML: the key "a" stands twice'
    )
    assert 'the key "x" stands twice' in yaml_fault(path, b"a:\n  - {x: 1, y: 2, x: 3}\n")


def test_what_is_merged_into_a_mapping_may_stand_in_it_again(tmp_path: Path) -> None:
    text = "a: &a {x: 1, y: 1}\nb: {c: [&c {<<: *a, x: 2}]}\nd: {<<: *c, x: 3}\n"
    (tmp_path / "x.yaml").write_text(text)
    found = read_yaml(tmp_path / "x.yaml")
    assert found["b"] == {"c": [{"x": 2, "y": 1}]} and found["d"] == {"x": 3, "y": 1}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"{tmp_path}/x.yaml: no such file"):
        read_yaml(tmp_path / "x.yaml")


def test_the_timing_of_a_scenario_is_decided_by_its_own_settings() -> None:
    whole = check(Latency, {"lines": 3, "batches": [2], "batch_lines": 4, "repeats": 6}, "x.yaml")
    for scenario, rest in (("S1", {"lines": 3}), ("Smax", {"batches": (2,), "batch_lines": 4})):
        own = whole.of(scenario)
        assert own == {"scenarios": (scenario,), "warmup": 20, "repeats": 6, **rest}
        assert check(Latency, own, "x.yaml").of(scenario) == own
    few = {"scenarios": ["S1"], "batch_lines": 8, "batches": [32]}
    assert check(Latency, few, "x.yaml").of("S1")["lines"] == 30
