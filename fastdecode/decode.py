"""Load trained systems and translate with them: a test split, a shard of training text, lines."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from fairseq import checkpoint_utils

import fastdecode.plugin  # noqa: F401  registers what a fairseq checkpoint may hold
from fastdecode.devices import check_device
from fastdecode.distill import shard_of
from fastdecode.errors import UserError
from fastdecode.files import read_lines, write_lines
from fastdecode.progress import say, track
from fastdecode.stages import Stopwatch
from fastdecode.system import NOTHING, Decoder, System, decode_filled
from fastdecode.text import Text
from fastdecode.train.checkpoints import is_whole
from fastdecode.translation import Translation

MOST_TOKENS = 2048  # decoded at once, with padding: memory grows with them
DTYPES = {
    "fp64": torch.float64,
    "fp32": torch.float32,
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
}


def load_system(
    checkpoints: Sequence[Path],
    data: Path,
    device: str,
    precision: str = "fp32",
    assets: Path | None = None,
    companions: Mapping[str, Path] | None = None,
) -> System:
    """Load the models of `checkpoints` (several form an ensemble) with the dictionaries in `data`.

    `assets` is the folder of what their decoder needs besides, `companions` are the checkpoints of
    the systems that decode with them, by name.

    Raises UserError on a missing or damaged checkpoint and on a missing GPU.
    """
    logging.getLogger("fairseq").setLevel(logging.WARNING)  # else it lists what it loads
    check_device(device)
    for path in checkpoints:
        if not path.exists():
            raise UserError(f"{path}: no such checkpoint: train it first")
        if not is_whole(path):
            raise UserError(
                f"{path}: the checkpoint is truncated or damaged: delete it and run again"
            )
    try:
        models, _, task = checkpoint_utils.load_model_ensemble_and_task(
            [str(path) for path in checkpoints], arg_overrides={"data": str(data)}
        )
    except ValueError as error:
        if "dictionary" not in str(error):
            raise
        raise UserError(f"{data}: {error}: delete that folder and run again") from None
    except FileNotFoundError as error:
        if not error.filename or Path(error.filename).parent != data:
            raise
        raise UserError(
            f"{error.filename}: no such dictionary: delete {data} and run again"
        ) from None
    for model in models:
        prepare(model, device, precision)
    words = task.source_dictionary, task.target_dictionary
    others = {
        name: load_system([path], data, device, precision)
        for name, path in (companions or {}).items()
    }
    return System(models, *words, device, precision, assets, others)


def prepare(model: Any, device: str, precision: str) -> None:
    """Make a fairseq model ready to translate, as fairseq-generate does; it cannot be trained then.

    Without this its decoder would also return attention weights, and lose time over them.
    """
    model.make_generation_fast_(need_attn=False)
    model.to(device, DTYPES[precision]).eval()


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
    decoder: Decoder,
    sentences: Sequence[Sequence[str]],
    most_tokens: int,
    label: str,
    longest: int,
    first_line: int = 1,
) -> list[Translation]:
    """Translate all `sentences` in batches; return the translations in their order.

    An empty sentence is not decoded, nor is one of more than `longest` tokens, which is said on
    standard error: its translation is empty. Lines are counted from `first_line`.
    """
    results = {}
    filled = []
    for number, sentence in enumerate(sentences):
        if 0 < len(sentence) <= longest:
            filled.append(number)
            continue
        results[number] = NOTHING
        if sentence:
            say(
                label,
                f"line {first_line + number}: {len(sentence):,} tokens, and the model reads at "
                f"most {longest:,}: left untranslated; split the line",
            )
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
    decoder: Decoder,
    source: Path,
    shard: int,
    shards: int,
    out: Path,
    label: str,
) -> None:
    """Translate one part of the BPE-tokenised training text `source` into BPE tokens.

    `decoder` is one of `system` that finishes with `" ".join`.
    """
    sentences = [line.split() for line in shard_of(list(read_lines(source)), shard, shards)]
    translations = decode_all(decoder, sentences, MOST_TOKENS, label, system.longest)
    write_lines(out, (translation.text for translation in translations))


def translate_lines(
    decoder: Decoder, text: Text, watch: Stopwatch
) -> Callable[[Sequence[str]], list[Translation]]:
    """Return what translates raw lines as one batch: the whole way that a latency times.

    The stages of the translations begin with `preprocess`; `watch` is not the decoder's own. Blank
    lines are not decoded.
    """

    def translate(lines: Sequence[str]) -> list[Translation]:
        watch.start()
        sentences = [text.source_tokens(line) for line in lines]
        watch.lap("preprocess")
        before = {stage: time / len(lines) for stage, time in watch.seconds.items()}
        return [
            replace(translation, stages={**before, **translation.stages})
            for translation in decode_filled(decoder, sentences)
        ]

    return translate
