"""CTC's dynamic programs against the enumeration of every alignment, and against naive twins."""

from collections import defaultdict
from itertools import groupby, product
from math import inf

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from fastdecode.families.parallel.alignment import Labels, best_alignment, collapse, ctc_loss
from fastdecode.families.parallel.naive import naive_alignment

BLANK, WORDS = 0, 4
Case = tuple[int, list[int]]  # slots, and the words of a translation


def read(path: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(label for label, _ in groupby(path) if label != BLANK)


def batch(cases: list[Case], seed: int = 1, wider: int = 0) -> tuple[Tensor, Tensor, Labels]:
    """Return log-probabilities, slots and labels; what is padded is poison."""
    most = max(slots for slots, _ in cases) + wider
    longest = max(1, *(len(words) for _, words in cases)) + wider
    draw = torch.Generator().manual_seed(seed)
    log_probs = torch.randn(len(cases), most, WORDS, generator=draw, dtype=torch.float64)
    log_probs = (2 * log_probs).log_softmax(-1)
    for row, (slots, _) in zip(log_probs, cases, strict=True):
        row[slots:] = 7.0
    words = [words + [1] * (longest - len(words)) for _, words in cases]
    lengths = torch.tensor([len(words) for _, words in cases])
    slots = torch.tensor([slots for slots, _ in cases])
    return log_probs, slots, Labels(torch.tensor(words), lengths, BLANK)


def emitted(log_probs: Tensor, labels: Labels) -> Tensor:
    """What slots say of blank and words (B, T, M + 1), of all that they say (B, T, V)."""
    return log_probs.gather(2, labels.wanted[:, None].expand(-1, log_probs.shape[1], -1))


def paths(log_probs: Tensor, slots: int) -> dict[tuple[int, ...], dict[tuple[int, ...], float]]:
    """Return the log-probability of every alignment, by what it reads."""
    found: dict[tuple[int, ...], dict[tuple[int, ...], float]] = defaultdict(dict)
    for path in product(range(WORDS), repeat=slots):
        score = sum(float(log_probs[t, label]) for t, label in enumerate(path))
        found[read(path)][path] = score
    return found


@pytest.mark.parametrize("slots", [1, 2, 3, 5])
def test_loss_and_best_alignment_are_those_of_all_alignments(slots: int) -> None:
    one, _, _ = batch([(slots, [])])
    readings = paths(one[0], slots)
    cases = [(slots, list(words)) for words in readings]
    log_probs = one.expand(len(cases), -1, -1)
    _, counts, labels = batch(cases)
    losses = ctc_loss(emitted(log_probs, labels), counts, labels)
    aligned = best_alignment(emitted(log_probs, labels), counts, labels).tolist()
    for words, loss, path in zip(readings, losses, aligned, strict=True):
        scores = readings[words]
        total = torch.tensor(list(scores.values()), dtype=torch.float64).logsumexp(0)
        assert float(loss) == pytest.approx(-float(total))
        assert tuple(path) == max(scores, key=lambda found: scores[found])
    assert float(losses.neg().logsumexp(0)) == pytest.approx(0)  # readings share out all there is


def test_a_batch_without_any_word_is_all_blanks() -> None:
    labels = Labels(torch.zeros(2, 0, dtype=torch.long), torch.tensor([0, 0]), BLANK)
    for slots in (1, 5):
        found = best_alignment(torch.zeros(2, slots, 1), torch.tensor([slots, 1]), labels)
        assert found.tolist() == 2 * [slots * [BLANK]]


def test_gradient_of_the_loss() -> None:
    log_probs, slots, labels = batch([(4, [1, 1]), (3, [2]), (4, []), (2, [3, 1]), (5, [2, 1, 2])])
    scores = emitted(log_probs, labels).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: ctc_loss(x, slots, labels), (scores,))
    (gradient,) = torch.autograd.grad(ctc_loss(scores, slots, labels).sum(), scores)
    assert gradient[1, 3:].abs().max() == gradient[3, 2:].abs().max() == 0
    counted = gradient.sum(2)[torch.arange(scores.shape[1]) < slots[:, None]]
    assert counted == pytest.approx(-1)  # every slot says one thing of all that is wanted


def test_the_gradient_is_that_of_the_whole_softmax() -> None:
    logits, slots, labels = batch([(4, [1, 1]), (5, [2, 1, 2])])
    logits.requires_grad_()
    log_probs = logits.log_softmax(-1)
    args = (labels.words, slots, labels.lengths)
    whole = F.ctc_loss(log_probs.transpose(0, 1), *args, blank=BLANK, reduction="sum")
    ours = ctc_loss(emitted(log_probs, labels), slots, labels).sum()
    assert float(ours) == pytest.approx(float(whole))
    gradients = (torch.autograd.grad(loss, logits, retain_graph=True)[0] for loss in (ours, whole))
    assert torch.allclose(*gradients)


CASES = st.lists(
    st.tuples(st.integers(1, 7), st.lists(st.integers(1, WORDS - 1), max_size=4)),
    min_size=1,
    max_size=5,
)


@given(CASES, st.integers(0, 99), st.integers(0, 3))
def test_a_batch_aligns_as_the_naive_twin_does(cases: list[Case], seed: int, wider: int) -> None:
    log_probs, slots, labels = batch(cases, seed, wider)
    aligned = best_alignment(emitted(log_probs, labels), slots, labels)
    feasible = labels.needed <= slots
    for row, (count, words) in enumerate(cases):
        expected = naive_alignment(log_probs[row, :count].tolist(), words, BLANK)
        assert bool(feasible[row]) == (expected is not None)
        if expected is not None:
            found = aligned[row].tolist()
            assert found[:count] == expected
            assert found[count:] == [expected[-1]] * (len(found) - count)
            assert collapse(found, BLANK) == words


def test_a_translation_needs_a_blank_between_equal_words() -> None:
    cases = [(9, []), (9, [1]), (9, [1, 2]), (9, [1, 1]), (9, [2, 2, 2, 1]), (9, [1, 2, 1])]
    log_probs, _, labels = batch(cases)
    assert labels.needed.tolist() == [0, 1, 2, 3, 6, 3]
    nothing = Labels(torch.zeros(2, 0, dtype=torch.long), torch.zeros(2, dtype=torch.long), BLANK)
    assert nothing.needed.tolist() == [0, 0]
    for slots in range(1, 8):
        counts = torch.full((len(cases),), slots)
        losses = ctc_loss(emitted(log_probs, labels), counts, labels)
        assert (losses < inf).tolist() == (labels.needed <= slots).tolist()


def test_of_equal_ways_staying_comes_first() -> None:
    log_probs = torch.zeros(1, 4, WORDS)
    labels = Labels(torch.tensor([[1, 2]]), torch.tensor([2]), BLANK)
    scores = emitted(log_probs, labels)
    assert best_alignment(scores, torch.tensor([4]), labels).tolist() == [[1, 2, 0, 0]]
    assert naive_alignment(log_probs[0].tolist(), [1, 2], BLANK) == [1, 2, 0, 0]


@given(st.lists(st.integers(0, 3), max_size=9))
def test_reading_an_alignment(path: list[int]) -> None:
    assert collapse(path, BLANK) == list(read(tuple(path)))


def test_no_sentence_has_no_loss() -> None:
    nothing = torch.zeros(0, 3, 3, requires_grad=True)
    empty = torch.zeros(0, dtype=torch.long)
    loss = ctc_loss(nothing, empty, Labels(torch.zeros(0, 2, dtype=torch.long), empty, BLANK)).sum()
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss == 0
