"""Load trained systems and translate with them: a test split, a shard of training text, a line."""

# ruff: noqa: E402  fairseq talks while it is imported: its log is quietened before

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

logging.getLogger("fairseq").setLevel(logging.WARNING)

from fairseq import checkpoint_utils
from fairseq.data import Dictionary

import fastdecode.plugin  # noqa: F401  registers what a fairseq checkpoint may hold
from fastdecode.config.rows import AutoregressiveDecoder
from fastdecode.distill import shard_of
from fastdecode.errors import UserError
from fastdecode.families.autoregressive.reference import ReferenceDecoder
from fastdecode.files import read_lines, write_lines
from fastdecode.progress import track
from fastdecode.text import Text
from fastdecode.train.checkpoints import is_whole
from fastdecode.train.run import check_device
from fastdecode.translation import Translation

Decoder = Callable[[Sequence[Sequence[str]]], list[Translation]]


@dataclass(frozen=True)
class System:
    """Trained models that translate together, with their dictionaries."""

    models: list[Any]
    source: Dictionary
    target: Dictionary

    def decoder(
        self, settings: AutoregressiveDecoder, finish: Callable[[list[str]], str]
    ) -> Decoder:
        """Return what translates batches of BPE-tokenised sentences with these models."""
        return ReferenceDecoder(self.models, self.source, self.target, settings, finish)


def load_system(checkpoints: Sequence[Path], data: Path, device: str) -> System:
    """Load the models of `checkpoints` (several form an ensemble) with the dictionaries in `data`.

    Raises UserError on a missing or damaged checkpoint and on a missing GPU.
    """
    check_device(device)
    for path in checkpoints:
        if not path.exists():
            raise UserError(f"{path}: no such checkpoint: train it first")
        if not is_whole(path):
            raise UserError(
                f"{path}: the checkpoint is truncated or damaged: delete it and run again"
            )
    models, _, task = checkpoint_utils.load_model_ensemble_and_task(
        [str(path) for path in checkpoints], arg_overrides={"data": str(data)}
    )
    for model in models:
        model.to(device).eval()
    return System(models, task.source_dictionary, task.target_dictionary)


def batches(sentences: Sequence[Sequence[str]], most_tokens: int) -> list[list[int]]:
    """Group sentence numbers, longest first, into batches of at most `most_tokens` with padding.

    A longer sentence is a batch of its own.
    """
    order = sorted(range(len(sentences)), key=lambda i: (-len(sentences[i]), i))
    groups: list[list[int]] = []
    width = 0
    for i in order:
        if not groups or (len(groups[-1]) + 1) * width > most_tokens:
            groups.append([])
            width = len(sentences[i]) + 1  # with </s>
        groups[-1].append(i)
    return groups


def decode_all(
    decoder: Decoder, sentences: Sequence[Sequence[str]], most_tokens: int, label: str
) -> list[Translation]:
    """Translate all `sentences` in batches; return the translations in their order.

    An empty sentence is not decoded: its translation is empty.
    """
    results = {i: Translation("", [], None, 0) for i, s in enumerate(sentences) if not s}
    filled = [i for i, sentence in enumerate(sentences) if sentence]
    groups = batches([sentences[i] for i in filled], most_tokens)
    # Progress counts sentences, so the loop hands out one at a time behind each batch.
    done = (
        (filled[i], translation)
        for group in groups
        for i, translation in zip(
            group, decoder([sentences[filled[i]] for i in group]), strict=True
        )
    )
    results |= dict(track(done, label, "sentences", total=len(filled)))
    return [results[i] for i in range(len(sentences))]


def distill_shard(
    system: System,
    settings: AutoregressiveDecoder,
    source: Path,
    shard: int,
    shards: int,
    out: Path,
    label: str,
    most_tokens: int = 2048,
) -> None:
    """Translate one part of the BPE-tokenised training text `source` into BPE tokens."""
    sentences = [line.split() for line in shard_of(list(read_lines(source)), shard, shards)]
    decoder = system.decoder(settings, finish=" ".join)
    write_lines(out, (t.text for t in decode_all(decoder, sentences, most_tokens, label)))


def one_by_one(decoder: Decoder, text: Text) -> Callable[[str], Translation]:
    """Return what translates one raw line: the whole way that a latency measurement times."""

    def translate(line: str) -> Translation:
        tokens = text.source_tokens(line)
        return decoder([tokens])[0] if tokens else Translation("", [], None, 0)

    return translate
