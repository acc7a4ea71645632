"""Translations of a batch while they grow, a length per row, and the loop that lets them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from fastdecode.drafting import Prefixes
from fastdecode.families.aggressive.verify import Accepted, Rules
from fastdecode.growing import RecordedStep
from fastdecode.stages import Stopwatch
from fastdecode.transformer import recording

NEW = 8  # tokens that a recorded pass verifies are multiples of it


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


class Growth:
    """The translations of R sentences while they grow, with their numbers known to the host.

    What an iteration changes is tensors, attributes each; see RecordedStep.
    """

    def __init__(
        self,
        limits: list[int],
        device: torch.device,
        rules: Rules,
        decide: Callable[..., Accepted],
        recorded: RecordedStep | None = None,
    ):
        """Begin with empty translations of at most `limits` tokens.

        `decide` says which tokens are added, of a Growth and what `take` is given. `recorded` takes
        this to the end of an iteration for one sentence, on a GPU; None: it is taken here.
        """
        self._rules, self._decide, self._recorded = rules, decide, recorded
        self._host_limits = limits
        self._alike = recording.up(max(limits) + 1) - 1  # tokens that recorded iterations draft
        # The draft of a single sentence ends at its limit; in a batch all are as long as any's.
        beyond = self._alike if recorded is not None else max(limits) if len(limits) > 1 else 0
        self.room = max(limits) + beyond + 1  # for a prefix with its draft and one more
        self.limits = torch.tensor(limits, device=device)  # (R)
        self.lengths = torch.zeros_like(self.limits)  # (R)
        # Where it is recorded an iteration is done three times, each on what the one before left.
        places = self.room + 1 if recorded is None else recording.up(self.room + 3)
        self.tokens = torch.full((len(limits), places), rules.eos, device=device)  # (R, T)
        self.last = self.tokens[:, :1].clone()  # (R, 1), of each; `</s>` where it is empty
        self._lengths = [0] * len(limits)  # as `lengths`, on the host

    @property
    def prefixes(self) -> Prefixes:
        """The translations so far."""
        return Prefixes(self.tokens, self.lengths, max(self._lengths))

    @property
    def most(self) -> int:
        """How many tokens are worth drafting: up to the limit of the row that has most left.

        Where iterations are recorded they all draft alike: what is behind a limit is refused.
        """
        if self._recorded is not None:
            return self._alike
        left = (limit - n for limit, n in zip(self._host_limits, self._lengths, strict=True))
        return max(left)

    def near(self, new: int) -> bool:
        """Tell whether any of `new` places behind the prefixes is at its sentence's limit.

        What is recorded may come near it when it is repeated.
        """
        pairs = zip(self._host_limits, self._lengths, strict=True)
        return self._recorded is not None or any(n + new > limit for limit, n in pairs)

    def padded(self, drafts: Tensor) -> Tensor:
        """Return `drafts` (R, n), where iterations are recorded with padding, for few sizes."""
        more = -(drafts.shape[1] + 1) % NEW
        if self._recorded is None or not more:
            return drafts
        return F.pad(drafts, (0, more), value=self._rules.pad)

    def take(self, *given: Tensor) -> list[list[float]]:
        """End an iteration with what was drafted, and said of it, as `decide` wants it.

        Returns for each row how many tokens were added, whether they end it, their score, and what
        begins with them: the one look at the device, all that the host wants to know at once.
        """
        end = self.step if self._recorded is None else partial(self._recorded, self)
        (found,) = end(*given)
        known: list[list[float]] = found.tolist()
        self._lengths = [n + int(row[0]) for n, row in zip(self._lengths, known, strict=True)]
        return known

    def step(self, *given: Tensor) -> tuple[Tensor]:
        """Do on the device what `take` says; return what the host wants to know: (R, 3 + n)."""
        new = self._decide(self, *given)
        counts, tokens = new.counts[:, None], new.tokens
        places = self.lengths[:, None] + torch.arange(tokens.shape[1], device=counts.device)
        # What stands behind the counts is overwritten later.
        self.tokens = self.tokens.scatter(1, places, tokens)
        self.lengths = self.lengths + new.counts
        self.last = tokens.gather(1, counts - 1)
        facts = [counts, new.ended[:, None], new.scores[:, None], tokens]
        return (torch.cat([fact.double() for fact in facts], 1),)

    def keep(self, stay: list[int], rows: Tensor) -> None:
        """Go on with these rows, in numbers and as a tensor, alone."""
        self._lengths = [self._lengths[i] for i in stay]
        self._host_limits = [self._host_limits[i] for i in stay]
        self.limits, self.lengths = self.limits[rows], self.lengths[rows]
        self.tokens, self.last = self.tokens[rows], self.last[rows]


def iterate(
    growth: Growth,
    draft: Callable[[Growth], tuple[Tensor, ...]],
    keep: Callable[[Tensor], None],
    watch: Stopwatch,
) -> list[Trace]:
    """Let the translations grow by what `draft` returns until every sentence has ended.

    Rows that have are dropped by `keep`.
    """
    numbers = list(range(len(growth.limits)))  # of the sentences in the rows
    traces = [Trace() for _ in numbers]
    while numbers:
        known = growth.take(*draft(growth))
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
