"""Models with random weights: what a decoder costs shows before anything is trained."""

from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerModel, base_architecture

from fastdecode.config.models import Architecture
from fastdecode.decode import prepare
from fastdecode.system import System

EXTRA = 4  # fairseq's own symbols


@dataclass(frozen=True)
class Untrained:
    """What a family's room builds with nothing trained, for the benchmark."""

    architecture: Architecture
    vocabulary: int
    length: int  # tokens of every source and translation
    device: str
    precision: str
    folder: Path  # empty, for what a family needs besides its model

    def system(self, kind: Any = TransformerModel, **options: Any) -> System:
        """Return a model of random weights: see untrained_system."""
        return untrained_system(
            self.architecture,
            self.vocabulary,
            device=self.device,
            precision=self.precision,
            kind=kind,
            **options,
        )


def untrained_system(
    architecture: Architecture,
    vocabulary: int,
    seed: int = 1,
    device: str = "cpu",
    precision: str = "fp32",
    kind: Any = TransformerModel,
    **options: Any,
) -> System:
    """Return a model of random weights over `vocabulary` words, w0 to w…, of both sides.

    `kind` is fairseq's Transformer or a class derived from it, `options` are further settings of
    its architecture, such as encoder_learned_pos=True or max_target_positions, by default 1024.
    """
    words = Dictionary()
    for number in range(vocabulary - EXTRA):
        words.add_symbol(f"w{number}")
    settings: dict[str, Any] = {"share_all_embeddings": True}
    for side in ("encoder", "decoder"):
        settings |= {
            f"{side}_embed_dim": architecture.width,
            f"{side}_ffn_embed_dim": architecture.ffn,
            f"{side}_attention_heads": architecture.heads,
            f"{side}_layers": getattr(architecture, f"{side}_layers"),
            f"{side}_normalize_before": architecture.prenorm,
        }
    positions = {"max_source_positions": 1024, "max_target_positions": 1024}
    arguments = Namespace(**settings | positions | options)
    base_architecture(arguments)
    task = SimpleNamespace(source_dictionary=words, target_dictionary=words)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = kind.build_model(arguments, task)
    prepare(model, device, precision)
    return System([model], words, words, device, precision)
