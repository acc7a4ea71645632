"""Draft and verify (Xia et al. 2022, section 3), for one sentence or a batch with a length per row.

An iteration drafts a block after every translation so far, checks all blocks in one pass of the
verifier, and adds what is accepted; sentences that are done leave. The host waits for the device
once an iteration, to learn how far each sentence has come.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from fairseq.data import Dictionary, data_utils
from torch import Tensor

from fastdecode.drafting import Batch, Drafter, Drafts, Prefixes, build_drafter
from fastdecode.errors import UserError
from fastdecode.families.aggressive.eager import EagerBlockwise, EagerVerifier
from fastdecode.families.aggressive.encoders import begin_both
from fastdecode.families.aggressive.fast import FastBlockwise, FastVerifier
from fastdecode.families.aggressive.models import Checks, Verifier
from fastdecode.families.aggressive.rows import FAMILY
from fastdecode.families.aggressive.rows import Decoder as Row
from fastdecode.families.aggressive.verify import Accepted, Rules, accept
from fastdecode.stages import Stopwatch
from fastdecode.translation import Translation

if TYPE_CHECKING:
    from fastdecode.decode import Decoder, System

Finish = Callable[[list[str]], str]


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


class Front:
    """What all decoders of this family have in common: sources in, translations out."""

    _scored = True  # whether a verifier says how good a translation is

    def __init__(self, system: "System", row: Row, finish: Finish, watch: Stopwatch, longest: int):
        """Take the settings; `longest` is how many tokens a translation may have at most."""
        self._source, self._target = system.source, system.target
        self._row, self._finish, self._watch, self._longest = row, finish, watch, longest
        self._device = next(system.models[0].parameters()).device
        self._rules = Rules(system.target.eos(), system.target.pad(), row.min_len)

    @torch.inference_mode()
    def __call__(self, sources: Sequence[Sequence[str]]) -> list[Translation]:
        """Return one Translation for each of `sources`, which decode as one batch.

        Each has its own limit on length, so that a batch equals its sentences one by one. `passes`
        are iterations, and `accepted` the tokens that each of them added, `</s>` among them. The
        score is the mean log-probability by the verifier. Stages: encode, encode-drafter, draft,
        verify, search (all between), finish.
        """
        self._watch.start()
        batch = batch_of(sources, self._source, self._device)
        limits = [
            min(
                max(int(self._row.max_len_a * count + self._row.max_len_b), self._row.min_len),
                self._longest,
            )
            for count in (len(source) + 1 for source in sources)
        ]
        self._watch.lap("search")
        traces = self.decode(batch, limits)
        translations = [self._translation(trace) for trace in traces]
        self._watch.lap("finish")
        return self._watch.share(translations)

    def decode(self, batch: Batch, limits: list[int]) -> list[Trace]:
        """Return what becomes of each sentence, of at most `limits` tokens without `</s>`."""
        raise NotImplementedError

    def _translation(self, trace: Trace) -> Translation:
        tokens = [self._target[i] for i in trace.ids[:-1]]
        score = trace.score / len(trace.ids) if self._scored else None
        passes = len(trace.accepted)
        return Translation(self._finish(tokens), tokens, score, passes, trace.accepted)


def batch_of(sources: Sequence[Sequence[str]], words: Dictionary, device: torch.device) -> Batch:
    """Return sentences as tensors on `device`."""
    ids = [torch.tensor([*map(words.index, tokens), words.eos()]) for tokens in sources]
    padded = data_utils.collate_tokens(ids, words.pad()).to(device)
    mask = None
    if min(map(len, ids)) < padded.shape[1]:
        mask = (padded != words.pad())[:, None, None]
    return Batch(sources, padded, mask)


class DraftAndVerify(Front):
    """Drafts that an autoregressive model checks; with a blockwise model, its own."""

    def __init__(
        self,
        system: "System",
        row: Row,
        finish: Finish,
        watch: Stopwatch,
        verifier: Verifier,
        drafter: Drafter | None = None,
    ):
        """Let `verifier` check what `drafter` drafts, or itself."""
        longest = min(verifier.longest, drafter.longest - 1 if drafter else verifier.longest)
        super().__init__(system, row, finish, watch, longest)
        self._verifier, self._drafter = verifier, drafter
        self.bytes_per_pass = verifier.bytes_per_pass
        self.bytes_per_pass += drafter.bytes_per_pass if drafter else 0

    def decode(self, batch: Batch, limits: list[int]) -> list[Trace]:
        """See Front."""
        checks, drafts = self._begin(batch, limits)
        sides: list[Checks | Drafts] = [checks, drafts] if self._drafter else [checks]

        def keep(rows: Tensor) -> None:
            for side in sides:
                side.keep(rows)

        return iterate(
            Growth(limits, self._device, self._rules),
            lambda growth: self._iteration(growth, checks, drafts),
            keep,
            self._watch,
        )

    def _begin(self, batch: Batch, limits: list[int]) -> tuple[Checks, Drafts]:
        if self._drafter:
            arguments = room_of(limits), self._row.encoders, self._watch
            return begin_both(self._verifier, self._drafter, batch, *arguments)
        encoded = self._verifier.encode(batch)
        blocks: Any = self._verifier.begin(batch, encoded, room_of(limits))  # both sides in one
        self._watch.lap("encode")
        return blocks, blocks

    def _iteration(self, growth: "Growth", checks: Checks, drafts: Drafts) -> Accepted:
        prefixes, rules = growth.prefixes, self._rules
        most = min(growth.most, self._row.block or growth.most)
        proposed = drafts.propose(prefixes, most)  # (R, n)
        self._watch.lap("draft")
        tokens = torch.cat([growth.last(), proposed], dim=1)
        logits = checks.logits(tokens, prefixes).float()
        self._watch.lap("verify")
        norms = logits.logsumexp(-1)
        logits = rules.forbid(logits, prefixes.lengths, growth.limits, growth.near(tokens.shape[1]))
        return accept(proposed, logits, norms, self._row.beta, self._row.tau, rules)


def room_of(limits: list[int]) -> int:
    """Return the most tokens of a prefix with its draft and one more.

    All rows draft as much as the one that is farthest from its limit can use.
    """
    return max(limits) * (2 if len(limits) > 1 else 1) + 1


class DraftAlone(Front):
    """Drafts that nobody checks: block after block until one ends the sentence."""

    _scored = False

    def __init__(
        self, system: "System", row: Row, finish: Finish, watch: Stopwatch, drafter: Drafter
    ):
        """Let `drafter` write."""
        super().__init__(system, row, finish, watch, drafter.longest - 1)
        self._drafter, self.bytes_per_pass = drafter, drafter.bytes_per_pass

    def decode(self, batch: Batch, limits: list[int]) -> list[Trace]:
        """See Front. There is no score."""
        drafts = self._drafter.begin(batch)
        self._watch.lap("encode")
        growth = Growth(limits, self._device, self._rules)
        return iterate(
            growth, lambda growth: self._iteration(growth, drafts), drafts.keep, self._watch
        )

    def _iteration(self, growth: "Growth", drafts: Drafts) -> Accepted:
        eos, lengths = self._rules.eos, growth.prefixes.lengths
        most = growth.most + 1  # to the last `</s>`
        proposed = drafts.propose(growth.prefixes, min(most, self._row.block or most))  # (R, n)
        self._watch.lap("draft")
        place = torch.arange(proposed.shape[1], device=lengths.device)
        over = lengths[:, None] + place >= growth.limits[:, None]
        proposed = proposed.masked_fill(over, eos)
        ends = proposed == eos
        counts = (ends.cumsum(1) - ends.long() == 0).sum(1)  # up to the first end
        return Accepted(proposed, counts, ends.any(1), torch.zeros_like(counts).float())


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


def build(system: "System", row: Row, finish: Finish, watch: Stopwatch) -> "Decoder":
    """Return the decoder that `row` describes. Raises UserError if it does not fit the system."""
    fast = row.engine == "fastdecode"
    if row.mode == "blockwise":
        blockwise = (FastBlockwise if fast else EagerBlockwise)(system)
        return DraftAndVerify(system, row, finish, watch, blockwise)
    own = {"engine": row.engine, "encoders": row.encoders}
    drafter = build_drafter(row.drafter, system, own if row.drafter == FAMILY else row.draft)
    if row.mode == "draft":
        return DraftAlone(system, row, finish, watch, drafter)
    (verifier,) = system.companions.values() or (None,)
    if verifier is None:
        raise UserError("drafts need a verifier: load the system with its companion")
    if row.encoders == "shared":
        check_shared(system, verifier)
    checks = (FastVerifier if fast else EagerVerifier)(verifier)
    return DraftAndVerify(system, row, finish, watch, checks, drafter)


def check_shared(drafter: "System", verifier: "System") -> None:
    """Raise UserError unless both have the same encoder."""
    ours, theirs = (system.models[0].encoder.state_dict() for system in (drafter, verifier))
    same = ours.keys() == theirs.keys()
    if not (same and all(torch.equal(ours[key], theirs[key]) for key in ours)):
        raise UserError(
            "encoders: shared, but drafter and verifier have encoders of their own: train the "
            "drafter with encoder: shared, or set encoders: apart"
        )
