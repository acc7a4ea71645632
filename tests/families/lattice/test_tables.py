import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastdecode.errors import UserError
from fastdecode.families.lattice import tables as module
from fastdecode.families.lattice.counts import BUCKETS, FURTHEST, OFFSETS
from fastdecode.families.lattice.lengths import read_lengths
from fastdecode.families.lattice.naive import NaiveTables
from fastdecode.families.lattice.tables import ALONE, ARRAYS, Tables, build, open_tables
from fastdecode.families.lattice.vocabulary import SPECIAL
from fastdecode.files import write_lines
from tests.families.lattice.conftest import WORDS, Corpus, corpora

UNSEEN = len(WORDS) - 1


def row(tables: Tables, x: int, column: int) -> tuple[list[int], list[float]]:
    start, length = tables.rows_start[x, column], tables.rows_length[x, column]
    entries = slice(start, start + length)
    return tables.ids[entries].tolist(), tables.probabilities[entries].tolist()


def rows(tables: Tables) -> dict[tuple[int, int], tuple[list[int], list[float]]]:
    return {(x, c): row(tables, x, c) for x in range(len(WORDS)) for c in range(OFFSETS + 1)}


@given(corpora)
@settings(max_examples=50)
def test_rows_sum_to_one_before_the_cut_and_to_no_more_after_it(corpus: Corpus) -> None:
    with TemporaryDirectory() as name:
        whole, cut = (corpus.tables(Path(name, str(kept)), kept=kept) for kept in (40, 2))
        for key, (ids, probabilities) in rows(whole).items():
            assert sum(probabilities) == pytest.approx(1, abs=1e-6)
            assert min(ids) >= len(SPECIAL)
            order = sorted(zip(ids, probabilities, strict=True), key=lambda e: (-e[1], e[0]))
            assert order == list(zip(ids, probabilities, strict=True))
            few = 128 if key[1] == ALONE else 2
            assert row(cut, *key) == (ids[:few], probabilities[:few])  # not renormalised


@given(corpora)
@settings(max_examples=50)
def test_rows_are_the_naive_ones(corpus: Corpus) -> None:
    naive = corpus.naive()
    with TemporaryDirectory() as name:
        for (x, column), (ids, probabilities) in rows(corpus.tables(Path(name, "t"))).items():
            if column < ALONE:
                want = naive.row(x, column - FURTHEST)
                assert ids == list(want)
                assert probabilities == pytest.approx(list(want.values()), rel=1e-6)


@given(corpora, st.integers(1, 30), st.integers(0, 70))
@settings(max_examples=50)
def test_positions_are_the_naive_ones_and_sum_to_one(corpus: Corpus, length: int, t: int) -> None:
    with TemporaryDirectory() as name:
        tables = corpus.tables(Path(name, "t"))
        positions = tables.positions(length, t + 1)
        assert positions.shape == (t + 1, length)
        np.testing.assert_allclose(positions.sum(1), 1, rtol=1e-6)
        np.testing.assert_allclose(positions[t], corpus.naive().prior(length, t), rtol=1e-6)


def test_by_hand(small: Corpus, tmp_path: Path) -> None:
    tables = small.tables(tmp_path / "t")
    assert row(tables, 4, FURTHEST) == ([6, 7], pytest.approx([0.6, 0.4]))
    assert row(tables, 5, FURTHEST + 1) == ([7, 6], pytest.approx([2 / 3, 1 / 3]))
    assert row(tables, 5, ALONE) == ([7, 6], pytest.approx([0.8, 0.2]))


def test_a_pair_never_seen_backs_off_to_its_word(small: Corpus, tmp_path: Path) -> None:
    tables = small.tables(tmp_path / "t", kept=1)
    assert row(tables, 5, FURTHEST - 1) == ([7], pytest.approx([0.8]))
    assert tables.header["kept_share"] == pytest.approx(4.5 / 6)


def test_a_word_never_seen_backs_off_to_the_frequent_ones(small: Corpus, tmp_path: Path) -> None:
    tables = small.tables(tmp_path / "t", kept=2)
    assert row(tables, UNSEEN, 0)[0] == [6, 7]
    ids, probabilities = row(tables, UNSEEN, ALONE)
    assert ids == [6, 7, 8]
    assert probabilities == pytest.approx([3 / 7, 3 / 7, 1 / 7])


