"""Drafts for one sentence at a time on a GPU: they are recorded (transformer/recording.py)."""

import torch
from torch import Tensor

from fastdecode.drafting import Prefixes
from fastdecode.families.aggressive.block_decoder import BlockDecoder, Source
from fastdecode.families.aggressive.verify import Rules
from fastdecode.transformer.highest import highest
from fastdecode.transformer.recording import Pinned, Recorded, padded, seen, up


class RecordedDrafting:
    """Drafts of one model by the same rules, for one sentence after the other."""

    def __init__(self, decoder: BlockDecoder, rules: Rules):
        """Record what `decoder` drafts."""
        self.decoder, self._rules = decoder, rules
        self.pin = Pinned()
        self.propose = Recorded(self._propose, "drafting")

    def begin(self, source: Source) -> "RecordedDrafts":
        """Begin with a sentence alone; it takes over the place of the one before."""
        return RecordedDrafts(self, source)

    def _propose(
        self,
        tokens: Tensor,  # (1, T)
        lengths: Tensor,  # (1)
        places: Tensor,  # (W, d)
        slots: Tensor,  # (1, W, d)
        keys: Tensor,  # (L, 2, 1, H, S, D)
        source_mask: Tensor,  # (1, 1, 1, S)
    ) -> tuple[Tensor, Tensor]:
        """Return the likeliest words of a block behind the prefix, (1, k), and what they score."""
        block = self.decoder.block
        logits = self.decoder.behind(block, tokens, lengths, places, slots, keys, source_mask)
        self._rules.forbid_early(logits, lengths)
        best, drafts = highest(logits)
        return drafts, best.float().sum()


class RecordedDrafts:
    """A sentence alone that is drafted for. Sizes are rounded up, so that few are recorded."""

    def __init__(self, drafting: RecordedDrafting, source: Source):
        """Draft for `source`, of one sentence and without padding."""
        self._drafting, self._source = drafting, source
        self.total = torch.zeros((), device=source.words.device)
        pin, keys = drafting.pin, source.keys
        self._read = pin("keys", padded(keys, -2)), pin("mask", seen(keys, -2))
        self._begun: tuple[Tensor, ...] = ()  # what slots begin with, as far as it was needed

    def propose(self, prefixes: Prefixes, most: int) -> Tensor:
        """See Drafts. The next block overwrites it."""
        drafting = self._drafting
        width = up(prefixes.longest + drafting.decoder.block)
        if not self._begun or len(self._begun[0]) < width:
            places, slots = drafting.decoder.slots(self._source, width)
            self._begun = drafting.pin("places", places), drafting.pin("slots", slots)
        tokens, pinned = prefixes.tokens[:, :width], (*self._begun, *self._read)
        drafts, scores = drafting.propose(tokens, prefixes.lengths, pinned=pinned)
        self.total = self.total + scores
        return drafts[:, :most]

    def keep(self, rows: Tensor) -> None:
        """See Drafts: it is one sentence."""
