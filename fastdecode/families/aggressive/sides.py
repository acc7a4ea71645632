"""What drafts and verifies, whoever computes it: the parts that `eager.py` and `fast.py` build."""

from typing import Any, Protocol

from fairseq.models.transformer import TransformerModel
from torch import Tensor

from fastdecode.drafting import Batch, Prefixes
from fastdecode.errors import UserError
from fastdecode.families.aggressive.blockwise import BlockwiseModel
from fastdecode.families.aggressive.drafter import DrafterModel
from fastdecode.system import System
from fastdecode.transformer.layers import unsupported
from fastdecode.transformer.weights import Layers, serial_layers


class Checks(Protocol):
    """The verifier's side of one batch, with what it remembers of it."""

    def logits(self, tokens: Tensor, prefixes: Prefixes) -> Tensor:
        """Return logits (R, n + 1, V) of the tokens after each prefix, and after each draft.

        `tokens` (R, n + 1) are the last of each prefix, `</s>` where it is empty, and its n drafts.
        What was remembered behind a prefix, of drafts that were refused, is forgotten.
        """

    def keep(self, rows: Tensor) -> None:
        """Go on with these of the sentences alone."""


class Verifier(Protocol):
    """What verifies."""

    @property
    def bytes_per_pass(self) -> int:
        """How many bytes of weights a pass reads at least."""

    @property
    def serial_layers(self) -> Layers:
        """How many layers follow on one another."""

    @property
    def longest(self) -> int:
        """How many tokens a translation may have."""

    def encode(self, batch: Batch) -> Any:
        """Return the encoder's output."""

    def begin(self, batch: Batch, encoded: Any, room: int) -> Checks:
        """Begin with a batch; no prefix with its draft is longer than `room`."""


def own_layers(model: Any, share_encoder: bool) -> Layers:
    """Return the layers of a drafter; an encoder that it shares is the verifier's."""
    layers = serial_layers(model)
    return Layers(0, layers.per_pass) if share_encoder else layers


CANNOT_VERIFY = (
    "does not write a token at a time from left to right: name an autoregressive system as verifier"
)


ONE_EACH = "draft and verify run one model each"


def drafter_model(system: System) -> Any:
    """Return the drafter in `system`. Raises UserError if there is none."""
    fault = "is no drafter: train gad, or name its family as drafter"
    return system.single(ONE_EACH, DrafterModel, fault)


def blockwise_model(system: System) -> Any:
    """Return the blockwise model in `system`. Raises UserError if there is none."""
    fault = "has no heads for a block: train blockwise"
    return system.single(ONE_EACH, BlockwiseModel, fault)


def verifier_model(system: System) -> Any:
    """Return the model of a verifier, in either tier: a plain Transformer.

    Raises UserError on an ensemble, another kind of model, and parts that a plain one has not: the
    eager tier feeds fairseq's layers itself and would pass over them.
    """
    model = system.single(ONE_EACH, TransformerModel, CANNOT_VERIFY)
    if type(model) is not TransformerModel:  # pairs, lattices, graphs and others are made of one
        raise UserError(f"{type(model).__name__} {CANNOT_VERIFY}")
    if parts := unsupported(model):
        raise UserError(f"draft and verify know no {parts}: name a plain Transformer as verifier")
    return model


def verifier_of(system: System) -> System:
    """Return what verifies the drafts of `system`: its companion. Raises UserError without one."""
    (verifier,) = system.companions.values() or (None,)
    if verifier is None:
        raise UserError("drafts need a verifier: load the system with its companion")
    return verifier
