"""Drafter, verifier and blockwise model over this project's own Transformer: tier optimised."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fastdecode.drafting import Batch, Prefixes
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
from fastdecode.transformer.graphs import GraphedDecoder, encoder_of, pad_source
from fastdecode.transformer.highest import highest
from fastdecode.transformer.layers import Embedding, check_supported
from fastdecode.transformer.linear import Linear
from fastdecode.transformer.parallel import TwoWayDecoder
from fastdecode.transformer.recording import Recorded, up
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
        if recording.pays(model):
            self._decoder = system.share("graphed", lambda: GraphedBlockDecoder(self._decoder))
        self._share = share_encoder
        self.longest = int(model.max_decoder_positions())
        self.bytes_per_pass = bytes_per_pass(model)
        self.serial_layers = own_layers(model, share_encoder)

    def begin(self, batch: Batch, encoded: Tensor | None = None) -> "FastDrafts":
        """See Drafter; `encoded` is the verifier's, used where the encoder is shared."""
        if encoded is None or not self._share:
            encoded = self._encoder(batch.tokens, batch.mask)
        words = self._encoder.embed.words(batch.tokens)
        places = torch.arange(batch.tokens.shape[1], device=batch.tokens.device)
        placed = words + self._encoder.embed.positions(places)
        source = Source(self._decoder.source_keys(encoded), words, placed, batch.mask)
        return FastDrafts(self._decoder, source, self._rules)


@dataclass
class Source:
    """What the drafter's decoder reads of B source sentences."""

    keys: Tensor
    """Keys and values, (L, 2, B, H, S, D)."""
    words: Tensor
    """Embeddings (B, S, d)."""
    placed: Tensor
    """Embeddings with positions (B, S, d)."""
    mask: Tensor | None
    """(B, 1, 1, S), true where there are words; None where nothing is padded."""
    copied: Tensor | None = None
    """(B, W, d): what a slot at each of the first W places begins with; see BlockDecoder."""

    def keep(self, rows: Tensor) -> "Source":
        """Return these sentences alone."""
        mask = None if self.mask is None else self.mask[rows]
        copied = None if self.copied is None else self.copied[rows]
        return Source(self.keys[:, :, rows], self.words[rows], self.placed[rows], mask, copied)


class FastDrafts:
    """A batch that is drafted for."""

    def __init__(self, decoder: "BlockDecoder", source: Source, rules: Rules):
        """Draft blocks for `source`."""
        self._decoder, self._source, self._rules = decoder, source, rules

    def propose(self, prefixes: Prefixes, most: int) -> Tensor:
        """See Drafts: of the block, as the model learned it, the first `most` slots are drafted."""
        logits = self._decoder.fill(prefixes, self._source, most)
        self._rules.forbid_early(logits, prefixes.lengths)
        return highest(logits)[1]

    def keep(self, rows: Tensor) -> None:
        """See Drafts."""
        self._source = self._source.keep(rows)


class BlockDecoder(TwoWayDecoder):
    """The drafter's decoder: it looks both ways over prefixes and slots.

    Of a pass it keeps nothing; positions, which are of no sentence, are laid out once.
    """

    def __init__(self, module: Any):
        """Take the weights of a BlockNetwork."""
        super().__init__(module)
        self._block = int(module.block)
        # The last block may reach behind the last position.
        self._embed = Embedding(module, further=self._block)
        self._copy = Linear([module.copy.query])
        self._scale = module.embed_tokens.embedding_dim**-0.5
        # (W, d) each, as far as they were asked for: positions, and what slots there look for.
        self._places: Tensor = module.embed_tokens.weight.new_empty(0, 0)
        self._queries = self._places

    def fill(self, prefixes: Prefixes, source: Source, most: int) -> Tensor:
        """Return logits (R, most, V) of the first slots of the block behind each prefix.

        There are always as many, past the end of a translation too, as the model learned it.
        """
        longest, width, most = (
            prefixes.longest,
            prefixes.longest + self._block,
            min(most, self._block),
        )
        tokens, keys = prefixes.tokens[:, :longest], source.keys
        places, slots = self._slots(source, width)  # (W, d), (R, W, d)
        if len(tokens) > 1:
            tokens = F.pad(tokens, (0, self._block))
            return self._behind(most, tokens, prefixes.lengths, places, slots, keys, source.mask)
        x = torch.cat([self._embed.words(tokens), slots[:, longest:]], 1)
        x = self._layers_of(x, places, None, keys, source.mask)
        return self._logits(x[:, longest : longest + most])

    def _behind(
        self,
        most: int,
        tokens: Tensor,  # (R, W)
        lengths: Tensor,  # (R)
        places: Tensor,  # (W, d)
        slots: Tensor,  # (R, W, d)
        keys: Tensor,  # (L, 2, R, H, S, D)
        source_mask: Tensor | None,  # (R, 1, 1, S)
    ) -> Tensor:
        """Do what `fill` says where nobody but the device knows the `lengths` of the prefixes."""
        behind = torch.arange(tokens.shape[1], device=lengths.device) - lengths[:, None]
        x = slots.where((behind >= 0)[..., None], self._embed.words(tokens))
        mask = (behind < self._block)[:, None, None]  # behind the slots there is nothing
        x = self._layers_of(x, places, mask, keys, source_mask)
        wanted = lengths[:, None] + torch.arange(most, device=lengths.device)
        return self._logits(x.gather(1, wanted[..., None].expand(-1, -1, x.shape[-1])))

    def _layers_of(
        self, x: Tensor, places: Tensor, mask: Tensor | None, keys: Tensor, source: Tensor | None
    ) -> Tensor:
        for layer, its in zip(self.layers, keys, strict=True):
            x = layer.both_ways(x + places, mask, its, source)
        return x

    def _logits(self, states: Tensor) -> Tensor:
        return self.project(self._norm(states) if self._norm else states)

    def _slots(self, source: Source, width: int) -> tuple[Tensor, Tensor]:
        """Return the positions (W, d) and what slots there begin with (R, W, d): a soft copy.

        It depends on the place alone, so that it is computed once, ahead, for places to come too.
        """
        if source.copied is None or source.copied.shape[1] < width:
            source.copied = self._soft_copy(source, 2 * width)
        return self._places[:width], source.copied[:, :width]

    def _soft_copy(self, source: Source, width: int) -> Tensor:
        if len(self._places) < width:
            everywhere = torch.arange(width, device=self._places.device)
            self._places = self._embed.positions(everywhere)
            self._queries = self._copy(self._places)
        scores = self._queries[:width] @ source.placed.transpose(1, 2) * self._scale  # (R, W, S)
        if source.mask is not None:
            scores = scores.masked_fill(~source.mask[:, 0], float("-inf"))
        copied: Tensor = scores.softmax(-1) @ source.words
        return copied


