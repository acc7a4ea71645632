"""A fairseq task that validates with this project's own decoders.

fairseq computes validation BLEU from what `inference_step` returns; here that comes from a decoder
of the model's family, so that validation, the test and a timing translate by the same code.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq.data import Dictionary
from fairseq.logging import metrics
from fairseq.tasks import register_task
from fairseq.tasks.translation import EVAL_BLEU_ORDER, TranslationConfig, TranslationTask
from torch import Tensor, nn

from fastdecode.system import System, decode_filled


@dataclass
class DecodingConfig(TranslationConfig):  # type: ignore[misc]
    """Options of the task; `eval_bleu_args` is a decoder row."""

    family: str = field(default="", metadata={"help": "room below fastdecode/families"})
    assets: str = field(default="", metadata={"help": "folder of what the family needs besides"})
    companions: str = field(
        default="", metadata={"help": "checkpoints of other systems that training needs, as JSON"}
    )


class DecodesItself:
    """What a task inherits, before fairseq's, to translate with a decoder of its family.

    `cfg.companions` tells a model that is built for training where the checkpoints of others lie;
    it is empty where a trained model is loaded.
    """

    cfg: Any
    src_dict: Dictionary
    tgt_dict: Dictionary
    _decoder: Any = None

    def build_generator(self, models: list[Any], args: Any, *rest: Any, **more: Any) -> Any:
        """Return the decoder row; the decoder is built when a validation begins."""
        return vars(args)

    def begin_valid_epoch(self, epoch: int, model: Any) -> None:
        """Forget the decoder: the model has learned since it was built."""
        self._decoder = None
        super().begin_valid_epoch(epoch, model)  # type: ignore[misc]

    def train_step(self, *arguments: Any, **named: Any) -> Any:
        """See fairseq's translation: its non-autoregressive tasks do not tell the model the update.

        What a training draws, and how much it shows of a target, goes by that. The decoder of the
        last validation, which may hold a copy of the weights, is let go.
        """
        self._decoder = None
        return TranslationTask.train_step(self, *arguments, **named)

    def valid_step(self, sample: dict[str, Any], model: Any, criterion: Any) -> Any:
        """Return fairseq's loss with BLEU, which its non-autoregressive tasks leave out."""
        return TranslationTask.valid_step(self, sample, model, criterion)

    def reduce_metrics(self, logging_outputs: list[dict[str, Any]], criterion: Any) -> None:
        """Add a BLEU of 0 for sentences without any word, which fairseq leaves out of all counts.

        A young model may write nothing else, and fairseq then ends for want of a score.
        """
        super().reduce_metrics(logging_outputs, criterion)  # type: ignore[misc]
        validated = [log for log in logging_outputs if "_bleu_ref_len" in log]
        if validated and not sum(log["_bleu_sys_len"] for log in validated):
            metrics.log_scalar("_bleu_counts", np.zeros(EVAL_BLEU_ORDER))
            metrics.log_scalar("_bleu_totals", np.zeros(EVAL_BLEU_ORDER))
            metrics.log_scalar("_bleu_sys_len", 0)
            metrics.log_scalar("_bleu_ref_len", sum(log["_bleu_ref_len"] for log in validated))
            metrics.log_derived("bleu", _bleu)  # does nothing where fairseq has done so

    def inference_step(
        self, generator: Any, models: list[Any], sample: dict[str, Any], **_: Any
    ) -> list[list[dict[str, Tensor]]]:
        """Return, as fairseq wants it, one hypothesis for every source of `sample`."""
        if self._decoder is None:
            device = next(models[0].parameters()).device.type
            assets = Path(self.cfg.assets) if self.cfg.assets else None
            system = System(
                [*map(_bare, models)], self.src_dict, self.tgt_dict, device, assets=assets
            )
            self._decoder = system.decoder(self.cfg.family, generator, " ".join)
        special = {self.src_dict.pad(), self.src_dict.bos(), self.src_dict.eos()}
        sources = [
            [self.src_dict[i] for i in row if i not in special]
            for row in sample["net_input"]["src_tokens"].tolist()
        ]
        with torch.no_grad():
            words = [found.tokens for found in decode_filled(self._decoder, sources)]
        rows = [[*map(self.tgt_dict.index, tokens), self.tgt_dict.eos()] for tokens in words]
        return [[{"tokens": torch.tensor(row)}] for row in rows]


def _bare(model: Any) -> Any:
    """Return the model itself, which fairseq wraps where several GPUs train it."""
    while isinstance(getattr(model, "module", None), nn.Module):
        model = model.module
    return model


def _bleu(meters: Any) -> float:
    """Return the BLEU of a whole validation from its sums, as fairseq computes it."""
    from sacrebleu import BLEU

    names = ("_bleu_counts", "_bleu_totals", "_bleu_sys_len", "_bleu_ref_len")
    counts, totals, words, reference_words = (meters[name].sum for name in names)
    score = BLEU.compute_bleu(
        counts, totals, int(words), int(reference_words), smooth_method="exp"
    ).score
    return round(score, 2)


@register_task("fastdecode", dataclass=DecodingConfig)
class DecodingTask(DecodesItself, TranslationTask):  # type: ignore[misc]
    """Translation, validated with a decoder of the family."""
