"""Autoregressive decoding as the papers timed it: fairseq's own SequenceGenerator.

Tier `reference`. Greedy search is beam 1. An ensemble averages the models' probabilities.
"""

from collections.abc import Sequence
from functools import reduce
from math import inf
from typing import Any

import torch
from fairseq.search import BeamSearch
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor

from fastdecode.errors import UserError
from fastdecode.families.autoregressive.rows import Decoder as Row
from fastdecode.framing import end_sentences
from fastdecode.limits import limits
from fastdecode.stages import Stopwatch
from fastdecode.system import System
from fastdecode.transformer.weights import Layers, bytes_per_pass, serial_layers
from fastdecode.translation import NOT_FINITE, Finish, Translation


class OwnLimits:
    """A limit for each sentence, for a search of fairseq's, which has one for a batch."""

    eos: int

    def hold(self, limits: Tensor, exact: bool) -> None:
        """Let translations have at most, or if `exact` just, `limits` (B) tokens without `</s>`."""
        self._limits, self._exact, self._least = limits, exact, int(limits.min())

    def allowed(self, step: int, lprobs: Tensor, sentences: Tensor | None) -> Tensor:
        """Return `lprobs` (B', K, V) of these `sentences`, -inf at what their limits forbid."""
        if self._exact or step >= self._least:
            left = self._limits[sentences] - step  # (B')
            if self._exact:
                lprobs[..., self.eos].masked_fill_((left > 0)[:, None], -inf)
            others = torch.arange(lprobs.shape[-1], device=lprobs.device) != self.eos
            lprobs = lprobs.masked_fill((left == 0)[:, None, None] & others, -inf)
        return lprobs


class LimitedBeamSearch(OwnLimits, BeamSearch):  # type: ignore[misc]
    """fairseq's beam search, which can tell whether it is stuck."""

    def hold(self, limits: Tensor, exact: bool) -> None:
        """See OwnLimits."""
        super().hold(limits, exact)
        self._best = torch.zeros(0, device=limits.device)  # (B') of the last step

    def step(
        self,
        step: int,
        lprobs: Tensor,
        scores: Tensor,
        prev_output_tokens: Tensor | None = None,
        original_batch_idxs: Tensor | None = None,
    ) -> Any:
        """See fairseq; `lprobs` (B', K, V) are those of the sentences that are not done."""
        lprobs = self.allowed(step, lprobs, original_batch_idxs)
        found = super().step(step, lprobs, scores, prev_output_tokens, original_batch_idxs)
        self._best = found[0][:, 0]
        return found

    def stuck(self) -> bool:
        """Tell whether a sentence had no continuation in the last step.

        Some token always may come: none has a probability only where the model's scores are no
        numbers, which fairseq takes for -inf.
        """
        return not bool(self._best.isfinite().all())


class ReferenceDecoder:
    """Translates batches of BPE-tokenised source sentences."""

    def __init__(self, system: System, row: Row, finish: Finish, watch: Stopwatch):
        """Decode with the models of `system`, one or an ensemble."""
        models = system.models
        self._row, self._lengths = row, system.lengths
        self._longest = min(int(model.max_decoder_positions()) for model in models) - 1
        self._source, self._target = system.source, system.target
        self._finish, self._watch = finish, watch
        self.bytes_per_pass = sum(map(bytes_per_pass, models))
        self.serial_layers = reduce(Layers.before, map(serial_layers, models))
        self._device = next(models[0].parameters()).device
        self._generator = SequenceGenerator(
            models,
            system.target,
            beam_size=row.beam,
            len_penalty=row.lenpen,
            max_len_a=0,
            min_len=row.min_len if system.lengths is None else 1,
            search_strategy=LimitedBeamSearch(system.target),
        )
        self._time_stages(self._generator.model)

    def _time_stages(self, model: Any) -> None:
        """Press the stopwatch around the model's two halves: what lies between is search."""
        encode, decode = model.forward_encoder, model.forward_decoder

        def timed_encode(*arguments: Any) -> Any:
            self._watch.lap("search")
            result = encode(*arguments)
            self._watch.lap("encode")
            return result

        def timed_decode(*arguments: Any) -> Any:
            self._watch.lap("search")
            result = decode(*arguments)
            self._watch.lap("decode")
            return result

        model.forward_encoder, model.forward_decoder = timed_encode, timed_decode

    @torch.inference_mode()
    def __call__(self, sources: Sequence[Sequence[str]]) -> list[Translation]:
        """Return one Translation for each of `sources`, which decode as one batch.

        The limit on length is each sentence's own (max_len_a · length + max_len_b). fairseq lets
        the longest of a batch set it for all, so that what runs into it depends on its batch.
        `passes` counts a sentence's own decoder passes: the length, with `</s>`, of the longest
        hypothesis it finished, since its search ends when the last of the beam is finished.
        Stages: encode, decode (the decoder's passes), search (all between), finish.
        """
        self._watch.start()
        padded = end_sentences(sources, self._source, left_pad=True)  # (B, S)
        lengths = [len(tokens) + 1 for tokens in sources]
        net_input = {
            "src_tokens": padded.to(self._device),
            "src_lengths": torch.tensor(lengths, device=self._device),
        }
        most = limits(sources, self._row, self._lengths, self._longest)
        self._generator.max_len_b = int(most.max())
        self._generator.search.hold(most.to(self._device), exact=self._lengths is not None)
        try:
            finished = self._generator.generate([], {"net_input": net_input})
        except AssertionError:  # a sentence did not end at its limit
            if self._generator.search.stuck():
                raise UserError(NOT_FINITE) from None
            raise
        self._watch.lap("search")
        translations = [self._translation(hypotheses) for hypotheses in finished]
        self._watch.lap("finish")
        return self._watch.share(translations)

    def _translation(self, hypotheses: list[dict[str, Any]]) -> Translation:
        best = hypotheses[0]
        tokens = [self._target[i] for i in best["tokens"].tolist() if i != self._target.eos()]
        return Translation(
            text=self._finish(tokens),
            tokens=tokens,
            score=float(best["score"]),
            passes=max(len(hypothesis["tokens"]) for hypothesis in hypotheses),
        )
