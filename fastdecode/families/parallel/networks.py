"""The trained model as the searches see it: fairseq's own, and ours with the same weights.

Both answer the same questions, those of Network; tests hold the two against each other.
"""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, Protocol

import torch
from torch import Tensor

from fastdecode.devices import looks_are_free
from fastdecode.families.parallel.models import GlancingDecoder
from fastdecode.families.parallel.slots import copied_places
from fastdecode.soft_copy import SoftCopy
from fastdecode.transformer.graphs import encoder_of
from fastdecode.transformer.layers import Embedding, check_supported
from fastdecode.transformer.parallel import TwoWayDecoder


class Network(Protocol):
    """What a search asks of a model; `encoded` is the network's own."""

    def encode(self, sources: Tensor) -> Any:
        """Read framed `sources` (B, S)."""

    def repeated(self, encoded: Any, times: int) -> Any:
        """Return `encoded` for `times` rows of slots to each sentence."""

    def lengths(self, encoded: Any) -> Tensor:
        """Return the likeliest length of each translation, with its frame: (B)."""

    def likeliest(
        self, slots: Tensor, encoded: Any, asked: Tensor, banned: tuple[int, ...] = ()
    ) -> tuple[Tensor, Tensor]:
        """Return each slot's likeliest word and its log-probability, words last: (R, T) both.

        Only where `asked` (R, T) is true; anything elsewhere. Words that are `banned` have
        probability 0.
        """

    def scores(self, slots: Tensor, encoded: Any, banned: tuple[int, ...] = ()) -> Tensor:
        """Return the log-probability of every word in each slot: (R, T, V)."""


class Eager:
    """fairseq's modules as they are."""

    def __init__(self, model: Any):
        """Take a model that was made ready to translate."""
        self._model = model

    def encode(self, sources: Tensor) -> Any:
        """See Network."""
        return self._model.encoder(sources)

    def repeated(self, encoded: Any, times: int) -> Any:
        """See Network."""
        if times == 1:
            return encoded
        states = encoded["encoder_out"][0]  # (S, B, d)
        rows = torch.arange(states.shape[1], device=states.device).repeat_interleave(times)
        return self._model.encoder.reorder_encoder_out(encoded, rows)

    def lengths(self, encoded: Any) -> Tensor:
        """See Network."""
        return _lengths(self._model.decoder, encoded)

    def likeliest(
        self, slots: Tensor, encoded: Any, asked: Tensor, banned: tuple[int, ...] = ()
    ) -> tuple[Tensor, Tensor]:
        """See Network."""
        scores, words = self.scores(slots, encoded, banned).max(-1)
        return scores, words

    def scores(self, slots: Tensor, encoded: Any, banned: tuple[int, ...] = ()) -> Tensor:
        """See Network."""
        logits = self._model.decoder(normalize=False, encoder_out=encoded, prev_output_tokens=slots)
        return _log_softmax(logits, banned)


@dataclass(frozen=True)
class Encoded:
    """Sources that ours has read."""

    tokens: Tensor  # (B, S)
    states: Tensor  # (B, S, d)
    keys: Tensor  # (L, 2, B, H, S, D)
    mask: Tensor | None  # (B, 1, 1, S), None where nothing is padded
    rows: int = 1  # of slots, to each sentence


