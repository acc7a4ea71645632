import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fastdecode.corpus.links import parse_links
from fastdecode.errors import UserError
from fastdecode.families.lattice import candidates as module
from fastdecode.families.lattice.candidates import Candidates
from fastdecode.families.lattice.counts import FURTHEST
from fastdecode.families.lattice.naive import NaiveTables
from fastdecode.families.lattice.tables import build, open_tables
from fastdecode.families.lattice.vocabulary import SPECIAL, Numbers, read_dictionary
from fastdecode.files import read_lines
from fastdecode.measure.recall import recalled
from tests.families.lattice.conftest import WORDS, Corpus, corpora
from tests.families.lattice.large import write_corpus

MOST = len(WORDS) - len(SPECIAL)  # words there are
sources = st.lists(st.integers(len(SPECIAL) - 1, len(WORDS) - 1), min_size=1, max_size=9)
sizes = st.integers(1, MOST)
slots = st.integers(1, 12)


@given(corpora, sources, slots, sizes)
@settings(max_examples=100)
def test_equal_to_the_naive_twin(corpus: Corpus, source: list[int], slots: int, k: int) -> None:
    ids, probabilities = corpus.candidates().single(source, slots, k)
    naive = corpus.naive()
    want = naive.candidates(source, slots, k)
    assert ids.tolist() == [[y for y, _ in slot] for slot in want]
    torch.testing.assert_close(
        probabilities, torch.tensor([[p for _, p in slot] for slot in want]), rtol=1e-6, atol=0
    )
    # What units of 2^-40 and single precision lose, nobody sees.
    for t, slot in enumerate(want):
        for y, p in slot:
            exact = sum(
                naive.row(x, s - t).get(y, 0.0) * weight
                for s, (x, weight) in enumerate(
                    zip(source, naive.prior(len(source), t), strict=True)
                )
            )
            assert p == pytest.approx(exact, abs=1e-6)


@given(corpora, st.lists(sources, min_size=1, max_size=5), slots, sizes)
@settings(max_examples=50)
def test_a_batch_is_its_sentences_one_by_one(
    corpus: Corpus, batch: list[list[int]], slots: int, k: int
) -> None:
    look_up = corpus.candidates()
    together = look_up.batch(batch, slots, k)
    assert together[0].shape == together[1].shape == (len(batch), slots, k)
    for number, source in enumerate(batch):
        alone = look_up.single(source, slots, k)
        assert torch.equal(alone[0], together[0][number])
        assert torch.equal(alone[1], together[1][number])


