"""Autoregressive decoding as the papers timed it: fairseq's own SequenceGenerator.

Tier `reference`. Greedy search is beam 1. An ensemble averages the models' probabilities.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from fairseq.data import Dictionary, data_utils
from fairseq.sequence_generator import SequenceGenerator

from fastdecode.config.rows import AutoregressiveDecoder
from fastdecode.translation import Translation


class ReferenceDecoder:
    """Translates batches of BPE-tokenised source sentences."""

    def __init__(
        self,
        models: Sequence[Any],
        source: Dictionary,
        target: Dictionary,
        settings: AutoregressiveDecoder,
        finish: Callable[[list[str]], str],
    ):
        """Decode with `models` (one, or an ensemble); `finish` turns tokens into text."""
        self._source, self._target, self._finish = source, target, finish
        self._device = next(models[0].parameters()).device
        self._generator = SequenceGenerator(
            models,
            target,
            beam_size=settings.beam,
            len_penalty=settings.lenpen,
            max_len_a=settings.max_len_a,
            max_len_b=settings.max_len_b,
        )

    @torch.inference_mode()
    def __call__(self, sources: Sequence[Sequence[str]]) -> list[Translation]:
        """Return one Translation for each of `sources`, which decode as one batch.

        The longest of them sets the limit on length for all (fairseq's max_len_a · length +
        max_len_b), so that a translation which runs into it depends on its batch.
        `passes` counts a sentence's own decoder passes: the length, with `</s>`, of the longest
        hypothesis it finished, since its search ends when the last of the beam is finished.
        """
        ids = [
            torch.tensor([*map(self._source.index, tokens), self._source.eos()])
            for tokens in sources
        ]
        padded = data_utils.collate_tokens(ids, self._source.pad(), left_pad=True)  # (B, S)
        net_input = {
            "src_tokens": padded.to(self._device),
            "src_lengths": torch.tensor([len(i) for i in ids], device=self._device),
        }
        finished = self._generator.generate([], {"net_input": net_input})
        return [self._translation(hypotheses) for hypotheses in finished]

    def _translation(self, hypotheses: list[dict[str, Any]]) -> Translation:
        best = hypotheses[0]
        tokens = [self._target[i] for i in best["tokens"].tolist() if i != self._target.eos()]
        return Translation(
            text=self._finish(tokens),
            tokens=tokens,
            score=float(best["score"]),
            passes=max(len(hypothesis["tokens"]) for hypothesis in hypotheses),
        )