class Fast:
    """Our modules, laid out for this machine; on a CPU words for slots alone that are asked for.

    No pass waits for a GPU.
    """

    def __init__(self, model: Any):
        """Take the weights of `model`; raises UserError on parts that are not built here."""
        check_supported(model)
        encoder, decoder = model.encoder, model.decoder
        self._module, self._pad = decoder, int(decoder.padding_idx)
        self._encoder, self._decoder = encoder_of(encoder), TwoWayDecoder(decoder)
        self._copies = bool(decoder.src_embedding_copy)
        self._shows_words = isinstance(decoder, GlancingDecoder) or not self._copies
        self._soft_copy: SoftCopy | None = getattr(decoder, "copy", None)
        self._unknown = int(decoder.unk)
        self._words = Embedding(decoder)
        copied = SimpleNamespace(  # of the source, at the decoder's positions
            embed_tokens=encoder.embed_tokens,
            embed_scale=encoder.embed_scale,
            layernorm_embedding=None,
            embed_positions=decoder.embed_positions,
            padding_idx=decoder.padding_idx,
            max_positions=decoder.max_positions,
        )
        shared = encoder.embed_tokens.weight is decoder.embed_tokens.weight
        self._copied = self._words if shared else Embedding(copied)

    def encode(self, sources: Tensor) -> Encoded:
        """See Network."""
        mask = self._mask_of(sources)
        states = self._encoder(sources, mask)
        return Encoded(sources, states, self._decoder.source_keys(states), mask)

    def repeated(self, encoded: Encoded, times: int) -> Encoded:
        """See Network."""
        return replace(encoded, rows=times)

    def lengths(self, encoded: Encoded) -> Tensor:
        """See Network."""
        padding = [] if encoded.mask is None else [~encoded.mask[:, 0, 0]]
        outputs = {
            "encoder_out": [encoded.states.transpose(0, 1)],
            "encoder_padding_mask": padding,
        }
        return _lengths(self._module, outputs)

    def likeliest(
        self, slots: Tensor, encoded: Encoded, asked: Tensor, banned: tuple[int, ...] = ()
    ) -> tuple[Tensor, Tensor]:
        """See Network."""
        states = self._states(slots, encoded, self._mask_of(slots))
        if not looks_are_free(states.device):  # to choose slots there is to wait for how many
            return self._all_likeliest(states, banned)
        best, word = self._decoder.likeliest(states[asked], banned)
        scores, words = best.new_zeros(slots.shape), slots.clone()
        scores[asked], words[asked] = best, word
        return scores, words

    def scores(self, slots: Tensor, encoded: Encoded, banned: tuple[int, ...] = ()) -> Tensor:
        """See Network."""
        return self._all_scores(self._states(slots, encoded, self._mask_of(slots)), banned)

    def _all_likeliest(self, states: Tensor, banned: tuple[int, ...]) -> tuple[Tensor, Tensor]:
        """Answer `likeliest` for all slots, of their `states` (R, T, d)."""
        scores, words = self._decoder.likeliest(states.flatten(0, 1), banned)
        return scores.view(states.shape[:2]), words.view(states.shape[:2])

    def _all_scores(self, states: Tensor, banned: tuple[int, ...]) -> Tensor:
        """Answer `scores`, of the slots' `states` (R, T, d)."""
        return _log_softmax(self._decoder.project(states), banned)

    def _states(self, slots: Tensor, encoded: Encoded, mask: Tensor | None) -> Tensor:
        """Return the states (R, T, d) of slots whose padding the `mask` (R, 1, 1, T) leaves out."""
        return self._decoder(self._embedded(slots, encoded), mask, encoded.keys, encoded.mask)

    def _mask_of(self, tokens: Tensor) -> Tensor | None:
        """Return which `tokens` (R, T) are no padding, (R, 1, 1, T), or None where all are not.

        A row alone has no padding; of several only a CPU can say so without being waited for.
        """
        if len(tokens) == 1:
            return None
        filled = tokens != self._pad
        if looks_are_free(tokens.device) and bool(filled.all()):
            return None
        return filled[:, None, None]

    def _embedded(self, slots: Tensor, encoded: Encoded) -> Tensor:
        """Return what the slots (R, T) begin with: (R, T, d)."""
        positions = torch.arange(slots.shape[1], device=slots.device)
        if not self._copies:
            return self._words(slots, positions)
        if self._soft_copy:
            blank = (slots == self._unknown)[..., None]
            copied = self._mixed(self._soft_copy, positions, encoded)
            begun = torch.where(blank, copied, self._words.words(slots))
            return begun + self._words.positions(positions)
        sources = encoded.tokens.repeat_interleave(encoded.rows, 0)
        tokens = sources.gather(1, copied_places(sources, slots, self._pad))
        if not self._shows_words:
            return self._copied(tokens, positions)
        unknown = slots == self._unknown
        if self._copied is self._words:
            return self._words(torch.where(unknown, tokens, slots), positions)
        copied, words = self._copied(tokens, positions), self._words(slots, positions)
        return torch.where(unknown[..., None], copied, words)

    def _mixed(self, mix: SoftCopy, positions: Tensor, encoded: Encoded) -> Tensor:
        """Return the soft copy of the source for slots at `positions` (T): (R, T, d)."""
        embedded = self._copied.words(encoded.tokens)  # (B, S, d)
        there = torch.arange(embedded.shape[1], device=positions.device)
        placed = embedded + self._copied.positions(there)
        padding = None if encoded.mask is None else ~encoded.mask[:, 0, 0]
        wanted = self._words.positions(positions)[None]
        mixed: Tensor = mix(wanted, embedded, placed, padding)
        return mixed.repeat_interleave(encoded.rows, 0)


def _log_softmax(logits: Tensor, banned: tuple[int, ...]) -> Tensor:
    """Return log-probabilities of words, in single precision at least, as Fast ranks words."""
    logits = logits.to(torch.promote_types(logits.dtype, torch.float))
    for word in banned:
        logits[..., word] = float("-inf")
    return logits.log_softmax(-1)


def _lengths(decoder: Any, encoded: Any) -> Tensor:
    """Ask a fairseq decoder for lengths, with the frame."""
    scores = decoder.forward_length(normalize=True, encoder_out=encoded)
    predicted: Tensor = decoder.forward_length_prediction(scores, encoded)
    return predicted
