"""Recall and ranks on lattices of hand-made tables, and against naive twins."""

from collections import Counter
from pathlib import Path

import pytest
import torch
from fairseq.data import Dictionary
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from fastdecode.config.models import Architecture
from fastdecode.families.lattice import statistics
from fastdecode.families.lattice.model import LatticeModel
from fastdecode.families.lattice.sentence import candidates_of
from fastdecode.families.lattice.statistics import ranks, recall, selected_ranks
from fastdecode.families.lattice.tables import build
from fastdecode.families.lattice.vocabulary import SPECIAL
from fastdecode.files import write_lines
from fastdecode.measure.statistic import Split
from fastdecode.measure.untrained import untrained_system
from fastdecode.system import System
from tests.families.lattice.conftest import WORDS, Corpus


def system_of(corpus: Corpus, folder: Path) -> System:
    """A random model in fp64 over WORDS with the tables of `corpus`."""
    dictionary = folder / "dict.txt"
    write_lines(dictionary, (f"{word} 1" for word in WORDS[len(SPECIAL) :]))
    build(*corpus.write(folder), (dictionary, dictionary), folder / "assets", {})
    words = Dictionary.load(str(dictionary))
    size = Architecture(width=16, ffn=24, heads=2, encoder_layers=1, decoder_layers=1)
    random = untrained_system(size, len(words), precision="fp64", kind=LatticeModel, orders=3)
    return System(random.models, words, words, assets=folder / "assets")


def tokens(*numbers: int) -> list[str]:
    return [WORDS[number] for number in numbers]


# Recall


@pytest.fixture
def straight(tmp_path: Path) -> System:
    """Word by word 4 to 6 and 5 to 7, but 5 once to 9."""
    pair = ([4, 5], [6, 7], [(0, 0), (1, 1)])
    other = ([4, 4, 4, 5], [6, 6, 6, 9], [(0, 0), (3, 3)])
    return system_of(Corpus([pair, pair, other]), tmp_path)


def test_recall_by_hand(straight: System) -> None:
    split = Split(
        [tokens(4, 5), tokens(5, 4)],
        {"real": [tokens(6, 7), tokens(7, 7)], "teacher": [tokens(7), tokens(9)]},
    )
    found = recall(straight, split)
    points = {
        (point["references"], point["candidates"], point["k"]): (point["recall"], point["size"])
        for point in found["points"]
    }
    assert {k for _, _, k in points} == {1, 2, 4, 8}  # of 8 words
    # Slot t looks at word t: 6, 7 for the first source and 7, 6 for the second.
    assert points["real", "counts", 1] == (3 / 4, 1)
    assert points["teacher", "counts", 1] == (0, 1)
    # Behind 6 the slot is filled up with 7, the most frequent word; behind 7 there is 9.
    assert points["teacher", "counts", 2] == (1, 2)
    # Over all positions 4 is 6 (1) and 5 is 7 (2/3) or 9 (1/3), whatever the slot.
    assert points["real", "shared", 1] == (1 / 4, 1)
    assert points["real", "shared", 2] == (1, 2)
    assert points["teacher", "shared", 2] == (1 / 2, 2)
    assert points["real", "union", 1] == (1, 2)
    assert points["teacher", "union", 2] == (1, 3)
    assert points["real", "counts", 8] == points["real", "shared", 8] == (1, 8)


def test_recall_of_the_naive_tables(small: Corpus, tmp_path: Path) -> None:
    sources, references = [[4, 5], [5, 4, 4], [4]], [[7, 6], [6, 8, 7, 9], [6]]
    split = Split([tokens(*s) for s in sources], {"real": [tokens(*r) for r in references]})
    naive = small.naive()
    for point in recall(system_of(small, tmp_path), split)["points"]:
        if point["candidates"] != "counts":
            continue
        hits = sum(
            word in {y for y, _ in slot}
            for source, reference in zip(sources, references, strict=True)
            for word, slot in zip(
                reference, naive.candidates(source, len(reference), point["k"]), strict=True
            )
        )
        assert point["recall"] == hits / 7


# Ranks


@st.composite
def lattices(draw: st.DrawFn) -> tuple[Tensor, Tensor, Tensor]:
    """Draw small whole scores, which tie, and any words as if they were selected."""
    slots, k = draw(st.integers(2, 6)), draw(st.integers(1, 4))
    count = (k + 1) + (slots - 1) * k * (k + 1)
    scores = torch.tensor(draw(st.lists(st.integers(-3, 3), min_size=count, max_size=count)))
    selected = draw(st.lists(st.integers(0, k - 1), min_size=slots - 1, max_size=slots - 1))
    edges = scores[k + 1 :].view(slots - 1, k, k + 1)
    return scores[: k + 1].double(), edges.double(), torch.tensor(selected)


