"""Viterbi search of the lattice: serial, as a scan, and naive, against enumeration."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from math import inf, isfinite, nan

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from fastdecode.families.lattice import naive_search, scan
from fastdecode.families.lattice.paths import Paths, follow, follow_by_doubling
from fastdecode.families.lattice.scan import scan as run_scan
from fastdecode.families.lattice.viterbi import viterbi

Search = Callable[[Tensor, Tensor, Tensor, Tensor], Paths]
Words = tuple[int, ...]

SEARCHES = pytest.mark.parametrize("search", [viterbi, run_scan])
TRACES = pytest.mark.parametrize("trace", [follow, follow_by_doubling])


@dataclass(frozen=True)
class Lattice:
    """Some sentences; what none of them has a use for is NaN."""

    first: Tensor
    edges: Tensor
    shortest: Tensor
    longest: Tensor

    def parts(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        return self.first, self.edges, self.shortest, self.longest

    def sentence(self, i: int) -> "Lattice":
        """One sentence alone, in a lattice of its own size."""
        slots = int(self.longest[i])
        one = slice(i, i + 1)
        edges = self.edges[one, : slots - 1].clone()
        return Lattice(self.first[one], edges, self.shortest[one], self.longest[one])

    def best(self) -> list[tuple[Words, float]]:
        """The best path of every sentence, by trying all; every tie by the rule."""
        return [
            max(
                ((path, self.score(i, path)) for path in self.outputs(i)),
                key=lambda found: (found[1], -len(found[0]), [-word for word in found[0][::-1]]),
            )
            for i in range(len(self.first))
        ]

    def outputs(self, i: int) -> list[Words]:
        candidates = range(self.edges.shape[2])
        lengths = range(int(self.shortest[i]), int(self.longest[i]) + 1)
        return [words for n in lengths for words in product(candidates, repeat=n - 1)]

    def score(self, i: int, words: Words) -> float:
        states = [*words, self.edges.shape[2]]
        steps = (self.edges[i, t, states[t], states[t + 1]] for t in range(len(words)))
        return sum(map(float, steps), float(self.first[i, states[0]]))


def lattice(
    generator: torch.Generator, lengths: list[tuple[int, int]], words: int, whole: bool
) -> Lattice:
    """Random sentences of these (Tmin, Tmax); `whole` draws small numbers, which tie, and -inf."""
    shortest, longest = torch.tensor(lengths).T
    slots = int(longest.max()) + 1  # one that nobody needs

    def draw(*size: int) -> Tensor:
        if not whole:
            return torch.randn(*size, generator=generator, dtype=torch.float64)
        numbers = torch.randint(-3, 2, size, generator=generator).double()
        return numbers.masked_fill(numbers == -3, -inf)

    first, edges = draw(len(lengths), words + 1), draw(len(lengths), slots - 1, words, words + 1)
    for i, (least, most) in enumerate(lengths):
        if least > 1:
            first[i, words] = nan
        if most == 1:
            first[i, :words] = nan
        edges[i, : max(0, least - 2), :, words] = nan
        edges[i, max(0, most - 2) :, :, :words] = nan
        edges[i, max(0, most - 1) :] = nan
    return Lattice(first, edges, shortest, longest)


@st.composite
def lattices(draw: st.DrawFn, slots: int = 5, words: int = 3) -> Lattice:
    """Up to four sentences, small enough to try all their paths."""
    ends = st.integers(1, slots)
    spans = st.tuples(ends, ends).map(lambda span: (min(span), max(span)))
    lengths = draw(st.lists(spans, min_size=1, max_size=4))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 99999)))
    return lattice(generator, lengths, draw(st.integers(1, words)), draw(st.booleans()))


def outcome(paths: Paths) -> list[tuple[Words, float]]:
    """Words and scores; no words where there is no path."""
    return [(tuple(words) if isfinite(s) else (), s) for words, s in paths.to_lists()]


def assert_same(some: list[tuple[Words, float]], others: list[tuple[Words, float]]) -> None:
    assert [words for words, _ in some] == [words for words, _ in others]
    assert [s for _, s in some] == pytest.approx([s for _, s in others], abs=1e-9)


@SEARCHES
@settings(max_examples=150)
@given(drawn=lattices())
def test_the_best_of_all_paths_is_found(search: Search, drawn: Lattice) -> None:
    expected = [(words if isfinite(s) else (), s) for words, s in drawn.best()]
    assert_same(outcome(search(*drawn.parts())), expected)


@settings(max_examples=150)
@given(drawn=lattices())
def test_the_naive_search_finds_it_too(drawn: Lattice) -> None:
    end = drawn.edges.shape[2]
    for first, edges, least, most, (words, score) in zip(*drawn.parts(), drawn.best(), strict=True):
        for slots in (int(most), len(edges) + 1):
            states, found = naive_search.search(first, edges[: slots - 1], int(least), int(most))
            assert found == pytest.approx(score, abs=1e-9)
            if isfinite(score):
                assert states == [*words, end, *[end + 1] * (slots - len(words) - 1)]


@pytest.mark.parametrize("spare", [0, 1])
@pytest.mark.parametrize("shortest,longest", [(1, 1), (1, 3), (2, 2), (2, 4), (3, 3), (4, 4)])
def test_the_rules_allow_words_then_one_end_then_padding_and_no_other_path(
    shortest: int, longest: int, spare: int
) -> None:
    slots, end, pad = longest + spare, 2, 3
    first, edges = torch.zeros(3), torch.zeros(slots - 1, 2, 3)

    def score(states: Words) -> float:
        return naive_search.begin(first, states[0], shortest, longest) + sum(
            naive_search.step(edges, t, states[t - 1], states[t], shortest, longest)
            for t in range(1, slots)
        )

    allowed = {states for states in product(range(4), repeat=slots) if score(states) == 0.0}
    assert allowed == {
        (*words, end, *[pad] * (slots - length))
        for length in range(shortest, longest + 1)
        for words in product(range(2), repeat=length - 1)
    }


@TRACES
@settings(max_examples=60)
@given(drawn=lattices(slots=20, words=6))
def test_traces_and_searches_agree_on_longer_sentences(
    trace: Callable[[Tensor, Tensor, Tensor], Tensor], drawn: Lattice
) -> None:
    serial, scanned = viterbi(*drawn.parts()), run_scan(*drawn.parts())
    possible = serial.scores.isfinite()
    assert torch.equal(scanned.words[possible], serial.words[possible])
    assert torch.equal(scanned.lengths, serial.lengths)
    torch.testing.assert_close(scanned.scores, serial.scores)
    # Scores as both traces take them, found in the plainest way.
    scores = [drawn.first]
    for step in drawn.edges.unbind(1):
        scores.append((scores[-1][:, :-1, None] + step).amax(1))
    traced = trace(torch.stack(scores, 1), drawn.edges, serial.lengths)
    assert torch.equal(traced[possible], serial.words[possible])
    behind = torch.arange(traced.shape[1]) >= serial.lengths[:, None] - 1
    assert not traced[behind].any()


@SEARCHES
@settings(max_examples=60)
@given(drawn=lattices(slots=9, words=5))
def test_a_sentence_finds_the_same_alone(search: Search, drawn: Lattice) -> None:
    together = search(*drawn.parts())
    for i in range(len(drawn.first)):
        alone = search(*drawn.sentence(i).parts())
        assert outcome(alone)[0][0] == outcome(together)[i][0]
        assert alone.lengths[0] == together.lengths[i]
        torch.testing.assert_close(alone.scores[0], together.scores[i])


@SEARCHES
@settings(max_examples=30)
@given(seed=st.integers(0, 99999))
def test_more_candidates_never_make_the_best_path_worse(search: Search, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    many = lattice(generator, [(2, 5), (4, 7), (7, 7)], words=8, whole=False)
    best = torch.full((3,), -inf, dtype=torch.float64)
    for words in range(1, 9):
        some = [*range(words), 8]
        edges = many.edges[:, :, :words][..., some]
        scores = search(many.first[:, some], edges, many.shortest, many.longest).scores
        assert (scores >= best).all()
        best = scores


@SEARCHES
def test_slots_filled_with_impossible_words_are_passed_by(search: Search) -> None:
    generator = torch.Generator().manual_seed(1)
    plain = lattice(generator, [(3, 6), (6, 6)], words=3, whole=False)
    filled = [torch.full_like(x, -inf)[..., :1] for x in (plain.first, plain.edges)]
    first = torch.cat((plain.first[:, :3], filled[0], plain.first[:, 3:]), 1)
    edges = torch.cat((plain.edges[..., :3], filled[1], plain.edges[..., 3:]), 3)
    edges = torch.cat((edges, torch.full_like(edges, -inf)[:, :, :1]), 2)
    expected = outcome(search(*plain.parts()))
    assert outcome(search(first, edges, plain.shortest, plain.longest)) == expected


@SEARCHES
def test_where_all_paths_are_forbidden_the_score_says_so(search: Search) -> None:
    first, edges = torch.zeros(1, 3), torch.zeros(1, 4, 2, 3)
    edges[..., 2] = -inf
    paths = search(first, edges, torch.tensor([3]), torch.tensor([5]))
    assert paths.scores.tolist() == [-inf]
    assert 3 <= int(paths.lengths) <= 5


def test_a_shorter_path_wins_a_tie_and_then_the_lower_index_where_paths_differ_last() -> None:
    first, edges = torch.zeros(1, 4), torch.zeros(1, 5, 3, 4)
    lengths = torch.tensor([3]), torch.tensor([6])
    for search in (viterbi, run_scan):
        assert search(first, edges, *lengths).to_lists() == [([0, 0], 0.0)]
    edges[0, 0, 0, 0] = edges[0, 0, 2, 0] = edges[0, 0, 2, 1] = edges[0, 0, 1, 2] = -1.0
    for search in (viterbi, run_scan):  # [1, 0] before [0, 1], [0, 2] and [2, 2]
        assert search(first, edges, *lengths).to_lists() == [([1, 0], 0.0)]


def test_the_best_path_of_a_small_lattice_by_hand() -> None:
    """Two candidates; word 0 is the likelier in slot 0, but `</s>` behind it is not."""
    first = torch.tensor([[-1.0, -2.0, 0.0]])
    into_slot_1 = [[-4.0, -4.0, -6.0], [-1.5, -2.0, -4.0]]
    into_slot_2 = [[0.0, 0.0, -4.0], [0.0, 0.0, -1.0]]
    edges = torch.tensor([[into_slot_1, into_slot_2]])
    for search in (viterbi, run_scan):

        def best(shortest: int, longest: int, search: Search = search) -> object:
            limits = torch.tensor([shortest]), torch.tensor([longest])
            return search(first, edges, *limits).to_lists()

        assert best(1, 3) == [([], 0.0)]
        assert best(2, 2) == [([1], -6.0)]
        assert best(2, 3) == best(3, 3) == [([1, 1], -5.0)]


def test_the_scan_in_small_portions_is_the_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = torch.Generator().manual_seed(2)
    drawn = lattice(generator, [(8, 12), (3, 9)], words=5, whole=False)
    expected = run_scan(*drawn.parts())
    for sums in (1, 700):
        monkeypatch.setattr(scan, "SUMS", sums)
        assert run_scan(*drawn.parts()).to_lists() == expected.to_lists()


def test_lists_are_exact_in_single_precision() -> None:
    paths = Paths(
        torch.tensor([[127, 3, 0], [1, 0, 0]]), torch.tensor([3, 1]), torch.tensor([-1.25, -inf])
    )
    assert paths.to_lists() == [([127, 3], -1.25), ([], -inf)]
