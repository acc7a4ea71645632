"""Drafter, verifier and blockwise model over this project's own Transformer: tier optimised."""

from typing import Any

import torch
from torch import Tensor, nn

from fastdecode.drafting import Batch, Drafts, Prefixes
from fastdecode.families.aggressive.block_decoder import BlockDecoder, Source
from fastdecode.families.aggressive.graphed import RecordedDrafting
from fastdecode.families.aggressive.heads_decoder import GraphedHeadsDecoder, HeadsDecoder
from fastdecode.families.aggressive.sides import (
    blockwise_model,
    drafter_model,
    own_layers,
    verifier_model,
)
from fastdecode.families.aggressive.verify import Rules
from fastdecode.system import System
from fastdecode.transformer import recording
from fastdecode.transformer.decoder import Decoder, Memory
from fastdecode.transformer.graphs import GraphedDecoder, encoder_of
from fastdecode.transformer.highest import highest
from fastdecode.transformer.layers import check_supported
from fastdecode.transformer.weights import bytes_per_pass, serial_layers


class FastVerifier:
    """An autoregressive Transformer that looks at a whole draft in one pass."""

    def __init__(self, system: System):
        """Lay the model out; raises UserError if it has parts that are not built here."""
        self._lay_out(system, verifier_model(system), Decoder, GraphedDecoder)

    def _lay_out(
        self,
        system: System,
        model: Any,
        decoder: type[Decoder],
        graphed: type[GraphedDecoder],
        *own: nn.Module,
    ) -> None:
        """Take `model`, whose decoder has this family's `own` modules besides.

        On a GPU a sentence alone has passes of the `graphed` decoder.
        """
        check_supported(model)
        self._encoder = system.share("encoder", lambda: encoder_of(model.encoder))
        self._decoder = system.share("decoder", lambda: decoder(model.decoder))
        self._single = self._decoder
        if recording.pays(model):
            self._single = system.share("graphed", lambda: graphed(self._decoder))
        self.longest = int(model.max_decoder_positions()) - 1
        self.bytes_per_pass = bytes_per_pass(model, *own)
        self.serial_layers = serial_layers(model)

    def encode(self, batch: Batch) -> Tensor:
        """See Verifier."""
        encoded: Tensor = self._encoder(batch.tokens, batch.mask)
        return encoded

    def begin(self, batch: Batch, encoded: Tensor, room: int) -> "FastChecks":
        """See Verifier."""
        return FastChecks(*self._memory(batch, encoded, room))

    def _memory(self, batch: Batch, encoded: Tensor, room: int) -> tuple[Any, Memory]:
        """Return the decoder for this batch and what it begins with."""
        ragged = len(batch.sources) > 1
        decoder = self._decoder if ragged else self._single
        return decoder, decoder.begin(encoded, batch.mask, 1, room + 1, clear=ragged)


class FastChecks:
    """A batch that is verified, with its keys and values."""

    def __init__(self, decoder: Decoder, memory: Memory):
        """Begin with an empty `memory`."""
        self._decoder, self._memory = decoder, memory

    def logits(self, tokens: Tensor, prefixes: Prefixes) -> Tensor:
        """See Checks: each row's cache is cut back to its prefix."""
        return self._decoder.step_at(tokens, prefixes.lengths, prefixes.longest, self._memory)

    def keep(self, rows: Tensor) -> None:
        """See Checks."""
        self._memory.keep_sentences(rows)


