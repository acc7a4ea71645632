"""Draft and verify (Xia et al. 2022, section 3), for one sentence or a batch with a length per row.

An iteration drafts a block after every translation so far, checks all blocks in one pass of the
verifier, and adds what is accepted; sentences that are done leave. The host waits for the device
once an iteration, to learn how far each sentence has come.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from fairseq.data import Dictionary
from torch import Tensor

from fastdecode.drafting import Batch, Drafter, Drafts, build_drafter
from fastdecode.errors import UserError
from fastdecode.families.aggressive.drafting import OWN
from fastdecode.families.aggressive.eager import EagerBlockwise, EagerVerifier
from fastdecode.families.aggressive.encoders import begin_both
from fastdecode.families.aggressive.fast import FastBlockwise, FastVerifier
from fastdecode.families.aggressive.growth import Growth, Trace, iterate
from fastdecode.families.aggressive.rows import FAMILY
from fastdecode.families.aggressive.rows import Decoder as Row
from fastdecode.families.aggressive.sides import Checks, Verifier, verifier_of
from fastdecode.families.aggressive.verify import Accepted, Rules, accept
from fastdecode.framing import end_sentences, mask_of
from fastdecode.growing import RecordedStep
from fastdecode.limits import limits
from fastdecode.stages import Stopwatch
from fastdecode.system import Decoder, System
from fastdecode.transformer import recording
from fastdecode.transformer.highest import highest_of
from fastdecode.translation import Finish, Translation, finite


class Front:
    """What all decoders of this family have in common: sources in, translations out."""

    _scored = True  # whether a verifier says how good a translation is

    def __init__(self, system: System, row: Row, finish: Finish, watch: Stopwatch, longest: int):
        """Take the settings; `longest` is how many tokens a translation may have at most."""
        self._source, self._target = system.source, system.target
        self._row, self._finish, self._watch, self._longest = row, finish, watch, longest
        self._device = next(system.models[0].parameters()).device
        self._rules = Rules(system.target.eos(), system.target.pad(), row.min_len)
        self._recorded: RecordedStep | None = None
        if row.engine == "fastdecode" and recording.pays(system.models[0]):
            key = f"{type(self).__name__} by {self._rules}, β = {row.beta}, τ = {row.tau}"
            self._recorded = system.share(key, lambda: RecordedStep("the end of an iteration"))

    @torch.inference_mode()
    def __call__(self, sources: Sequence[Sequence[str]]) -> list[Translation]:
        """Return one Translation for each of `sources`, which decode as one batch.

        Each has its own limit on length, so that a batch equals its sentences one by one. `passes`
        are iterations, and `accepted` the tokens that each of them added, `</s>` among them. The
        score is the mean log-probability by the verifier. Stages: encode, encode-drafter (of a
        drafter of this family), draft, verify, search (all between), finish.
        """
        self._watch.start()
        batch = batch_of(sources, self._source, self._device)
        most = limits(sources, self._row, None, self._longest).tolist()
        self._watch.lap("search")
        traces = self.decode(batch, most)
        translations = [self._translation(trace) for trace in traces]
        self._watch.lap("finish")
        return self._watch.share(translations)

    def decode(self, batch: Batch, limits: list[int]) -> list[Trace]:
        """Return what becomes of each sentence, of at most `limits` tokens without `</s>`."""
        raise NotImplementedError

    def _decide(self, growth: Growth, *given: Tensor) -> Accepted:
        """Return what an iteration adds to the translations."""
        raise NotImplementedError

    def _growth(self, limits: list[int]) -> Growth:
        """Begin with translations. That of a sentence alone is recorded on a GPU."""
        recorded = None if len(limits) > 1 else self._recorded
        return Growth(limits, self._device, self._rules, self._decide, recorded)

    def _translation(self, trace: Trace) -> Translation:
        tokens = [self._target[i] for i in trace.ids[:-1]]
        score = trace.score / len(trace.ids) if self._scored else None
        passes = len(trace.accepted)
        return Translation(self._finish(tokens), tokens, score, passes, trace.accepted)


def batch_of(sources: Sequence[Sequence[str]], words: Dictionary, device: torch.device) -> Batch:
    """Return sentences as tensors on `device`."""
    padded = end_sentences(sources, words).to(device)
    return Batch(sources, padded, mask_of(padded, words, map(len, sources)))


class Look(NamedTuple):
    """What the verifier says of a draft, as `accept` takes it."""

    drafts: Tensor  # (R, n)
    logits: Tensor  # (R, n + 1, V), forbidden ones -inf
    norms: Tensor  # (R, n + 1)


class DraftAndVerify(Front):
    """Drafts that an autoregressive model checks; with a blockwise model, its own."""

    def __init__(
        self,
        system: System,
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
        layers = verifier.serial_layers
        self.serial_layers = layers.before(drafter.serial_layers) if drafter else layers

    def decode(self, batch: Batch, limits: list[int]) -> list[Trace]:
        """See Front."""
        growth = self._growth(limits)
        checks, drafts = self._begin(batch, growth.room)
        sides: list[Checks | Drafts] = [checks, drafts] if self._drafter else [checks]

        def keep(rows: Tensor) -> None:
            for side in sides:
                side.keep(rows)

        traces = iterate(
            growth, lambda growth: self._draft(growth, checks, drafts), keep, self._watch
        )
        finite([trace.score for trace in traces])
        return traces

    def _begin(self, batch: Batch, room: int) -> tuple[Checks, Drafts]:
        if self._drafter:
            how = self._row.encoders
            return begin_both(self._verifier, self._drafter, batch, room, how, self._watch)
        encoded = self._verifier.encode(batch)
        blocks: Any = self._verifier.begin(batch, encoded, room)  # both sides in one
        self._watch.lap("encode")
        return blocks, blocks

    def _draft(self, growth: Growth, checks: Checks, drafts: Drafts) -> tuple[Tensor, ...]:
        """Return what is drafted (R, n), the verifier's logits (R, n + 1, V) and drafts.total."""
        prefixes = growth.prefixes
        most = min(growth.most, self._row.block or growth.most)
        # at its limit the verifier has the last word alone
        proposed = drafts.propose(prefixes, most) if most else prefixes.tokens[:, :0]  # (R, n)
        proposed = growth.padded(proposed)
        self._watch.lap("draft")
        logits = checks.logits(torch.cat([growth.last, proposed], dim=1), prefixes)
        self._watch.lap("verify")
        return proposed, logits, drafts.total

    def _decide(self, growth: Growth, *given: Tensor) -> Accepted:
        """See Front: of what `_draft` returns."""
        return self._accept(self._look(growth, *given))

    def _accept(self, look: Look) -> Accepted:
        find = highest_of(self._row.engine)
        return accept(*look, self._row.beta, self._row.tau, self._rules, find)

    def _look(self, growth: Growth, proposed: Tensor, logits: Tensor, total: Tensor) -> Look:
        """Return what of a draft and its logits counts. Changes the logits."""
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        norms = logits.logsumexp(-1) + 0 * total  # no numbers where the drafter has none
        near = growth.near(logits.shape[1])
        logits = self._rules.forbid(logits, growth.lengths, growth.limits, near)
        return Look(proposed, logits, norms)


