"""Draft and verify with nothing trained, for timing.

A random verifier would refuse what a random drafter drafts. So what is accepted is prescribed: both
models run all their passes, and then the verifier's logits are changed at one token of each place,
so that it agrees with as many drafted tokens as ACCEPTED says and disagrees with the next. All else
is the decoder as it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle, repeat
from math import inf
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from fastdecode.drafting import Batch, Prefixes, build_drafter
from fastdecode.families.aggressive.decoders import DraftAndVerify
from fastdecode.families.aggressive.drafter import DrafterModel
from fastdecode.families.aggressive.drafting import OWN
from fastdecode.families.aggressive.eager import EagerVerifier
from fastdecode.families.aggressive.fast import FastVerifier
from fastdecode.families.aggressive.rows import FAMILY
from fastdecode.families.aggressive.rows import Decoder as Row
from fastdecode.families.aggressive.sides import Checks, Verifier
from fastdecode.limits import exactly
from fastdecode.stages import Stopwatch
from fastdecode.system import Decoder, System
from fastdecode.translation import Finish

if TYPE_CHECKING:
    from fastdecode.measure.untrained import Untrained

LAYERS = ("6-6",)
K = 25
# Tokens that each iteration adds: the paper's mean of vanilla GAD is 6.13 (footnote 7), of base
# size on its development set. Real ones differ from sentence to sentence.
ACCEPTED = (*repeat(6, 7), 7)
NOTE = (
    f"{FAMILY}: what is accepted in the decoders called prescribed is not measured but given, "
    f"{', '.join(map(str, ACCEPTED))} tokens an iteration (the published mean of vanilla GAD is "
    "6.13), since random weights agree on nothing; every pass is run."
)
PUBLISHED = {
    f"6-6/{engine}-{name}": f"aggressive.table1.{line}.speed"
    for engine in ("eager", "fastdecode")
    for name, line in (("gad-strict-prescribed", "gad"), ("gad-draft-only", "drafter"))
}


def decoders(length: int, device: str) -> dict[str, dict[str, Any]]:
    """Return the decoder rows, by name: translations have `length` tokens, on any `device`."""
    del device
    forced = exactly(length)
    kinds: dict[str, dict[str, Any]] = {
        "gad-strict-prescribed": {"beta": 1, **forced},
        "gad-draft-only": {"mode": "draft", **forced},
    }
    return {
        f"{engine}-{name}": {**row, "engine": engine}
        for name, row in kinds.items()
        for engine in ("eager", "fastdecode")
    }


def build(plan: "Untrained") -> System:
    """Return a drafter beside a verifier of the same size."""
    drafter = plan.system(DrafterModel, seed=2, block=K, encoder_start="random")
    return PrescribedSystem(
        drafter.models,
        drafter.source,
        drafter.target,
        plan.device,
        plan.precision,
        companions={"verifier": plan.system()},
    )


@dataclass(frozen=True)
class PrescribedSystem(System):
    """A drafter whose verifier accepts what is prescribed."""

    def decoder(
        self,
        family: str,
        settings: Mapping[str, Any],
        finish: Finish,
        watch: Stopwatch | None = None,
    ) -> Decoder:
        """See System."""
        row = Row.model_validate(settings)
        if row.mode != "verify":
            return super().decoder(family, settings, finish, watch)
        drafter = build_drafter(family, self, row.model_dump(include=OWN))
        other = self.companion("verifier")
        verifier = (FastVerifier if row.engine == "fastdecode" else EagerVerifier)(other)
        watch = watch or Stopwatch(on=self.device == "cpu")
        prescribed = Prescribed(verifier, self.target.eos())
        return DraftAndVerify(self, row, finish, watch, prescribed, drafter)


class Prescribed:
    """A verifier that accepts as many tokens of each draft as ACCEPTED says."""

    def __init__(self, verifier: Verifier, eos: int):
        """Let `verifier` do the work."""
        self._verifier, self._eos = verifier, eos
        self.longest, self.bytes_per_pass = verifier.longest, verifier.bytes_per_pass
        self.serial_layers = verifier.serial_layers

    def encode(self, batch: Batch) -> Any:
        """See Verifier."""
        return self._verifier.encode(batch)

    def begin(self, batch: Batch, encoded: Any, room: int) -> "PrescribedChecks":
        """See Verifier."""
        return PrescribedChecks(self._verifier.begin(batch, encoded, room), self._eos)


class PrescribedChecks:
    """A batch that is verified; all its sentences advance alike."""

    def __init__(self, checks: Checks, eos: int):
        """Begin with the first iteration."""
        self._checks, self._eos, self._accepted = checks, eos, cycle(ACCEPTED)

    def logits(self, tokens: Tensor, prefixes: Prefixes) -> Tensor:
        """See Checks: what the model says, but for the drafted tokens."""
        logits = self._checks.logits(tokens, prefixes)
        drafts = tokens[:, 1:]  # (R, n)
        kept = min(next(self._accepted) - 1, drafts.shape[1])  # behind them comes its own word
        rows = torch.arange(len(drafts), device=drafts.device)[:, None]
        places = torch.arange(drafts.shape[1], device=drafts.device)
        highest = logits.amax(-1)[:, :kept]  # (R, kept)
        logits[rows, places[:kept], drafts[:, :kept]] = highest + 1
        refused = logits[rows, places[kept : kept + 1], drafts[:, kept : kept + 1]]
        ends = drafts[:, kept : kept + 1] == self._eos  # at a limit nothing else may be written
        refused = refused.masked_fill(~ends, -inf)
        logits[rows, places[kept : kept + 1], drafts[:, kept : kept + 1]] = refused
        return logits

    def keep(self, rows: Tensor) -> None:
        """See Checks."""
        self._checks.keep(rows)