@given(corpora, st.lists(sources, min_size=1, max_size=5), slots, sizes, st.integers(1, 2000))
@settings(max_examples=50)
def test_any_number_of_sentences_at_a_time(
    corpus: Corpus, batch: list[list[int]], slots: int, k: int, cells: int
) -> None:
    look_up = corpus.candidates()
    whole = look_up.batch(batch, slots, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(module.CELLS, "cpu", cells)
        for one, other in zip(whole, look_up.batch(batch, slots, k), strict=True):
            assert torch.equal(one, other)


@given(corpora, sources, slots)
@settings(max_examples=50)
def test_candidates_are_sorted_and_different(corpus: Corpus, source: list[int], slots: int) -> None:
    ids, probabilities = corpus.candidates().single(source, slots, MOST)
    assert (probabilities[:, :-1] >= probabilities[:, 1:]).all()
    assert ids.sort().values.tolist() == [list(range(len(SPECIAL), len(WORDS)))] * slots
    assert probabilities.sum(1).tolist() == pytest.approx([1] * slots, abs=1e-6)  # no row is cut


@given(corpora, sources, slots, sizes, sizes)
@settings(max_examples=50)
def test_fewer_candidates_are_the_first_of_more(
    corpus: Corpus, source: list[int], slots: int, one: int, other: int
) -> None:
    look_up, (few, many) = corpus.candidates(), sorted((one, other))
    for less, more in zip(
        look_up.single(source, slots, few), look_up.single(source, slots, many), strict=True
    ):
        assert torch.equal(less, more[:, :few])


@given(corpora, sources, st.lists(st.integers(4, len(WORDS) - 1), min_size=1, max_size=9))
@settings(max_examples=50)
def test_recall_never_falls_with_more_candidates(
    corpus: Corpus, source: list[int], reference: list[int]
) -> None:
    ids, _ = corpus.candidates().single(source, len(reference), MOST)
    found = [recalled([ids[:, :k]], [reference])[0][0] for k in range(1, MOST + 1)]
    assert found == sorted(found)
    assert found[-1] == len(reference)


def test_ties_and_filling_go_by_frequency_then_number() -> None:
    tied = Corpus([([4], [6], [(0, 0)]), ([4], [5], [(0, 0)]), ([5], [7, 8, 8, 5], [])])
    ids, probabilities = tied.candidates().single([4], 1, 6)
    assert ids.tolist() == [[5, 6, 8, 7, 4, 9]]  # 5 occurs twice; then 8 twice, 7 once, the rest
    assert probabilities.tolist() == [[0.5, 0.5, 0, 0, 0, 0]]


def test_every_slot_knows_where_it_is() -> None:
    straight = Corpus([([4, 5], [6, 7], [(0, 0), (1, 1)])] * 3)
    ids, probabilities = straight.candidates().single([4, 5], 2, 1)
    assert ids.tolist() == [[6], [7]]
    assert probabilities.tolist() == [[1], [1]]
    ids, _ = straight.candidates().single([5, 4], 2, 1)
    assert ids.tolist() == [[7], [6]]


def test_beyond_what_was_counted(small: Corpus) -> None:
    look_up, naive = small.candidates(), small.naive()
    for source, slots in (([4, 5], 60), ([4, 5] * 30, 2), ([4, 5] * 30, 70)):
        ids, _ = look_up.single(source, slots, 3)
        assert ids.tolist() == [[y for y, _ in s] for s in naive.candidates(source, slots, 3)]
    together, _ = look_up.batch([[4], [4, 5] * 30], 70, 3)
    assert torch.equal(together[0], look_up.single([4], 70, 3)[0])


def test_more_candidates_than_words_are_refused(small: Corpus) -> None:
    look_up = small.candidates()
    for ask in (
        lambda: look_up.single([4], 2, MOST + 1),
        lambda: look_up.batch([[4]], 2, MOST + 1),
        lambda: look_up.shared_candidates([4], MOST + 1),
    ):
        with pytest.raises(UserError, match=f"K = {MOST + 1}: the dictionary has {MOST} words"):
            ask()
    with pytest.raises(UserError, match="K = 129: the tables keep 128 words"):
        look_up.shared_union([4], 129)


# The shared vocabulary


@given(corpora, sources, sizes)
@settings(max_examples=50)
def test_the_shared_vocabulary(corpus: Corpus, source: list[int], k: int) -> None:
    look_up, naive = corpus.candidates(), corpus.naive()
    # An offset that no link can have gives P(y | x): naive.row then backs off.
    rows = [naive.row(x, FURTHEST) for x in source]
    sums = {y: sum(row.get(y, 0) for row in rows) for y in range(len(SPECIAL), len(WORDS))}
    chosen = look_up.shared_candidates(source, k).tolist()
    assert len(set(chosen)) == k
    others = [sums[y] for y in sums if y not in chosen]
    assert min(sums[y] for y in chosen) >= max(others, default=0) - 1e-6
    assert [sums[y] for y in chosen] == pytest.approx(
        sorted((sums[y] for y in chosen), reverse=True), abs=1e-6
    )
    union = {y for row in rows for y in list(row)[:k]}
    assert look_up.shared_union(source, k).tolist() == sorted(union)


def test_the_shared_vocabulary_ignores_positions() -> None:
    corpus = Corpus([([4, 5], [6, 7], [(0, 0), (1, 1)]), ([9, 4], [8], [(1, 0)])])
    look_up = corpus.candidates()
    assert look_up.shared_candidates([4, 5], 3).tolist() == [7, 6, 8]
    assert look_up.shared_candidates([5, 4], 3).tolist() == [7, 6, 8]
    assert look_up.shared_candidates([5] * 10, 1).tolist() == [7]  # sums of any size
    assert look_up.shared_union([4], 1).tolist() == [6]
    assert look_up.shared_union([4], 2).tolist() == [6, 8]


# A corpus like a real one


@pytest.fixture(scope="module")
def real_like(tmp_path_factory: pytest.TempPathFactory) -> tuple[Candidates, NaiveTables]:
    folder = tmp_path_factory.mktemp("corpus")
    source, target, links, *dictionaries = write_corpus(folder, pairs=400, words=300)
    build(source, target, links, (dictionaries[0], dictionaries[1]), folder / "lattice", {})
    words = [read_dictionary(path) for path in dictionaries]
    sides = [
        [[Numbers(known)[word] for word in line.split()] for line in read_lines(path)]
        for path, known in zip((source, target), words, strict=True)
    ]
    naive = NaiveTables(
        zip(*sides, map(parse_links, read_lines(links)), strict=True), len(words[1])
    )
    return Candidates(open_tables(folder / "lattice/tables", *words)), naive


@pytest.mark.parametrize("length", [1, 7, 28, 130])
def test_equal_to_the_naive_twin_on_long_rows(
    real_like: tuple[Candidates, NaiveTables], length: int
) -> None:
    look_up, naive = real_like
    source = [4 + number**2 % 290 for number in range(length)]
    ids, probabilities = look_up.single(source, 12, 64)
    want = naive.candidates(source, 12, 64)
    assert ids.tolist() == [[y for y, _ in slot] for slot in want]
    assert probabilities.flatten().tolist() == pytest.approx(
        [p for slot in want for _, p in slot], abs=1e-6
    )


def test_equal_on_a_gpu(real_like: tuple[Candidates, NaiveTables]) -> None:
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    look_up, _ = real_like
    batch = [[4, 5, 6], [7], list(range(4, 60))]
    ours, theirs = (
        look_up.batch(batch, 30, 64),
        Candidates(look_up._tables, "cuda").batch(batch, 30, 64),
    )
    for one, other in zip(ours, theirs, strict=True):
        assert torch.equal(one, other.cpu())