def naive_ranks(first: Tensor, edges: Tensor, selected: list[int]) -> dict[str, list[int]]:
    """Sort the candidates of every slot by the two readings and look for the selected one."""
    k = edges.shape[1]
    found: dict[str, list[int]] = {"given_previous": [], "best_edge": []}
    for slot, word in enumerate(selected):
        if slot == 0:
            scores = {reading: [float(first[j]) for j in range(k)] for reading in found}
        else:
            step = edges[slot - 1].tolist()
            scores = {
                "given_previous": [step[selected[slot - 1]][j] for j in range(k)],
                "best_edge": [max(step[i][j] for i in range(k)) for j in range(k)],
            }
        for reading, values in scores.items():
            found[reading].append(1 + sorted(values, reverse=True).index(values[word]))
    return found


@given(lattices())
@settings(max_examples=100)
def test_ranks_equal_to_the_naive_twin(lattice: tuple[Tensor, Tensor, Tensor]) -> None:
    first, edges, selected = lattice
    found = {reading: values.tolist() for reading, values in selected_ranks(*lattice).items()}
    assert found == naive_ranks(first, edges, selected.tolist())


def test_ranks_of_a_lattice_by_hand() -> None:
    first = torch.tensor([-1.0, -2.0, -9.0])
    edges = torch.tensor(
        [[[-5.0, -6.0, -7.0], [-1.0, -3.0, -4.0]], [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]
    )  # two words, two slots, then `</s>`
    found = selected_ranks(first, edges, torch.tensor([0, 1]))
    assert {reading: values.tolist() for reading, values in found.items()} == {
        "given_previous": [1, 2],  # -6 behind the selected word 0, where -5 is better
        "best_edge": [1, 2],  # -3 at best, where -1 is better
    }
    edges[0, 1, 1] = 0.0
    assert selected_ranks(first, edges, torch.tensor([0, 1]))["best_edge"].tolist() == [1, 1]


def test_ranks_are_those_of_the_words_that_the_decoder_writes(
    small: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = system_of(small, tmp_path)
    sources = [tokens(4, 5), tokens(5, 4, 6, 4), tokens(7), [], tokens(5, 5, 5)]
    seen: list[tuple[Tensor, Tensor, list[str]]] = []
    table = candidates_of(system)

    def watched(first: Tensor, edges: Tensor, selected: Tensor) -> dict[str, Tensor]:
        seen.append((first, edges, selected.tolist()))
        return selected_ranks(first, edges, selected)

    monkeypatch.setattr(statistics, "CANDIDATES", 5)
    monkeypatch.setattr(statistics, "selected_ranks", watched)
    found = ranks(system, Split(sources, {}))
    assert found["settings"] == {"k": 5, "delta": 0, "normalise": "vocabulary"}
    assert (found["lines"], found["left_out"]) == (4, 1)

    decode = system.decoder("lattice", {"k": 5, "delta": 0}, " ".join)
    filled = [source for source in sources if source]
    expected: dict[str, Counter[int]] = {"given_previous": Counter(), "best_edge": Counter()}
    firsts: dict[str, list[tuple[int, int]]] = {reading: [] for reading in expected}
    for source, (first, edges, selected) in zip(filled, seen, strict=True):
        (written,) = decode([source])
        ids = [system.source.index(token) for token in source]
        candidates, _ = table.single(ids, len(selected), 5)
        words = [int(candidates[slot, word]) for slot, word in enumerate(selected)]
        assert written.tokens == [system.target[word] for word in words]
        for reading, values in naive_ranks(first, edges, selected).items():
            expected[reading].update(values)
            firsts[reading].append((values.count(1), len(values)))
    assert found["tokens"] == sum(map(len, (selected for *_, selected in seen)))
    for reading, counts in expected.items():
        measured = found["readings"][reading]
        assert measured["counts"] == [counts[rank] for rank in range(1, 6)]
        assert measured["first"] == counts[1] / found["tokens"]
        assert sum(measured["counts"]) == found["tokens"]
        firsts[reading].insert(sources.index([]), (0, 0))
        assert found["by_line"][f"{reading}/1"] == firsts[reading]
    assert len(expected["best_edge"]) > 1


def test_no_more_candidates_than_there_are_words(small: Corpus, tmp_path: Path) -> None:
    found = ranks(system_of(small, tmp_path), Split([tokens(4, 5)], {}))
    assert found["settings"]["k"] == len(WORDS) - len(SPECIAL)
