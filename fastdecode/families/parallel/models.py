"""The models that fairseq does not have: slots that are partly known, and slots of the source."""

from typing import Any

import torch
from fairseq.models import register_model, register_model_architecture
from fairseq.models.nat import NATransformerModel
from fairseq.models.nat.cmlm_transformer import cmlm_base_architecture
from fairseq.models.nat.nonautoregressive_transformer import (
    NATransformerDecoder,
    base_architecture,
)
from fairseq.modules.transformer_sentence_encoder import init_bert_params
from torch import Tensor

from fastdecode.families.parallel.alignment import Labels, best_alignment
from fastdecode.families.parallel.rows import UPSAMPLE
from fastdecode.families.parallel.slots import unframed
from fastdecode.families.parallel.training import CMLM, CTC, GLAT
from fastdecode.scores import scores_and_likeliest, scores_in_blocks
from fastdecode.soft_copy import SoftCopy
from fastdecode.transformer.highest import highest


class GlancingDecoder(NATransformerDecoder):  # type: ignore[misc]
    """fairseq's decoder, but where a slot holds a word it begins with the word's embedding.

    A slot that holds `<unk>` begins with a source embedding, if the model copies any, as all slots
    then do in fairseq. `<s>` and `</s>` are given as words.
    """

    def __init__(self, args: Any, dictionary: Any, embed_tokens: Any):
        """Build fairseq's decoder; with `args.soft_copy` it mixes source embeddings by position."""
        super().__init__(args, dictionary, embed_tokens)
        soft = getattr(args, "soft_copy", False)
        self.copy = SoftCopy(embed_tokens.embedding_dim) if soft else None

    def forward_copying_source(self, embedded: Tensor, source: Tensor, slots: Tensor) -> Tensor:
        """See fairseq: what blank slots begin with (B, T, d), of the `embedded` source (B, S, d).

        `source` (B, S) and `slots` (B, T) are true where there is no padding.
        """
        if self.copy is None:
            copied: Tensor = super().forward_copying_source(embedded, source, slots)
            return copied
        places = embedded.new_full((1, max(source.shape[1], slots.shape[1])), self.unk).long()
        positions = self.embed_positions(places)  # sines, the same on both sides
        placed = embedded + positions[:, : source.shape[1]]
        mixed: Tensor = self.copy(positions[:, : slots.shape[1]], embedded, placed, ~source)
        return mixed

    def forward_embedding(
        self, prev_output_tokens: Tensor, states: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """See fairseq; `states` (B, T, d) are the source embeddings."""
        if states is not None:
            words = self.embed_scale * self.embed_tokens(prev_output_tokens)
            unknown = prev_output_tokens == self.unk
            states = torch.where(unknown[..., None], states, words)
        embedded: tuple[Tensor, Tensor] = super().forward_embedding(prev_output_tokens, states)
        return embedded


@register_model(GLAT)
class GlatModel(NATransformerModel):  # type: ignore[misc]
    """The glancing Transformer (Qian et al. 2021): a NAT that learns the slots it is not shown."""

    @staticmethod
    def add_args(parser: Any) -> None:
        """Add the options of this model to fairseq's."""
        NATransformerModel.add_args(parser)
        _add_copy(parser)

    @classmethod
    def build_decoder(cls, args: Any, tgt_dict: Any, embed_tokens: Any) -> GlancingDecoder:
        """Return a decoder that words may be shown to."""
        return _initialised(GlancingDecoder(args, tgt_dict, embed_tokens), args)

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor,
        prev_output_tokens: Tensor,
        tgt_tokens: Tensor,
    ) -> dict[str, Any]:
        """See fairseq; the loss leaves out words that `prev_output_tokens` (B, T) shows."""
        outputs: dict[str, Any] = super().forward(
            src_tokens, src_lengths, prev_output_tokens, tgt_tokens
        )
        frame = (prev_output_tokens == self.bos) | (prev_output_tokens == self.eos)
        outputs["word_ins"]["mask"] = (prev_output_tokens == self.unk) | frame
        return outputs

    @torch.no_grad()
    def look(
        self, src_tokens: Tensor, src_lengths: Tensor, slots: Tensor, targets: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return what each of the `slots` (B, T) should hold, the target, and what it would say."""
        outputs = self(src_tokens, src_lengths, slots, targets)["word_ins"]["out"]
        return targets, highest(outputs)[1]


@register_model(CTC)
class CtcModel(NATransformerModel):  # type: ignore[misc]
    """Slots for every token of the source, most of them blank (Libovický and Helcl 2018)."""

    @staticmethod
    def add_args(parser: Any) -> None:
        """Add the options of this model to fairseq's."""
        NATransformerModel.add_args(parser)
        parser.add_argument("--upsample", type=int, help="slots for each token of the source")
        _add_copy(parser)

    @classmethod
    def build_decoder(cls, args: Any, tgt_dict: Any, embed_tokens: Any) -> GlancingDecoder:
        """Return a decoder that words may be shown to and that predicts no length."""
        decoder = GlancingDecoder(args, tgt_dict, embed_tokens)
        del decoder.embed_length
        decoder.upsample = int(args.upsample)
        return _initialised(decoder, args)

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor,
        prev_output_tokens: Tensor,
        tgt_tokens: Tensor | None = None,
    ) -> dict[str, Any]:
        """Return logits of all slots (B, T, V), where fairseq's models have them.

        Of `tgt_tokens`, if they are given, the scores alone: see `labels` and alignment.ctc_loss.
        """
        encoded = self.encoder(src_tokens, src_lengths=src_lengths)
        if tgt_tokens is None:
            logits = self.decoder(
                normalize=False, prev_output_tokens=prev_output_tokens, encoder_out=encoded
            )
            return {"word_ins": {"out": logits}}
        wanted, embeddings = self.labels(tgt_tokens).wanted, self.decoder.output_projection.weight
        scores = scores_in_blocks(self._states(prev_output_tokens, encoded), embeddings, wanted)
        return {"emitted": scores.transpose(1, 2)}  # (B, T, M + 1)

    def _states(self, slots: Tensor, encoded: Any) -> Tensor:
        """Return what logits of the slots are made of: (B, T, d)."""
        copied = self.decoder.src_embedding_copy
        states: Tensor = self.decoder.extract_features(slots, encoded, embedding_copy=copied)[0]
        return states

    def labels(self, targets: Tensor) -> Labels:
        """Return the words of framed `targets` (B, M + 2), ready to be aligned."""
        return Labels(*unframed(targets, self.tgt_dict), self.bos)

    @torch.no_grad()
    def look(
        self, src_tokens: Tensor, src_lengths: Tensor, slots: Tensor, targets: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return what each of the `slots` (B, T) should hold, and what it would say.

        It should hold the target along its likeliest alignment; where a target needs more slots
        than there are, what the model says.
        """
        labels, counts = self.labels(targets), (slots != self.pad).sum(1)
        states = self._states(slots, self.encoder(src_tokens, src_lengths=src_lengths))
        embeddings = self.decoder.output_projection.weight
        scores, said = scores_and_likeliest(states, embeddings, labels.wanted)
        aligned = best_alignment(scores.transpose(1, 2), counts, labels)
        feasible = labels.needed <= counts
        return torch.where(feasible[:, None], aligned, said), said


def _add_copy(parser: Any) -> None:
    parser.add_argument("--soft-copy", action="store_true", help="mix the source by positions")


def _initialised(decoder: GlancingDecoder, args: Any) -> GlancingDecoder:
    if getattr(args, "apply_bert_init", False):
        decoder.apply(init_bert_params)
    return decoder


@register_model_architecture("cmlm_transformer", CMLM)  # type: ignore[untyped-decorator]
def cmlm_architecture(args: Any) -> None:
    """Fill in what the command line leaves open; fairseq would share embeddings all the same."""
    args.share_all_embeddings = getattr(args, "share_all_embeddings", False)
    cmlm_base_architecture(args)


@register_model_architecture(GLAT, GLAT)  # type: ignore[untyped-decorator]
def glat_architecture(args: Any) -> None:
    """Fill in what the command line leaves open."""
    base_architecture(args)


@register_model_architecture(CTC, CTC)  # type: ignore[untyped-decorator]
def ctc_architecture(args: Any) -> None:
    """Fill in what the command line leaves open."""
    args.upsample = getattr(args, "upsample", None) or UPSAMPLE
    base_architecture(args)