def test_a_slot_never_seen_has_its_relative_position(tmp_path: Path) -> None:
    pairs = [([4] * 4, [6] * 4, [(3, 1)])] * 3 + [([4] * 4, [6] * 4, [(0, 1)])]
    tables = Corpus(pairs).tables(tmp_path / "t")
    # Slot 1 of 4 is slot 10 of 40; token 3 of 4 lies in the bucket that begins at 30 of 40.
    at, size = tables.positions(40, 11)[10], 40 // BUCKETS
    assert at[30 : 30 + size] == pytest.approx([0.75 / size] * size)
    assert at[:size] == pytest.approx([0.25 / size] * size)
    assert tables.positions(4, 3)[2] == pytest.approx([0.25] * 4)  # never seen at all


def test_the_prior_is_used_only_where_a_length_was_seen(small: Corpus, tmp_path: Path) -> None:
    positions = small.tables(tmp_path / "t").positions(2, 9)
    assert positions[:2].tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert positions[2].tolist() == small.naive().prior(2, 2)
    assert positions[8].tolist() == small.naive().prior(2, 8)


def test_tables_stay_on_disk(small: Corpus, tmp_path: Path) -> None:
    tables = small.tables(tmp_path / "t")
    assert all(isinstance(getattr(tables, name), np.memmap) for name in ARRAYS)


@pytest.mark.parametrize("side", ["source", "target"])
def test_tables_of_another_dictionary_are_refused(small: Corpus, tmp_path: Path, side: str) -> None:
    small.tables(tmp_path / "t")
    other = [*WORDS[:-2], WORDS[-1], WORDS[-2]]
    words = {"source": WORDS, "target": WORDS} | {side: other}
    with pytest.raises(UserError, match=f"/t: counted with another {side} dictionary"):
        open_tables(tmp_path / "t", words["source"], words["target"])


def test_unfinished_and_older_tables_are_refused(small: Corpus, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no lattice tables"):
        open_tables(tmp_path / "none", WORDS, WORDS)
    small.tables(tmp_path / "t")
    header = tmp_path / "t/tables.json"
    header.write_text(json.dumps(json.loads(header.read_text()) | {"format": 0}))
    with pytest.raises(UserError, match="of another version"):
        open_tables(tmp_path / "t", WORDS, WORDS)


@pytest.mark.parametrize("name", ARRAYS)
def test_damaged_tables_are_refused(small: Corpus, tmp_path: Path, name: str) -> None:
    small.tables(tmp_path / "t")
    path = tmp_path / f"t/{name}.npy"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(UserError, match="/t: damaged"):
        open_tables(tmp_path / "t", WORDS, WORDS)
    path.unlink()
    with pytest.raises(UserError, match="/t: damaged"):
        open_tables(tmp_path / "t", WORDS, WORDS)


def written(small: Corpus, folder: Path) -> tuple[Path, Path, Path, tuple[Path, Path]]:
    paths = small.write(folder)
    dictionary = folder / "dict.txt"
    write_lines(dictionary, (f"{word} 1" for word in WORDS[len(SPECIAL) :]))
    return *paths, (dictionary, dictionary)


def test_build(small: Corpus, tmp_path: Path) -> None:
    build(*written(small, tmp_path), tmp_path / "lattice", {"dataset": "x"})
    tables = open_tables(tmp_path / "lattice/tables", WORDS, WORDS)
    assert row(tables, 4, FURTHEST) == ([6, 7], pytest.approx([0.6, 0.4]))
    assert tables.header["provenance"] == {"dataset": "x"}
    assert tables.header["counted"]["links"] == 7
    assert read_lengths(tmp_path / "lattice/lengths.json").pairs == 3
    assert sorted(path.name for path in (tmp_path / "lattice").iterdir()) == [
        "lengths.json",
        "tables",
    ]
    with pytest.raises(UserError, match="is there already"):
        build(*written(small, tmp_path), tmp_path / "lattice", {})


def test_a_disturbed_build_leaves_nothing(
    small: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = written(small, tmp_path)
    before = sorted(tmp_path.rglob("*"))

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "write_lengths", fail)
    with pytest.raises(KeyboardInterrupt):
        build(*files, tmp_path / "lattice", {})
    assert sorted(tmp_path.rglob("*")) == before


def test_two_builds_write_the_same_bytes(small: Corpus, tmp_path: Path) -> None:
    for name in ("one", "other"):
        build(*written(small, tmp_path), tmp_path / name, {})
    for name in (
        *(f"tables/{array}.npy" for array in ARRAYS),
        "tables/tables.json",
        "lengths.json",
    ):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_naive_rows_are_cut_at_forty() -> None:
    many = NaiveTables([([4], [y], [(0, 0)]) for y in range(4, 60)], 60)
    assert list(many.row(4, 0)) == list(range(4, 44))
