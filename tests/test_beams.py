"""The bookkeeping of a beam, with candidates that are written down here."""

from math import inf

import pytest
import torch
from torch import Tensor

from fastdecode.beams import GrowingBeam
from fastdecode.stepping import Rules

PAD, EOS = 0, 1
Candidates = list[tuple[float, int, int]]  # score, parent, token; best first


class Scripted(GrowingBeam):
    """A beam of one sentence that finds what it is told."""

    def __init__(self, rules: Rules, limit: int, steps: list[Candidates]):
        super().__init__(rules, torch.tensor([limit]))
        self._steps = iter(steps)

    def candidates(self, logits: Tensor, scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        found, parents, tokens = zip(*next(self._steps), strict=True)
        return (
            torch.tensor([found], dtype=scores.dtype),
            torch.tensor([parents]),
            torch.tensor([tokens])[..., None],
        )


def search(limit: int, *steps: Candidates, lenpen: float = 0.0) -> Scripted:
    """Return a search of width 2 after these steps."""
    grown = Scripted(Rules(2, lenpen, 0, EOS, PAD), limit, list(steps))
    for _ in steps:
        assert not grown.done[0]
        rows, tokens = grown.advance(torch.zeros(2, 1, 9))
        assert rows.shape == (2,) and tokens.shape == (2, 1)
    return grown


START: Candidates = [(-1.0, 0, 5), (-2.0, 0, 6), (-3.0, 0, 7), (-4.0, 0, 8)]


def result(grown: Scripted) -> tuple[list[int], float, int]:
    (found,) = grown.results(torch.tensor([0]))
    return found


def test_of_what_ends_only_the_first_candidates_finish_and_nothing_goes_on() -> None:
    beyond: Candidates = [(-1.5, 0, 5), (-1.6, 1, 6), (-1.7, 0, EOS), (-1.8, 1, 7)]
    ends: Candidates = [(-1.9, 1, EOS), (-2.0, 0, 7), (-2.1, 0, 8), (-2.2, 1, 8)]
    grown = search(9, START, beyond, ends)
    assert result(grown) == ([6, 6], pytest.approx(-1.9), 3)
    both: Candidates = [(-1.0, 0, EOS), (-1.5, 0, 5), (-2.0, 0, 6), (-3.0, 0, 7)]
    fresh = Scripted(Rules(2, 0.0, 0, EOS, PAD), 9, [both])
    _, tokens = fresh.advance(torch.zeros(2, 1, 9))
    assert tokens.flatten().tolist() == [5, 6]


def test_it_is_done_with_as_many_ends_as_hypotheses_and_has_the_best() -> None:
    first: Candidates = [(-1.5, 0, EOS), (-1.6, 1, 6), (-1.7, 0, 7), (-1.8, 1, 7)]
    better: Candidates = [(-1.2, 0, EOS), (-1.6, 1, 6), (-1.7, 0, 7), (-1.8, 1, 7)]
    grown = search(9, START, first, better)
    assert grown.done[0]
    assert result(grown) == ([6, 6], pytest.approx(-1.2), 3)


def test_of_equally_good_ends_the_first_found_wins() -> None:
    once: Candidates = [(-1.5, 0, EOS), (-1.6, 1, 6), (-1.7, 0, 7), (-1.8, 1, 7)]
    grown = search(9, START, once, once)
    assert grown.done[0]
    assert result(grown) == ([5], -1.5, 3)


def test_at_its_limit_a_sentence_is_done() -> None:
    ends: Candidates = [(-1.5, 0, EOS), (-inf, 1, 6), (-inf, 0, 7), (-inf, 1, 7)]
    grown = search(1, START, ends)
    assert grown.done[0] and result(grown) == ([5], -1.5, 2)


@pytest.mark.parametrize("lenpen", [0.6, 1.0, -0.7])
def test_scores_are_divided_as_fairseq_divides_them(lenpen: float) -> None:
    ends: Candidates = [(-1.7, 0, EOS), (-1.9, 1, EOS), (-2.0, 0, 7), (-2.1, 1, 7)]
    _, score, _ = result(search(9, START, START, START, ends, lenpen=lenpen))
    assert score == float(torch.tensor(-1.7) / 4**lenpen)
