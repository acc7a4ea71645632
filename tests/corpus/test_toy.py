"""The toy corpus as files."""

import hashlib
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from statistics import mean, median

import pytest

from fastdecode.corpus.tokenise import tokeniser
from fastdecode.corpus.toy import (
    TOY_SIZES,
    Example,
    References,
    draw_examples,
    generate,
    read_links,
    read_references,
    share_right,
)
from fastdecode.corpus.toy.tree import finish, nth
from fastdecode.corpus.toy.write import join_words, split_words
from fastdecode.errors import UserError
from fastdecode.files import read_lines, read_pairs, write_lines

SMALL = {"train": 60, "valid": 20, "test": 20}
# The corpus is frozen: results are compared across years, so this must never change.
GOLDEN = "a31ee443d226b97f7b27e588897a107451d325cbc3f16a26b711e42ffa66e41f"
GOLDEN_FILES = "8a673224a0f2f0173be0cc507298ed82ddb4e3cab7c9c4f37ebc70ffac0d593d"


@cache
def drawn() -> dict[str, list[Example]]:
    return draw_examples(1, {**TOY_SIZES, "train": 1500})


def every() -> list[Example]:
    return [example for examples in drawn().values() for example in examples]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("toy")
    generate(1, SMALL, out)
    return out


def test_the_corpus_is_frozen() -> None:
    """All of valid and test, and the first quarter of train, as the configuration has them."""
    text = "\n".join(
        f"{split} {e.source} {e.target} {e.links} {e.references} {e.tree.count}"
        for split, examples in drawn().items()
        for e in examples
    )
    assert hashlib.sha256(text.encode()).hexdigest() == GOLDEN


def test_the_files_are_frozen(folder: Path) -> None:
    names = sorted(path.name for path in folder.iterdir())
    assert names == [
        "test.de.gz",
        "test.en.gz",
        "test.links.gz",
        "test.references.jsonl.gz",
        "train.de.gz",
        "train.en.gz",
        "train.links.gz",
        "valid.de.gz",
        "valid.en.gz",
        "valid.links.gz",
        "valid.references.jsonl.gz",
    ]
    text = "\n".join(line for name in names for line in read_lines(folder / name))
    assert hashlib.sha256(text.encode()).hexdigest() == GOLDEN_FILES


def test_another_seed_gives_another_corpus() -> None:
    sizes = {"test": 20}
    assert [e.source for e in draw_examples(1, sizes)["test"]] != [
        e.source for e in draw_examples(2, sizes)["test"]
    ]


def test_the_other_splits_do_not_depend_on_train() -> None:
    alone = draw_examples(1, {split: size for split, size in TOY_SIZES.items() if split != "train"})
    for split in ("valid", "test"):
        assert [e.source for e in alone[split]] == [e.source for e in drawn()[split]]
        assert [e.references for e in alone[split]] == [e.references for e in drawn()[split]]


def test_files_hold_what_was_drawn(folder: Path) -> None:
    splits = draw_examples(1, SMALL)
    for split, size in SMALL.items():
        pairs = list(read_pairs(folder / f"{split}.en.gz", folder / f"{split}.de.gz"))
        assert pairs == [(join_words(e.source), join_words(e.target)) for e in splits[split]]
        links = list(read_links(folder / f"{split}.links.gz"))
        assert links == [list(example.links) for example in splits[split]]
        assert len(pairs) == len(links) == size


def test_lengths() -> None:
    lengths = [len(example.source) for example in every()]
    assert min(lengths) == 3
    assert 30 < max(lengths) <= 40
    assert 11 < mean(lengths) < 12.5
    assert len(set(lengths)) > 30


def test_sources_of_the_held_out_splits_are_new_everywhere() -> None:
    sources = {split: [e.source for e in examples] for split, examples in drawn().items()}
    for split in ("valid", "test"):
        assert len(set(sources[split])) == len(sources[split])
    assert not set(sources["valid"]) & set(sources["test"])
    assert not set(sources["train"]) & {*sources["valid"], *sources["test"]}


def test_train_repeats_a_source_rarely_and_a_pair_never() -> None:
    train = drawn()["train"]
    assert max(Counter(example.source for example in train).values()) <= 3
    assert len({(example.source, example.target) for example in train}) == len(train)


def test_references(folder: Path) -> None:
    capped = 0
    for split in ("valid", "test"):
        targets = read_lines(folder / f"{split}.de.gz")
        rows = read_references(folder / f"{split}.references.jsonl.gz")
        for target, row, example in zip(targets, rows, draw_examples(1, SMALL)[split], strict=True):
            assert row.references[0] == target
            assert len(set(row.references)) == len(row.references) == min(row.count, 64)
            assert row.count == example.tree.count
            assert all(example.is_right(text) for text in row.references)
            assert not example.is_right(target.replace(" ", " nicht ", 1))
            capped += row.count > 64
    assert capped


