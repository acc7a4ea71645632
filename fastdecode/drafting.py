"""Drafts: what one system proposes as the continuation of a translation, for another to check.

A family whose systems can continue a prefix has a `drafting.py` with `build_drafter`; those of any
other family draft by translating the whole sentence once, with a decoder of their own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from fairseq.data import Dictionary
from torch import Tensor

from fastdecode.families import drafter_builder
from fastdecode.framing import end_sentences
from fastdecode.stages import Stopwatch
from fastdecode.system import Decoder, System
from fastdecode.transformer.weights import Layers


@dataclass(frozen=True)
class Batch:
    """Sentences that are translated together."""

    sources: Sequence[Sequence[str]]
    """BPE tokens, B sentences."""
    tokens: Tensor
    """(B, S), with `</s>`, padded on the right."""
    mask: Tensor | None
    """(B, 1, 1, S), true where there are tokens; None where nothing is padded."""


@dataclass(frozen=True)
class Prefixes:
    """The translations of R sentences so far; the next iteration may overwrite the tensors."""

    tokens: Tensor
    """(R, T), without `<s>`; what stands behind a row's length means nothing."""
    lengths: Tensor
    """(R)."""
    longest: int
    """The highest of the lengths, known without waiting for the device."""


class Drafts(Protocol):
    """What is drafted for one batch, as its translations grow."""

    def propose(self, prefixes: Prefixes, most: int) -> Tensor:
        """Return tokens that may come next, (R, n) with n ≤ `most`; padding proposes nothing."""

    def keep(self, rows: Tensor) -> None:
        """Go on with these of the sentences alone."""

    @property
    def total(self) -> Tensor:
        """The sum of the scores of all that was drafted, (): no finite number if one is none.

        No verifier tells of a drafter that has none: its drafts are refused, and it seems slow.
        """


class Drafter(Protocol):
    """What drafts."""

    @property
    def bytes_per_pass(self) -> int:
        """How many bytes of weights one draft reads at least."""

    @property
    def serial_layers(self) -> Layers:
        """How many layers follow on one another: once a sentence, and in each draft."""

    @property
    def longest(self) -> int:
        """How many tokens a prefix with its draft may have."""

    @property
    def begins(self) -> str:
        """The stage of a translation that `begin` is."""

    def begin(self, batch: Batch, encoded: Any = None) -> Drafts:
        """Begin with a batch of sentences; `encoded` is the verifier's, for one that shares it."""


class WholeSentences:
    """A drafter that translates a sentence once and proposes the rest of that from any place on."""

    longest = 1 << 30  # a place without a word proposes nothing
    bytes_per_pass = 0  # what it reads, it reads once a sentence
    begins = "draft"

    def __init__(self, decoder: Decoder, words: Dictionary, device: str):
        """Draft with `decoder`, whose tokens are `words`."""
        self._decoder, self._words, self._device = decoder, words, device
        # As of one pass, which an iterative decoder exceeds.
        self.serial_layers = Layers(int(decoder.serial_layers.of(1)), 0)

    def begin(self, batch: Batch, encoded: Any = None) -> "Sentences":
        """See Drafter: the sentences are translated here."""
        drafts = [translation.tokens for translation in self._decoder(batch.sources)]
        padded = end_sentences(drafts, self._words).to(self._device)
        return Sentences(padded, self._words.pad())


class Sentences:
    """Whole sentences (R, T) as drafts, padded on the right."""

    def __init__(self, tokens: Tensor, pad: int):
        """Draft from `tokens`."""
        self._tokens, self._pad = tokens, pad
        self.total = torch.zeros((), device=tokens.device)  # who wrote them has told

    def propose(self, prefixes: Prefixes, most: int) -> Tensor:
        """See Drafts: what the draft has behind the word that the translation has come to.

        That is never more than the longest draft: what is behind its end need not be verified.
        """
        most = min(most, self._tokens.shape[1])
        tokens = torch.cat(
            [self._tokens, self._tokens.new_full((len(self._tokens), 1), self._pad)], 1
        )
        places = self._behind(prefixes) + torch.arange(most, device=tokens.device)
        return tokens.gather(1, places.clamp(max=tokens.shape[1] - 1))

    def _behind(self, prefixes: Prefixes) -> Tensor:
        """Return where in the draft each translation goes on, (R, 1).

        That is behind the last word of the translation, where the draft has it nearest to the same
        place, rather later than earlier: a verifier that took another word has often only left one
        out, or put one in. Where the draft lacks it, it goes on at the same place.
        """
        lengths = prefixes.lengths[:, None]  # (R, 1)
        last = prefixes.tokens.gather(1, (lengths - 1).clamp(min=0))
        late = torch.arange(1, self._tokens.shape[1] + 1, device=lengths.device) - lengths  # (R, T)
        far = 2 * late.abs() - (late > 0).long()
        nowhere = 2 * (self._tokens.shape[1] + prefixes.longest)
        far = far.masked_fill((self._tokens != last) | (lengths == 0), nowhere)
        nearest, place = far.min(1, keepdim=True)
        return torch.where(nearest < nowhere, place + 1, lengths)

    def keep(self, rows: Tensor) -> None:
        """See Drafts."""
        self._tokens = self._tokens[rows]


def build_drafter(family: str, system: System, settings: Mapping[str, Any]) -> Drafter:
    """Return what drafts with `system`, of `family`; `settings` are the family's own.

    Without a `drafting.py` of the family they are those of the decoder that writes whole sentences.

    Raises UserError if they do not fit the system.
    """
    build = drafter_builder(family)
    if build:
        drafter: Drafter = build(system, settings)
        return drafter
    decoder = system.decoder(family, settings, " ".join, Stopwatch(on=False))
    return WholeSentences(decoder, system.target, system.device)
