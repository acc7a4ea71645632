"""Load trained systems and translate with them: a test split, a shard of training text, lines."""

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

if "fairseq" not in sys.modules:  # it says on import what else could be installed
    logging.getLogger("fairseq").setLevel(logging.WARNING)

import torch
from fairseq import checkpoint_utils
from fairseq.data import Dictionary

import fastdecode.plugin  # noqa: F401  registers what a fairseq checkpoint may hold
from fastdecode.devices import check_device
from fastdecode.distill import shard_of
from fastdecode.errors import UserError
from fastdecode.families import decoder_builder, decoder_row
from fastdecode.files import read_lines, write_lines
from fastdecode.limits import Lengths
from fastdecode.progress import say, track
from fastdecode.stages import Stopwatch
from fastdecode.text import Text
from fastdecode.train.checkpoints import is_whole
from fastdecode.transformer.weights import Layers
from fastdecode.translation import Finish, Translation

T = TypeVar("T")
NOTHING = Translation("", [], None, 0)  # of a line without words
MOST_TOKENS = 2048  # decoded at once, with padding: memory grows with them
DTYPES = {
    "fp64": torch.float64,
    "fp32": torch.float32,
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
}


class Decoder(Protocol):
    """What every decoder of every family is: a call that translates a batch."""

    @property
    def bytes_per_pass(self) -> int:
        """How many bytes of weights one decoder pass reads at least."""

    @property
    def serial_layers(self) -> Layers:
        """How many layers follow on one another: once a sentence, and in each pass."""

    def __call__(self, sources: Sequence[Sequence[str]]) -> list[Translation]:
        """Return a translation for each of `sources`: BPE tokens, none of them empty."""


@dataclass(frozen=True)
class System:
    """Trained models that translate together, with their dictionaries."""

    models: list[Any]
    source: Dictionary
    target: Dictionary
    device: str = "cpu"
    precision: str = "fp32"
    assets: Path | None = None
    """Folder of what the family or the decoder needs besides: the lattice's tables."""
    companions: Mapping[str, "System"] = field(default_factory=dict)
    """Systems that decode together with this one, such as a verifier, by name."""
    lengths: Lengths | None = None
    """How long translations have to be, whatever the model says; None: as it says."""
    _shared: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def share(self, name: str, make: Callable[[], T]) -> T:
        """Return what several decoders of this system have in common, made by the first of them."""
        if name not in self._shared:
            self._shared[name] = make()
        shared: T = self._shared[name]
        return shared

    def companion(self, name: str) -> "System":
        """Return the system `name`, which decodes with this one. Raises UserError without it."""
        if name not in self.companions:
            raise UserError(f"this decoder needs {name} too: load the system with its companions")
        return self.companions[name]

    def equipped(self, assets: Path | None, companions: Mapping[str, "System"]) -> "System":
        """Return the same system with what another decoder needs besides."""
        return replace(self, assets=assets, companions=companions)

    @property
    def longest(self) -> int:
        """How many BPE tokens a source line may have: one position is left for `</s>`."""
        own = min(int(model.max_positions()[0]) for model in self.models) - 1
        return min([own, *(companion.longest for companion in self.companions.values())])

    def decoder(
        self,
        family: str,
        settings: Mapping[str, Any],
        finish: Finish,
        watch: Stopwatch | None = None,
    ) -> Decoder:
        """Return what translates batches of BPE-tokenised sentences with these models.

        `settings` is a decoder row of `family`; `finish` turns BPE tokens into text. By default a
        stopwatch runs on a CPU and none on a GPU, which it would slow down.

        Raises UserError if the decoder does not fit the system.
        """
        row = decoder_row(family).model_validate(settings)
        watch = watch or Stopwatch(on=self.device == "cpu")
        decoder: Decoder = decoder_builder(family)(self, row, finish, watch)
        return decoder


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
    models, _, task = checkpoint_utils.load_model_ensemble_and_task(
        [str(path) for path in checkpoints], arg_overrides={"data": str(data)}
    )
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
    most_tokens: int = MOST_TOKENS,
) -> None:
    """Translate one part of the BPE-tokenised training text `source` into BPE tokens.

    `decoder` is one of `system` that finishes with `" ".join`.
    """
    sentences = [line.split() for line in shard_of(list(read_lines(source)), shard, shards)]
    translations = decode_all(decoder, sentences, most_tokens, label, system.longest)
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
        filled = [sentence for sentence in sentences if sentence]
        decoded = iter(decoder(filled) if filled else [])
        return [
            replace(translation, stages={**before, **translation.stages})
            for translation in (next(decoded) if sentence else NOTHING for sentence in sentences)
        ]

    return translate