class FastDrafter:
    """A drafter of this family."""

    begins = "encode-drafter"

    def __init__(self, system: System, share_encoder: bool = False, min_len: int = 1):
        """Lay the model out; with `share_encoder` the encoder's output comes from the verifier.

        No draft ends a translation before `min_len` tokens. Raises UserError if the model has parts
        that are not built here.
        """
        model = drafter_model(system)
        check_supported(model)
        self._rules = Rules(system.target.eos(), system.target.pad(), min_len)
        self._encoder = system.share("encoder", lambda: encoder_of(model.encoder))
        self._decoder = system.share("decoder", lambda: BlockDecoder(model.decoder))
        self._recorded: RecordedDrafting | None = None
        if recording.pays(model):
            key = f"drafts by {self._rules}"
            self._recorded = system.share(key, lambda: RecordedDrafting(self._decoder, self._rules))
        self._share = share_encoder
        self.longest = int(model.max_decoder_positions())
        self.bytes_per_pass = bytes_per_pass(model)
        self.serial_layers = own_layers(model, share_encoder)

    def begin(self, batch: Batch, encoded: Tensor | None = None) -> Drafts:
        """See Drafter; `encoded` is the verifier's, used where the encoder is shared."""
        if encoded is None or not self._share:
            encoded = self._encoder(batch.tokens, batch.mask)
        words = self._encoder.embed.words(batch.tokens)
        places = torch.arange(batch.tokens.shape[1], device=batch.tokens.device)
        placed = words + self._encoder.embed.positions(places)
        source = Source(self._decoder.source_keys(encoded), words, placed, batch.mask)
        if self._recorded and len(batch.sources) == 1:
            return self._recorded.begin(source)
        return FastDrafts(self._decoder, source, self._rules)


class FastDrafts:
    """A batch that is drafted for."""

    def __init__(self, decoder: BlockDecoder, source: Source, rules: Rules):
        """Draft blocks for `source`."""
        self._decoder, self._source, self._rules = decoder, source, rules
        self.total = torch.zeros((), device=source.words.device)

    def propose(self, prefixes: Prefixes, most: int) -> Tensor:
        """See Drafts: of the block, as the model learned it, the first `most` slots are drafted."""
        logits = self._decoder.fill(prefixes, self._source, most)
        self._rules.forbid_early(logits, prefixes.lengths)
        best, drafts = highest(logits)
        self.total = self.total + best.float().sum()
        return drafts

    def keep(self, rows: Tensor) -> None:
        """See Drafts."""
        self._source = self._source.keep(rows)


class FastBlockwise(FastVerifier):
    """A blockwise model: verifier and drafter in one pass."""

    _decoder: "HeadsDecoder"

    def __init__(self, system: System):
        """Lay the model out; raises UserError if it has parts that are not built here."""
        model = blockwise_model(system)
        self._lay_out(system, model, HeadsDecoder, GraphedHeadsDecoder, model.decoder.heads)

    def begin(self, batch: Batch, encoded: Tensor, room: int) -> "FastBlocks":
        """See Verifier."""
        return FastBlocks(*self._memory(batch, encoded, room))


class FastBlocks(FastChecks):
    """A batch whose passes verify what the passes before proposed."""

    _decoder: "HeadsDecoder"
    _hidden: Tensor | None = None  # (R, n + 1, …) of the last pass
    _before: Tensor | None = None  # (R), lengths of the prefixes at that pass

    def logits(self, tokens: Tensor, prefixes: Prefixes) -> Tensor:
        """See Checks."""
        if self._hidden is None:
            self.total = torch.zeros((), device=tokens.device)
        states = self._decoder.states_at(tokens, prefixes.lengths, prefixes.longest, self._memory)
        self._hidden, self._before = states, prefixes.lengths.clone()
        return self._decoder.first(states)

    def propose(self, prefixes: Prefixes, most: int) -> Tensor:
        """See Drafts: from the state at the last token that was verified, by heads 2 to k."""
        if self._hidden is None or self._before is None:  # nothing was verified yet
            return prefixes.tokens[:, :0]
        last = prefixes.lengths - self._before - 1  # where the verifier wrote a word of its own
        state = self._hidden[torch.arange(len(last), device=last.device), last]  # (R, d)
        best, drafts = highest(self._decoder.others(state, most))
        self.total = self.total + best.float().sum()
        return drafts

    def keep(self, rows: Tensor) -> None:
        """See Checks."""
        super().keep(rows)
        if self._hidden is not None and self._before is not None:
            self._hidden, self._before = self._hidden[rows], self._before[rows]
