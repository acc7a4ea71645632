import math
import random
import struct
from pathlib import Path

import numpy as np
import pytest
import systran_align

from fastdecode.corpus.lexicon import EMPTY, P0, UNSEEN, Lexicon
from fastdecode.corpus.links import grow_diag_final_and
from fastdecode.errors import UserError
from fastdecode.files import write_lines

Table = dict[str, dict[str, float]]

TABLE: Table = {
    EMPTY: {"x": 0.2, "z": 0.5},
    "a": {"y": 0.3, "x": 0.6},
    "b": {"x": 0.5, "y": 0.7},
}


def write(path: Path, table: Table) -> Path:
    """Write a table as systran-align does."""
    words = sorted({*table, *(word for row in table.values() for word in row)})
    number = {word: index for index, word in enumerate(words, 1)}
    data = struct.pack("<2i", 2, len(words))
    data += b"".join(word.encode() + b"\0" for word in words) + struct.pack("<i", 0)
    for source in sorted(table, key=lambda word: number[word]):
        data += struct.pack("<2i", number[source], len(table[source]))
        for word, probability in table[source].items():
            data += struct.pack("<if", number[word], probability)
    path.write_bytes(data)
    return path


def best_links(
    table: Table, source: list[str], target: list[str], tension: float
) -> list[tuple[int, int]]:
    """The definition, in its simplest form."""
    n, m = len(source), len(target)
    links = []
    for j in range(1, m + 1):
        weight = [math.exp(-tension * abs(i / n - j / m)) for i in range(1, n + 1)]
        scores = {0: P0 * table[EMPTY].get(target[j - 1], UNSEEN)}
        for i in range(1, n + 1):
            p = table.get(source[i - 1], {}).get(target[j - 1], UNSEEN)
            scores[i] = (1 - P0) * weight[i - 1] / sum(weight) * p
        best = max(scores, key=lambda i: scores[i])
        if best > 0:
            links.append((best - 1, j - 1))
    return links


def test_probabilities(tmp_path: Path) -> None:
    lexicon = Lexicon(write(tmp_path / "table", TABLE), 4.0)
    found = lexicon.probabilities(["b", "unseen", "a"], ["y", "z", "unseen"])
    expected = [[0.7, UNSEEN, UNSEEN], [UNSEEN, UNSEEN, UNSEEN], [0.3, UNSEEN, UNSEEN]]
    assert found == pytest.approx(np.array(expected))


def test_links_are_those_of_the_definition(tmp_path: Path) -> None:
    draw = random.Random(1)
    words, others = list("abcdefg"), list("stuvwxyz")
    table = {
        word: {other: draw.random() for other in others if draw.random() < 0.6}
        for word in (EMPTY, *words)
    }
    path = write(tmp_path / "table", table)
    for _ in range(200):
        source = draw.sample([*words, "unseen"], k=draw.randint(1, 7))  # each once: no ties
        target = draw.choices(others, k=draw.randint(1, 7))
        tension = draw.choice([0.5, 4.0, 12.0])
        found = Lexicon(path, tension).links(source, target)
        assert found == best_links(table, source, target, tension)


@pytest.mark.parametrize(("p", "links"), [(0.086, []), (0.088, [(0, 0)])])
def test_the_empty_word_takes_what_it_explains_better(
    tmp_path: Path, p: float, links: list[tuple[int, int]]
) -> None:
    path = write(tmp_path / "table", {EMPTY: {"x": 1.0}, "a": {"x": p}})
    assert Lexicon(path, 4.0).links(["a"], ["x"]) == links  # equal at (1 - 0.08) p = 0.08


def test_a_higher_tension_prefers_the_diagonal(tmp_path: Path) -> None:
    path = write(tmp_path / "table", TABLE)
    source, target = ["b", "a", "a", "a"], ["q", "q", "q", "y"]
    assert Lexicon(path, 0.1).links(source, target)[-1] == (0, 3)
    assert Lexicon(path, 12.0).links(source, target)[-1] == (3, 3)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Probability files that systran-align writes for a text in which every word has one sense."""
    folder = tmp_path_factory.mktemp("fitted")
    draw = random.Random(2)
    lines = []
    for _ in range(150):
        words = draw.choices(range(25), k=draw.randint(2, 9))
        swapped = [*words[1:], words[0]] if draw.random() < 0.3 else words
        lines.append(f"{' '.join(f's{w}' for w in words)} ||| {' '.join(f't{w}' for w in swapped)}")
    write_lines(folder / "text", lines)
    systran_align.generate_alignment_probabilities(
        *(str(folder / name) for name in ("text", "forward", "backward")),
        favor_diagonal=True,
        variational_bayes=True,
    )
    return folder


@pytest.mark.parametrize(("name", "one", "other"), [("forward", "s", "t"), ("backward", "t", "s")])
def test_reads_what_systran_writes(fitted: Path, name: str, one: str, other: str) -> None:
    words = [[f"{side}{number}" for number in range(25)] for side in (one, other)]
    found = Lexicon(fitted / name, 4.0).probabilities(*words)
    assert found.argmax(axis=1).tolist() == list(range(25))
    assert found.sum(axis=1).max() <= 1.0001


def test_agrees_with_systrans_own_links(fitted: Path) -> None:
    aligner = systran_align.Aligner(str(fitted / "forward"), str(fitted / "backward"))
    # Its Aligner always takes a tension of 4.
    forward, backward = (Lexicon(fitted / name, 4.0) for name in ("forward", "backward"))
    for line in (fitted / "text").read_text().splitlines():
        source, target = (side.split() for side in line.split(" ||| "))
        there = forward.links(source, target)
        back = [(i, j) for j, i in backward.links(target, source)]
        assert grow_diag_final_and(there, back) == sorted(
            aligner.align(source, target)["alignments"]
        )


def test_another_version_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "table").write_bytes(b"\3\0\0\0\0\0\0\0")
    with pytest.raises(UserError, match=r"version 3 .* expected 2"):
        Lexicon(tmp_path / "table", 4.0)