def test_references_of_a_capped_line_differ_in_more_than_their_end() -> None:
    """They are drawn from all translations, not the first 64 in order."""
    long = [e for split in ("valid", "test") for e in drawn()[split] if e.tree.count > 150]
    assert long
    for example in long:
        half = min(len(text) for text in example.references) // 2
        assert len({text[:half] for text in example.references}) > 1


def test_several_translations_are_right() -> None:
    counts = [example.tree.count for example in every()]
    assert mean(count >= 2 for count in counts) > 0.85
    assert median(counts) >= 4
    assert mean(counts) > 15


def test_links_are_inside_and_every_word_has_one() -> None:
    for example in every():
        assert list(example.links) == sorted(set(example.links))
        linked = [{i for i, _ in example.links}, {j for _, j in example.links}]
        for words, found in zip((example.source, example.target), linked, strict=True):
            assert found <= set(range(len(words)))
            unlinked = {words[i] for i in set(range(len(words))) - found}
            assert unlinked <= {","}  # English and German set their commas differently


def test_links_join_words_that_mean_the_same() -> None:
    meant = {
        "Yesterday": "Gestern",
        "Berlin": "Berlin",
        "mother": "Mutter",
        "because": ("weil", "da"),
    }
    meant |= {
        "garden": "Garten",
        "book": "Buch",
        ".": ".",
        "not": ("nicht", "kein"),
        "woman": "Frau",
    }
    checked = Counter[str]()
    for example in every():
        for i, j in example.links:
            source, target = example.source[i], example.target[j]
            if source in meant:
                words = meant[source] if isinstance(meant[source], tuple) else (meant[source],)
                assert target.capitalize().startswith(tuple(w.capitalize() for w in words)), example
                checked[source] += 1
    assert set(checked) == set(meant)


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_words_are_those_of_the_tokeniser(language: str) -> None:
    tokenise = tokeniser(language).tokenise
    for example in every():
        words = example.source if language == "en" else example.target
        assert tokenise(join_words(words)) == " ".join(words)
        assert split_words(join_words(words)) == list(words)


def test_text_looks_natural() -> None:
    for example in every():
        for words in (example.source, example.target):
            text = join_words(words)
            assert text[0].isupper()
            assert re.fullmatch(r"[\w',.?! ]+[.?!]", text)
            assert not re.search(r" [,.?!]|,[.?!,]|  | '", text), text


def test_vocabulary() -> None:
    sources = Counter(word for example in every() for word in example.source)
    targets = Counter(word for example in every() for word in example.target)
    assert 450 < len(sources) < 650
    assert 900 < len(targets) < 1400


def test_the_default_sizes() -> None:
    assert dict(TOY_SIZES) == {"train": 6000, "valid": 300, "test": 300}


def test_a_broken_line_of_links(tmp_path: Path) -> None:
    path = tmp_path / "train.links.gz"
    write_lines(path, ["0-0 1-1", "0-0 1"])
    with pytest.raises(UserError, match=r"train.links.gz, line 2: not a link"):
        list(read_links(path))


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[]",
        "{}",
        '{"references": [], "count": 0}',
        '{"references": ["a"], "count": "1"}',
        '{"references": [1], "count": 1}',
        '{"references": "a", "count": 1}',
    ],
)
def test_a_broken_line_of_references(tmp_path: Path, line: str) -> None:
    path = tmp_path / "test.references.jsonl.gz"
    write_lines(path, [json.dumps({"references": ["Ja."], "count": 1}), line])
    rows = read_references(path)
    assert next(rows) == References(["Ja."], 1)
    with pytest.raises(UserError, match=r"test.references.jsonl.gz, line 2: must be an object"):
        next(rows)


def test_the_share_of_right_translations_counts_unlisted_ones() -> None:
    examples = draw_examples(1, {name: TOY_SIZES[name] for name in ("valid", "test")})["test"]
    texts = [join_words(example.target) for example in examples]
    assert share_right(1, "test", texts) == 1
    many = next(i for i, example in enumerate(examples) if example.tree.count > 64)
    every = (nth(examples[many].tree, number) for number in range(examples[many].tree.count))
    said = (tuple(word.text for word in finish(words)) for words in every)
    texts[many] = join_words(
        next(words for words in said if words not in examples[many].references)
    )
    texts[many - 1] = "Falsch."
    assert share_right(1, "test", texts) == 1 - 1 / len(examples)
