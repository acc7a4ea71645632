"""Translations of a batch while they grow, a length per row, and the loop that lets them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from fastdecode.drafting import Prefixes
from fastdecode.families.aggressive.verify import Accepted, Rules
from fastdecode.stages import Stopwatch


@dataclass
class Trace:
    """What became of one sentence."""

    ids: list[int] = field(default_factory=list)  # with `</s>` once it has ended
    accepted: list[int] = field(default_factory=list)  # tokens kept, iteration by iteration
    score: float = 0.0  # the sum of their log-probabilities by the verifier

    def add(self, tokens: Sequence[float], score: float) -> None:
        """Add what an iteration accepted."""
        self.ids += map(int, tokens)
        self.accepted.append(len(tokens))
        self.score += score


def room_of(limits: list[int]) -> int:
    """Return the most tokens of a prefix with its draft and one more.

    All rows draft as much as the one that is farthest from its limit can use.
    """
    return max(limits) * (2 if len(limits) > 1 else 1) + 1


class Growth:
    """The translations of a batch while they grow, with their numbers known to the host."""

    def __init__(self, limits: list[int], device: torch.device, rules: Rules):
        """Begin with empty translations of at most `limits` tokens."""
        self._rules, self._host_limits = rules, limits
        self.limits = torch.tensor(limits, device=device)  # (R)
        tokens = torch.full((len(limits), room_of(limits) + 1), rules.eos, device=device)
        self.prefixes = Prefixes(tokens, torch.zeros_like(self.limits), 0)
        self._lengths = [0] * len(limits)  # as prefixes.lengths, on the host

    @property
    def most(self) -> int:
        """How many tokens are worth drafting: up to the limit of the row that has most left."""
        left = (limit - n for limit, n in zip(self._host_limits, self._lengths, strict=True))
        return max(left)

    def near(self, new: int) -> bool:
        """Tell whether any of `new` places behind the prefixes is at its sentence's limit."""
        pairs = zip(self._host_limits, self._lengths, strict=True)
        return any(length + new > limit for limit, length in pairs)

    def last(self) -> Tensor:
        """Return the last token of each prefix (R, 1), `</s>` where it is empty."""
        tokens, lengths = self.prefixes.tokens, self.prefixes.lengths
        last = tokens.gather(1, (lengths - 1).clamp(min=0)[:, None])
        return last.masked_fill(lengths[:, None] == 0, self._rules.eos)

    def add(self, new: Accepted, counts: list[int]) -> None:
        """Write accepted tokens behind the prefixes; `counts` are theirs, on the host."""
        tokens, lengths = self.prefixes.tokens, self.prefixes.lengths
        places = lengths[:, None] + torch.arange(new.tokens.shape[1], device=lengths.device)
        # What stands behind the counts is overwritten later.
        tokens = tokens.scatter(1, places, new.tokens)
        self._lengths = [n + count for n, count in zip(self._lengths, counts, strict=True)]
        self.prefixes = Prefixes(tokens, lengths + new.counts, max(self._lengths))

    def keep(self, stay: list[int], rows: Tensor) -> None:
        """Go on with these rows, in numbers and as a tensor, alone."""
        self._lengths = [self._lengths[i] for i in stay]
        self._host_limits = [self._host_limits[i] for i in stay]
        self.limits = self.limits[rows]
        self.prefixes = self.prefixes.keep(rows, max(self._lengths))


def iterate(
    growth: Growth,
    iteration: Callable[[Growth], Accepted],
    keep: Callable[[Tensor], None],
    watch: Stopwatch,
) -> list[Trace]:
    """Repeat `iteration` until every sentence has ended; rows that have are dropped by `keep`."""
    numbers = list(range(len(growth.limits)))  # of the sentences in the rows
    traces = [Trace() for _ in numbers]
    while numbers:
        new = iteration(growth)
        # The one look at the device: all that the host wants to know comes at once.
        facts = torch.stack([new.counts.double(), new.ended.double(), new.scores.double()], 1)
        known = torch.cat([facts, new.tokens.double()], 1).tolist()
        growth.add(new, [int(count) for count, *_ in known])
        stay = []
        for row, (count, ended, score, *tokens) in enumerate(known):
            traces[numbers[row]].add(tokens[: int(count)], score)
            if not ended:
                stay.append(row)
        if len(stay) < len(numbers):
            numbers = [numbers[row] for row in stay]
            if stay:
                rows = torch.tensor(stay, device=growth.limits.device)
                growth.keep(stay, rows)
                keep(rows)
        watch.lap("search")
    return traces
