"""What a batch asks of those who compute its passes and of those who search."""

import pytest
import torch
from torch import Tensor

from fastdecode.config.models import Architecture
from fastdecode.families.autoregressive.rows import Decoder as Row
from fastdecode.measure.untrained import untrained_system
from fastdecode.stages import Stopwatch
from fastdecode.step_decoder import StepDecoder, Writing
from fastdecode.stepping import Found, Rules


class Steps:
    """Passes that note what they are fed."""

    def __init__(self) -> None:
        self.fed: list[tuple[int, ...]] = []

    def step(self, tokens: Tensor) -> Tensor:
        self.fed.append(tuple(tokens.shape))
        return tokens

    def keep_rows(self, rows: Tensor) -> None: ...

    def keep_sentences(self, sentences: Tensor) -> None: ...


class Search:
    """Ends at the limits, and has written words 4, 5, 6 … up to there."""

    def __init__(self, rules: Rules, limits: Tensor):
        self._rules, self._limits = rules, limits
        self._written = 0
        self.done = torch.zeros_like(limits, dtype=torch.bool)

    def advance(self, logits: Tensor) -> tuple[None, Tensor]:
        self._written += self._rules.size
        self.done = self._limits < self._written
        return None, logits

    def results(self, sentences: Tensor) -> list[Found]:
        lengths = self._limits[sentences].tolist()
        return [(list(range(4, 4 + n)), -1.0, n // self._rules.size + 1) for n in lengths]

    def keep(self, sentences: Tensor) -> None:
        self._limits, self.done = self._limits[sentences], self.done[sentences]


@pytest.mark.parametrize(
    ("size", "longest", "slots"),
    [
        (1, 7, 8),  # 8 positions: 7 tokens and `</s>`
        (2, 7, 8),
        (3, 5, 6),  # whole groups: two positions stay empty
    ],
)
def test_groups_fill_the_positions(size: int, longest: int, slots: int) -> None:
    system = untrained_system(Architecture(8, 12, 2, 1, 1), 20, max_target_positions=8)
    row = Row(beam=2, max_len_a=1.0, max_len_b=0)
    rooms, steps = [], Steps()

    def begin(sources: Tensor, mask: Tensor | None, rows: int, room: int) -> Steps:
        rooms.append((tuple(sources.shape), rows, room))
        return steps

    first = torch.tensor(2) if size == 1 else torch.arange(size)
    writing = Writing(begin, Search, first, size, restore=lambda ids: ids[::-1])
    decode = StepDecoder(system, system.models[0], row, "+".join, Stopwatch(), writing)
    short, long = decode([["w1", "w2"], ["w1"] * 11])  # their limits are 3 and 12
    assert rooms == [((2, 12), 2, slots)]
    assert steps.fed[0] == (2 * 2, *first.shape)
    assert (len(short.tokens), len(long.tokens)) == (3, longest)
    assert short.tokens == [system.target[i] for i in (6, 5, 4)]
    assert short.text == "+".join(short.tokens)
    assert (short.passes, long.passes) == (3 // size + 1, slots // size)
    assert short.stages.keys() == {"encode", "decode", "search", "finish"}
