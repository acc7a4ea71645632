"""Drafter, verifier and blockwise model as fairseq's own modules: tier reference.

Keys and values are kept in fairseq's incremental state, which grows by whole columns: a column that
no row accepted is cut off, one that some row refused is padding for that row.
"""

from typing import Any

import torch
from torch import Tensor, nn

from fastdecode.drafting import Batch, Prefixes
from fastdecode.families.aggressive.blocks import blocks_after
from fastdecode.families.aggressive.sides import (
    blockwise_model,
    drafter_model,
    own_layers,
    verifier_model,
)
from fastdecode.families.aggressive.verify import Rules
from fastdecode.system import System
from fastdecode.transformer.weights import bytes_per_pass, serial_layers


class EagerVerifier:
    """An autoregressive Transformer of fairseq's."""

    def __init__(self, system: System):
        """Take the model; raises UserError if it cannot verify."""
        self._take(verifier_model(system))

    def _take(self, model: Any, *own: nn.Module) -> None:
        """Take `model`, whose decoder has this family's `own` modules besides."""
        self._model = model
        self.longest = int(model.max_decoder_positions()) - 1
        self.bytes_per_pass = bytes_per_pass(model, *own)
        self.serial_layers = serial_layers(model)

    def encode(self, batch: Batch) -> Any:
        """See Verifier."""
        return self._model.encoder(batch.tokens)

    def begin(self, batch: Batch, encoded: Any, room: int) -> "EagerChecks":
        """See Verifier."""
        return EagerChecks(self._model, encoded, room)


class EagerChecks:
    """A batch that is verified, with fairseq's incremental state."""

    def __init__(self, model: Any, encoded: Any, room: int):
        """Begin with nothing remembered; the longest prefix with its draft has `room` tokens."""
        self._model, self._encoded = model, encoded
        self._state: dict[str, Any] = {}
        self._before: Tensor | None = None  # (R), lengths of the prefixes at the last pass
        self._padding: Tensor | None = None  # (R, columns), true where a row has none
        device = next(model.parameters()).device
        longest = min(room + 1, int(model.max_decoder_positions()))
        anything = torch.full((1, longest), model.decoder.padding_idx + 1, device=device)
        self._positions = model.decoder.embed_positions(anything)[0]  # (longest, d)

    def logits(self, tokens: Tensor, prefixes: Prefixes) -> Tensor:
        """See Checks."""
        logits: Tensor = self._model.decoder.output_layer(self.states(tokens, prefixes))
        return logits

    def states(self, tokens: Tensor, prefixes: Prefixes) -> Tensor:
        """Return the decoder's states (R, n + 1, d)."""
        decoder, new = self._model.decoder, tokens.shape[1]
        self._cut(prefixes.lengths)
        old = 0 if self._padding is None else self._padding.shape[1]
        places = prefixes.lengths[:, None] + torch.arange(new, device=tokens.device)
        positions = self._positions[places.clamp(max=len(self._positions) - 1)]  # (R, n + 1, d)
        x = decoder.embed_scale * decoder.embed_tokens(tokens) + positions
        if decoder.layernorm_embedding:
            x = decoder.layernorm_embedding(x)
        x = x.transpose(0, 1)  # (n + 1, R, d)
        causal = x.new_full((new, new), float("-inf")).triu(1)
        mask = torch.cat([x.new_zeros(new, old), causal], dim=1)
        masks = self._encoded["encoder_padding_mask"]
        for layer in decoder.layers:
            x, _, _ = layer(
                x,
                self._encoded["encoder_out"][0],
                masks[0] if masks else None,
                incremental_state=self._state,
                self_attn_mask=mask,
                self_attn_padding_mask=tokens.new_zeros(tokens.shape, dtype=torch.bool),
            )
        self._before = prefixes.lengths
        x = x.transpose(0, 1)
        states: Tensor = decoder.layer_norm(x) if decoder.layer_norm else x
        return states

    def _cut(self, lengths: Tensor) -> None:
        """Forget what the last pass remembered of drafts that were refused."""
        if self._before is None:
            return
        kept = lengths - self._before  # (R), columns of the last pass that hold accepted tokens
        columns = torch.arange(int(kept.max()), device=lengths.device)
        refused = columns >= kept[:, None]
        old = self._padding if self._padding is not None else refused[:, :0]
        self._padding = torch.cat([old, refused], dim=1)
        for layer in self._model.decoder.layers:
            saved = layer.self_attn._get_input_buffer(self._state)
            for name in ("prev_key", "prev_value"):
                saved[name] = saved[name][:, :, : self._padding.shape[1]].contiguous()
            saved["prev_key_padding_mask"] = self._padding
            layer.self_attn._set_input_buffer(self._state, saved)

    def keep(self, rows: Tensor) -> None:
        """See Checks."""
        self._encoded = self._model.encoder.reorder_encoder_out(self._encoded, rows)
        for layer in self._model.decoder.layers:
            for attention in (layer.self_attn, layer.encoder_attn):
                saved = attention._get_input_buffer(self._state)
                saved = {
                    k: None if x is None else x.index_select(0, rows) for k, x in saved.items()
                }
                attention._set_input_buffer(self._state, saved)
        self._before = None if self._before is None else self._before[rows]
        self._padding = None if self._padding is None else self._padding[rows]


