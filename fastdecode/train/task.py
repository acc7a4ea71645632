"""A fairseq task that validates with this project's own decoders.

fairseq computes validation BLEU from what `inference_step` returns; here that comes from a decoder
of the model's family, so that validation, the test and a timing translate by the same code.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from fairseq.data import Dictionary
from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationConfig, TranslationTask
from torch import Tensor


@dataclass
class DecodingConfig(TranslationConfig):  # type: ignore[misc]
    """Options of the task; `eval_bleu_args` is a decoder row."""

    family: str = field(default="", metadata={"help": "room below fastdecode/families"})
    assets: str = field(default="", metadata={"help": "folder of what the family needs besides"})


class DecodesItself:
    """What a task inherits, before fairseq's, to translate with a decoder of its family."""

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

    def inference_step(
        self, generator: Any, models: list[Any], sample: dict[str, Any], **_: Any
    ) -> list[list[dict[str, Tensor]]]:
        """Return, as fairseq wants it, one hypothesis for every source of `sample`."""
        from fastdecode.decode import System  # which imports families that import this module

        if self._decoder is None:
            device = next(models[0].parameters()).device.type
            assets = Path(self.cfg.assets) if self.cfg.assets else None
            system = System(models, self.src_dict, self.tgt_dict, device, assets=assets)
            self._decoder = system.decoder(self.cfg.family, generator, " ".join)
        special = {self.src_dict.pad(), self.src_dict.eos()}
        sources = [
            [self.src_dict[i] for i in row if i not in special]
            for row in sample["net_input"]["src_tokens"].tolist()
        ]
        with torch.no_grad():
            translations = self._decoder(sources)
        rows = [[*map(self.tgt_dict.index, t.tokens), self.tgt_dict.eos()] for t in translations]
        return [[{"tokens": torch.tensor(row)}] for row in rows]


@register_task("fastdecode", dataclass=DecodingConfig)
class DecodingTask(DecodesItself, TranslationTask):  # type: ignore[misc]
    """Translation, validated with a decoder of the family."""
