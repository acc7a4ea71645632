"""How far words and edges of a lattice are behind its best path, against enumeration."""

from itertools import pairwise, product
from math import inf
from pathlib import Path

import pytest
import torch

from fastdecode.families.lattice.drawn import BEHIND, WORDS, behind, lattices
from fastdecode.families.lattice.viterbi import viterbi
from fastdecode.measure.statistic import Split
from tests.families.lattice.conftest import Corpus
from tests.families.lattice.test_statistics import system_of, tokens


@pytest.mark.parametrize(("slots", "k", "seed"), [(2, 3, 1), (3, 2, 2), (5, 3, 3)])
def test_behind_is_what_enumeration_finds(slots: int, k: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    first = torch.randn(k + 1, generator=generator, dtype=torch.float64)
    edges = torch.randn(slots - 1, k, k + 1, generator=generator, dtype=torch.float64)
    words = torch.full((slots - 1, k), inf, dtype=torch.float64)
    pairs = torch.full((slots - 2, k, k), inf, dtype=torch.float64)
    scores = {
        path: float(first[path[0]])
        + sum(float(edges[t, path[t], path[t + 1]]) for t in range(slots - 2))
        + float(edges[-1, path[-1], k])
        for path in product(range(k), repeat=slots - 1)
    }
    best = max(scores.values())
    for path, score in scores.items():
        for slot, word in enumerate(path):
            words[slot, word] = min(words[slot, word], best - score)
        for slot, (a, b) in enumerate(pairwise(path)):
            pairs[slot, a, b] = min(pairs[slot, a, b], best - score)
    found_words, found_pairs = behind(first, edges)
    torch.testing.assert_close(found_words, words)
    torch.testing.assert_close(found_pairs, pairs)
    length = torch.tensor([slots])
    selected = viterbi(first[None], edges[None], length, length).words[0]
    assert found_words.argmin(1).tolist() == selected.tolist()


def test_lattices_of_short_sentences(small: Corpus, tmp_path: Path) -> None:
    system = system_of(small, tmp_path)
    sources = [tokens(4), tokens(4, 5, 4, 5), tokens(5, 4, 4, 5, 4)]
    found = lattices(system, Split(sources, {"real": [tokens(6), *sources[1:]]}))
    assert [sentence["line"] for sentence in found["sentences"]] == [1, 2]  # the first is too short
    for sentence in found["sentences"]:
        slots, edges = sentence["slots"], sentence["edges"]
        assert len(sentence["selected"]) == len(slots) == len(edges) + 1
        for words, selected in zip(slots, sentence["selected"], strict=True):
            nats = [behind for _, behind in words]
            assert nats == sorted(nats) and nats[0] == 0 and nats[-1] <= BEHIND
            assert words[0][0] == selected and 0 < len(words) <= WORDS
        for pair, before, after in zip(edges, slots[:-1], slots[1:], strict=True):
            assert [0, 0, 0.0] in pair  # the path itself
            assert all(a < len(before) and b < len(after) for a, b, _ in pair)