class EagerDrafter:
    """A drafter of this family, as it was trained."""

    begins = "encode-drafter"

    def __init__(self, system: System, share_encoder: bool = False, min_len: int = 1):
        """Take the model; with `share_encoder` the encoder's output comes from the verifier.

        No draft ends a translation before `min_len` tokens. Raises UserError if it is no drafter.
        """
        self.model = drafter_model(system)
        self.rules = Rules(system.target.eos(), system.target.pad(), min_len)
        self.unk = system.target.unk()
        self._share = share_encoder
        self.longest = int(self.model.max_decoder_positions())
        self.bytes_per_pass = bytes_per_pass(self.model)
        self.serial_layers = own_layers(self.model, share_encoder)

    def begin(self, batch: Batch, encoded: Any = None) -> "EagerDrafts":
        """See Drafter."""
        if encoded is None or not self._share:
            encoded = self.model.encoder(batch.tokens)
        return EagerDrafts(self, encoded, self.model.placed(batch.tokens, encoded))


class EagerDrafts:
    """A batch that is drafted for."""

    def __init__(self, drafter: EagerDrafter, encoded: Any, placed: Tensor):
        """Take what the encoder made of the source, and its embeddings with positions."""
        self._drafter, self._encoded, self._placed = drafter, encoded, placed
        self.total = torch.zeros((), device=placed.device)

    def propose(self, prefixes: Prefixes, most: int) -> Tensor:
        """See Drafts: all slots of the block are filled, the first `most` are drafted."""
        drafter, decoder = self._drafter, self._drafter.model.decoder
        known = prefixes.tokens, prefixes.lengths, prefixes.longest
        blocks = blocks_after(*known, decoder.block, drafter.rules.pad, drafter.unk)
        logits: Tensor = decoder(blocks, self._encoded, self._placed)[:, :most]
        drafter.rules.forbid_early(logits, prefixes.lengths)
        best, drafts = logits.max(-1)
        self.total = self.total + best.float().sum()
        return drafts

    def keep(self, rows: Tensor) -> None:
        """See Drafts."""
        self._encoded = self._drafter.model.encoder.reorder_encoder_out(self._encoded, rows)
        self._placed = self._placed[rows]


class EagerBlockwise(EagerVerifier):
    """A blockwise model: verifier and drafter in one pass."""

    def __init__(self, system: System):
        """Take the model; raises UserError if it has no heads."""
        model = blockwise_model(system)
        self._take(model, model.decoder.heads)

    def begin(self, batch: Batch, encoded: Any, room: int) -> "EagerBlocks":
        """See Verifier."""
        return EagerBlocks(self._model, encoded, room)


class EagerBlocks(EagerChecks):
    """A batch whose passes verify what the passes before proposed."""

    _outputs: Tensor | None = None  # (R, n + 1, k, d), all heads at all places of the last pass

    def logits(self, tokens: Tensor, prefixes: Prefixes) -> Tensor:
        """See Checks: by the first head."""
        decoder = self._model.decoder
        if self._outputs is None:
            self.total = torch.zeros((), device=tokens.device)
        self._outputs = decoder.heads(self.states(tokens, prefixes))
        logits: Tensor = decoder.output_layer(self._outputs[..., 0, :])
        return logits

    def propose(self, prefixes: Prefixes, most: int) -> Tensor:
        """See Drafts: from the state at the last token that was verified, by heads 2 to k."""
        if self._outputs is None or self._before is None:  # nothing was verified yet
            return prefixes.tokens[:, :0]
        last = prefixes.lengths - self._before - 1  # where the verifier wrote a word of its own
        outputs = self._outputs[torch.arange(len(last), device=last.device), last]  # (R, k, d)
        logits: Tensor = self._model.decoder.output_layer(outputs[:, 1 : most + 1])
        best, drafts = logits.max(-1)
        self.total = self.total + best.float().sum()
        return drafts

    def keep(self, rows: Tensor) -> None:
        """See Checks."""
        super().keep(rows)
        self._outputs = None if self._outputs is None else self._outputs[rows]