class GraphedBlockDecoder(BlockDecoder):
    """A BlockDecoder that records its passes for a sentence alone."""

    def __init__(self, decoder: BlockDecoder):
        """Take over a decoder's weights, which lie in memory once."""
        vars(self).update(vars(decoder))
        self._recorded = Recorded(partial(decoder._behind, self._block), "drafting")

    def fill(self, prefixes: Prefixes, source: Source, most: int) -> Tensor:
        """See BlockDecoder. The logits are overwritten by those of the next block."""
        if len(prefixes.lengths) > 1:
            return super().fill(prefixes, source, most)
        width = up(prefixes.longest + self._block)
        given = prefixes.tokens[:, :width]
        tokens = F.pad(given, (0, width - given.shape[1]))
        places, slots = self._slots(source, width)
        keys = pad_source(source.keys)
        return self._recorded(tokens, prefixes.lengths, places, slots, *keys)[:, :most]


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
        states = self._decoder.states_at(tokens, prefixes.lengths, prefixes.longest, self._memory)
        self._hidden, self._before = states, prefixes.lengths
        return self._decoder.first(states)

    def propose(self, prefixes: Prefixes, most: int) -> Tensor:
        """See Drafts: from the state at the last token that was verified, by heads 2 to k."""
        if self._hidden is None or self._before is None:  # nothing was verified yet
            return prefixes.tokens[:, :0]
        last = prefixes.lengths - self._before - 1  # where the verifier wrote a word of its own
        state = self._hidden[torch.arange(len(last), device=last.device), last]  # (R, d)
        return highest(self._decoder.others(state, most))[1]

    def keep(self, rows: Tensor) -> None:
        """See Checks."""
        super().keep(rows)
        if self._hidden is not None and self._before is not None:
            self._hidden, self._before = self._hidden[rows], self._before[rows]


class HeadsDecoder(Decoder):
    """The decoder of a blockwise model; what most passes do not need is not computed."""

    def __init__(self, module: Any):
        """Take the weights of the room's own BlockwiseDecoder."""
        super().__init__(module)
        heads = module.heads
        self._inner = Linear([heads.fc1], relu=True)
        width, self._count = heads.fc2.weight.shape[0] // heads.count, heads.count
        self._first = Linear([_Rows(heads.fc2, 0, width)])
        self._rest = Linear([_Rows(heads.fc2, width, None)])

    def first(self, states: Tensor) -> Tensor:
        """Return the first head's logits (…, V) of `states` (…, d)."""
        return self.project(states + self._first(self._inner(states)))

    def others(self, states: Tensor, most: int) -> Tensor:
        """Return logits (R, n, V) of `most` heads at most after the first, of states (R, d)."""
        outputs = self._rest(self._inner(states)).unflatten(-1, (self._count - 1, -1))
        return self.project(states[:, None] + outputs[:, :most])


class GraphedHeadsDecoder(GraphedDecoder, HeadsDecoder):
    """A HeadsDecoder whose passes are recorded; heads are not, which make little of few states."""


class _Rows:
    """Some outputs of a linear layer."""

    def __init__(self, layer: Any, start: int, end: int | None):
        self.weight, self.bias = layer.weight[start:end], layer.bias[start:end]
