"""Autoregressive decoding by CTranslate2, the fastest engine for it outside this project.

Tier `optimised`. At beam 1 its tokens are those of fairseq's greedy search. With a wider beam a few
translations differ, mostly those that run into their limit on length, since it ranks them by rules
of its own.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ctranslate2
import torch

from fastdecode.errors import UserError
from fastdecode.families.autoregressive.bytes import ADVICE, bytes_overflow
from fastdecode.families.autoregressive.export import export
from fastdecode.families.autoregressive.rows import Decoder
from fastdecode.limits import limits
from fastdecode.stages import Stopwatch
from fastdecode.system import System
from fastdecode.transformer.weights import bytes_per_pass, serial_layers
from fastdecode.translation import Finish, Translation, finite

TYPES = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}


class CTranslate2Decoder:
    """Translates batches of BPE-tokenised source sentences."""

    def __init__(
        self,
        system: System,
        row: Decoder,
        finish: Finish,
        watch: Stopwatch,
    ):
        """Decode with the one model of `system`; `finish` turns tokens into text.

        CTranslate2 takes as many threads as PyTorch has now. Raises UserError if the model or its
        precision is not for CTranslate2.
        """
        if system.lengths is not None:
            raise UserError(
                "engine ctranslate2 holds no sentence of a batch to a length of its own"
            )
        (model,) = system.models
        self._row, self._finish, self._watch = row, finish, watch
        self._longest = int(model.max_decoder_positions()) - 1
        self._end, self._pad = system.target.eos_word, system.target.pad_word
        read = bytes_per_pass(model)
        self.bytes_per_pass = read // next(model.parameters()).element_size() if row.int8 else read
        self.serial_layers = serial_layers(model)
        self._translator = _open(system, row)

    def __call__(self, sources: Sequence[Sequence[str]]) -> list[Translation]:
        """Return one Translation for each of `sources`, which decode as one batch.

        Each has its own limit on length (limits.py): the batch runs to the highest, and what
        reached its own is decoded again, alone, so that a batch is its sentences one by one.
        `passes` is the length, with `</s>`, of the longest hypothesis returned. At beam 1 that is
        the number of decoder passes; how long a wider search ran, CTranslate2 does not say.
        Scores are fairseq's but for what may not come, padding and a `</s>` before min_len: its
        probability, which fairseq leaves unused, CTranslate2 shares out among the rest. A
        translation that was cut at its limit has no score: fairseq's has the probability of `</s>`
        there, for which CTranslate2 would need a pass more.
        Stages: decode (CTranslate2's call, which does not say more), finish.
        """
        self._watch.start()
        most = limits(sources, self._row, None, self._longest).tolist()
        highest = max(most)
        results = self._decode(sources, highest)
        for i, limit in enumerate(most):
            if limit < highest and _longest(results[i]) > limit:  # alone it would stop there
                (results[i],) = self._decode([sources[i]], limit)
        self._watch.lap("decode")
        translations = [
            self._translation(result, limit) for result, limit in zip(results, most, strict=True)
        ]
        self._watch.lap("finish")
        return self._watch.share(translations)

    def _decode(self, sources: Sequence[Sequence[str]], limit: int) -> list[Any]:
        """Return CTranslate2's results for one batch, `</s>` among their tokens.

        A translation that reached `limit` has one token more, where fairseq forces `</s>`.
        """
        results: list[Any] = self._translator.translate_batch(
            [list(tokens) for tokens in sources],
            max_batch_size=0,  # all as one batch
            max_input_length=0,  # nothing is cut off
            beam_size=self._row.beam,
            num_hypotheses=self._row.beam,
            length_penalty=self._row.lenpen,
            min_decoding_length=self._row.min_len,
            max_decoding_length=limit + 1,
            suppress_sequences=[[self._pad]],
            return_end_token=True,
            return_scores=True,
        )
        return results

    def _translation(self, result: Any, limit: int) -> Translation:
        tokens, score = result.hypotheses[0], result.scores[0]
        finite(result.scores)
        if tokens[-1] == self._end:
            tokens = tokens[:-1]
        else:
            tokens, score = tokens[:limit], None  # the score has what came in the place of </s>
        return Translation(self._finish(tokens), tokens, score, passes=_longest(result))


def _longest(result: Any) -> int:
    """Return the length, with `</s>`, of the longest hypothesis."""
    return max(map(len, result.hypotheses))


def _open(system: System, row: Decoder) -> Any:
    """Return CTranslate2's translator, one for all decoders of `system` with this arithmetic."""
    if system.precision not in TYPES:
        raise UserError(
            f"CTranslate2 does not compute in {system.precision}: "
            f"set precision to one of {', '.join(TYPES)}"
        )
    kind = TYPES[system.precision]
    if row.int8:
        kind = f"int8_{kind}"
        if system.device == "cpu" and bytes_overflow():
            raise UserError(ADVICE)
    threads = torch.get_num_threads()

    def make() -> Any:
        with TemporaryDirectory(prefix="fastdecode.") as aside:  # until CTranslate2 has read it
            folder = Path(aside, "model")
            export(system.models[0], system.source, system.target, folder)
            try:
                translator = ctranslate2.Translator(
                    str(folder),
                    device=system.device,
                    compute_type=kind,
                    inter_threads=1,
                    intra_threads=threads,
                )
                # Libraries of a GPU are looked for at the first product alone.
                end = system.source[system.source.eos()]
                translator.translate_batch([[end]], beam_size=1, max_decoding_length=1)
                return translator
            except (ValueError, RuntimeError) as error:
                raise UserError(f"CTranslate2 cannot decode on this machine: {error}") from None

    return system.share(f"ctranslate2 {kind} {threads}", make)