class DraftAlone(Front):
    """Drafts that nobody checks: block after block until one ends the sentence."""

    _scored = False

    def __init__(
        self, system: System, row: Row, finish: Finish, watch: Stopwatch, drafter: Drafter
    ):
        """Let `drafter` write."""
        super().__init__(system, row, finish, watch, drafter.longest - 1)
        self._drafter, self.bytes_per_pass = drafter, drafter.bytes_per_pass
        self.serial_layers = drafter.serial_layers

    def decode(self, batch: Batch, limits: list[int]) -> list[Trace]:
        """See Front. There is no score."""
        drafts = self._drafter.begin(batch)
        self._watch.lap("encode")
        growth = self._growth(limits)
        traces = iterate(
            growth, lambda growth: self._draft(growth, drafts), drafts.keep, self._watch
        )
        finite([trace.score for trace in traces])
        return traces

    def _draft(self, growth: Growth, drafts: Drafts) -> tuple[Tensor, ...]:
        """Return what is drafted (R, n) and drafts.total."""
        most = growth.most + 1  # to the last `</s>`
        proposed = drafts.propose(growth.prefixes, min(most, self._row.block or most))
        self._watch.lap("draft")
        return proposed, drafts.total

    def _decide(self, growth: Growth, *given: Tensor) -> Accepted:
        """See Front: of what `_draft` returns."""
        proposed, total = given
        place = torch.arange(proposed.shape[1], device=proposed.device)
        over = growth.lengths[:, None] + place >= growth.limits[:, None]
        proposed = proposed.masked_fill(over, self._rules.eos)
        ends = proposed == self._rules.eos
        counts = (ends.cumsum(1) - ends.long() == 0).sum(1)  # up to the first end
        return Accepted(proposed, counts, ends.any(1), torch.zeros_like(counts) + 0 * total)


def build(system: System, row: Row, finish: Finish, watch: Stopwatch) -> Decoder:
    """Return the decoder that `row` describes. Raises UserError if it does not fit the system."""
    fast = row.engine == "fastdecode"
    if row.mode == "blockwise":
        blockwise = (FastBlockwise if fast else EagerBlockwise)(system)
        return DraftAndVerify(system, row, finish, watch, blockwise)
    settings = row.model_dump(include=OWN) if row.drafter == FAMILY else row.draft
    drafter = build_drafter(row.drafter, system, settings)
    if row.mode == "draft":
        return DraftAlone(system, row, finish, watch, drafter)
    verifier = verifier_of(system)
    if row.encoders == "shared":
        check_shared(system, verifier)
    checks = (FastVerifier if fast else EagerVerifier)(verifier)
    return DraftAndVerify(system, row, finish, watch, checks, drafter)


def check_shared(drafter: System, verifier: System) -> None:
    """Raise UserError unless both have the same encoder."""
    ours, theirs = (system.models[0].encoder.state_dict() for system in (drafter, verifier))
    same = ours.keys() == theirs.keys()
    if not (same and all(torch.equal(ours[key], theirs[key]) for key in ours)):
        raise UserError(
            "encoders: shared, but drafter and verifier have encoders of their own: train the "
            "drafter with encoder: shared, or set encoders: apart"
        )
