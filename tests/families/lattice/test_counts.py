from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings

from fastdecode.errors import UserError
from fastdecode.families.lattice import counts as module
from fastdecode.families.lattice.counts import FURTHEST, LONGEST, OFFSETS, UNIT, Counts
from tests.families.lattice.conftest import UNHEARD, WORDS, Corpus, corpora


def triples(counts: Counts) -> dict[tuple[int, int, int], float]:
    """Return the weight of (x, r, y)."""
    found = {}
    for key, weight in zip(counts.triples.tolist(), counts.weights.tolist(), strict=True):
        row, y = divmod(key, len(WORDS))
        found[row // OFFSETS, row % OFFSETS - FURTHEST, y] = weight / UNIT
    return found


def test_by_hand(small: Corpus) -> None:
    counts = small.count()
    assert triples(counts) == {
        (4, 0, 6): 1.5,
        (5, 0, 7): 1,
        (5, 1, 7): 1,
        (4, -1, 6): 1,
        (5, 1, 6): 0.5,
        (4, 0, 7): 1,
    }
    assert (counts.positions[2] / UNIT).tolist() == [[[1, 1, 0], [1, 1, 0], [0, 0, 0]]][0]
    assert (counts.positions[3] / UNIT).tolist() == [[0.5, 0.5, 0], [0, 0, 0], [0, 0, 1]]
    assert counts.words[4:9].tolist() == [0, 0, 3, 3, 1]
    assert counts.lengths.predict(2) == 2
    assert counts.totals == {
        "pairs": 3,
        "source_tokens": 7,
        "target_tokens": 7,
        "links": 7,
        "unlinked": 1,
        "unknown_targets": 0,
    }


@given(corpora)
@settings(max_examples=50)
def test_every_linked_word_weighs_one(corpus: Corpus) -> None:
    counts = corpus.count()
    linked = [(target[j], j) for _, target, links in corpus.pairs for j in {j for _, j in links}]
    assert sum(triples(counts).values()) == pytest.approx(sum(y != UNHEARD for y, _ in linked))
    assert counts.positions.sum() == counts.relative.sum() == pytest.approx(UNIT * len(linked))
    slots = Counter(j for _, j in linked)
    by_slot = counts.positions.sum((0, 2)) / UNIT
    assert by_slot.tolist() == [pytest.approx(slots[t]) for t in range(len(by_slot))]


@given(corpora)
@settings(max_examples=50)
def test_the_size_of_chunks_changes_no_bit(corpus: Corpus) -> None:
    whole, split = corpus.count(), corpus.count(chunk=1)
    for name in ("triples", "weights", "positions", "relative", "words"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(split, name), strict=True)
    assert (whole.lengths, whole.totals) == (split.lengths, split.totals)


def test_a_pair_with_an_empty_side_counts_for_nothing(small: Corpus) -> None:
    """As of a source too long for the teacher: no outlier among the lengths, no link."""
    gaps = [([4] * 40, [], []), *small.pairs, ([], [6], []), ([], [], [])]
    whole, found = small.count(), Corpus(gaps).count()
    assert found.lengths == whole.lengths
    assert triples(found) == triples(whole)


def test_keys_rise_and_differ(small: Corpus) -> None:
    assert (np.diff(small.count(chunk=1).triples) > 0).all()


def test_far_offsets_are_clipped() -> None:
    far = FURTHEST + 3
    line = [4] * far + [5]
    counts = Corpus([(line, [6], [(far, 0)]), ([4], line, [(0, far)])]).count()
    assert triples(counts) == {(5, FURTHEST, 6): 1, (4, -FURTHEST, 5): 1}


def test_a_word_that_the_dictionary_lacks() -> None:
    counts = Corpus([([UNHEARD, 4], [6, UNHEARD], [(0, 0), (1, 1)])]).count()
    assert triples(counts) == {(WORDS.index("<unk>"), 0, 6): 1}  # a source word, never a target
    assert counts.positions[2, 1, 1] == UNIT  # where it stands is known all the same
    assert counts.totals["unknown_targets"] == 1


def test_long_lines_count_by_relative_position_alone() -> None:
    long = [4] * (LONGEST + 1)
    wide = [6] * (LONGEST + 1)
    pairs = [(long, [6], [(0, 0)]), ([4], wide, [(0, LONGEST)]), ([4, 4], [6], [(1, 0)])]
    counts = Corpus(pairs).count()
    assert counts.positions.sum() == counts.positions[2, 0, 1] == UNIT  # the last pair alone
    assert counts.relative[0, 0] == counts.relative[-1, 0] == UNIT


def test_runs_of_any_size_are_merged(small: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    merged = []
    merge = module._merge
    monkeypatch.setattr(module, "_merge", lambda *runs: merged.append(runs) or merge(*runs))
    many = Corpus(small.pairs * 5)
    assert triples(many.count(chunk=1)) == {k: 5 * w for k, w in triples(small.count()).items()}
    assert merged


def test_a_text_without_links_is_refused() -> None:
    with pytest.raises(UserError, match="no links"):
        Corpus([([4], [4], [])]).count()
