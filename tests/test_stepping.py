"""The loop of searches: who is fed when, who leaves the batch, and in which order results come."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from fastdecode.errors import UserError
from fastdecode.stages import Stopwatch
from fastdecode.stepping import LEAVE, Found, run_search

ROWS = 2


class Echo:
    """Passes whose logits are the tokens; notes how many rows each one has."""

    def __init__(self, sentences: int):
        self.rows = torch.arange(sentences * ROWS)  # the first row that each is the successor of
        self.fed: list[int] = []

    def step(self, tokens: Tensor) -> Tensor:
        assert len(tokens) == len(self.rows)
        self.fed.append(len(tokens))
        return tokens

    def keep_rows(self, rows: Tensor) -> None:
        self.rows = self.rows[rows]

    def keep_sentences(self, sentences: Tensor) -> None:
        self.rows = self.rows.view(-1, ROWS)[sentences].flatten()


class Countdown:
    """Sentence i is done after `wanted[i]` steps; the two rows of each change places every time."""

    def __init__(self, wanted: list[int], steps: Echo):
        self.names = torch.arange(len(wanted))
        self.left, self.done = torch.tensor(wanted), torch.zeros(len(wanted), dtype=torch.bool)
        self.passes, self.steps = torch.zeros_like(self.left), steps

    def advance(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        assert torch.equal(self.steps.rows // ROWS, self.names.repeat_interleave(ROWS))
        assert torch.equal(logits, self.passes.max() + self.steps.rows)  # its own, not another's
        self.passes = self.passes.where(self.done, self.passes + 1)
        self.done = self.passes >= self.left
        swapped = torch.arange(len(logits)).view(-1, ROWS).flip(1).flatten()
        return swapped, logits[swapped] + 1

    def results(self, sentences: Tensor) -> list[Found]:
        assert self.done[sentences].all()
        parts = (part[sentences].tolist() for part in (self.names, self.passes))
        return [([name], 0.0, passes) for name, passes in zip(*parts, strict=True)]

    def keep(self, sentences: Tensor) -> None:
        self.names, self.left, self.done = (
            part[sentences] for part in (self.names, self.left, self.done)
        )
        self.passes = self.passes[sentences]


@given(st.lists(st.integers(1, 12), min_size=1, max_size=20))
def test_each_sentence_ends_at_its_own_step_and_leaves_with_enough_others(
    wanted: list[int],
) -> None:
    steps = Echo(len(wanted))
    search = Countdown(wanted, steps)
    first = torch.arange(len(wanted) * ROWS)
    found = run_search(steps, search, first, max(wanted), Stopwatch())
    assert found == [([i], 0.0, passes) for i, passes in enumerate(wanted)]
    batch, fed = list(wanted), []
    for step in range(1, max(wanted) + 1):
        fed.append(len(batch) * ROWS)
        over = sum(passes <= step for passes in batch)
        if over * LEAVE >= len(batch):
            batch = [passes for passes in batch if passes > step]
    assert steps.fed == fed


def test_who_goes_on_beyond_the_limit_has_no_numbers() -> None:
    steps = Echo(3)
    search = Countdown([2, 5, 1], steps)
    with pytest.raises(UserError, match="the scores of this model are no finite numbers"):
        run_search(steps, search, torch.arange(3 * ROWS), 4, Stopwatch())
    assert len(steps.fed) == 4
