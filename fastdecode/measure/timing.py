"""Time systems of a run: load them, build what is timed, choose the lines, start the clock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from fastdecode.config.run import Latency, Scenario
from fastdecode.decode import load_system, translate_lines
from fastdecode.errors import no_memory
from fastdecode.limits import Lengths
from fastdecode.measure.latency import Decode, DoesNotFit, Series, measure
from fastdecode.measure.machine import synchroniser
from fastdecode.measure.sampling import Workload, workload
from fastdecode.measure.summary import Timings
from fastdecode.stages import Stopwatch
from fastdecode.system import System
from fastdecode.text import Text
from fastdecode.translation import Translation


@dataclass(frozen=True)
class Entry:
    """A decoder with a system: one row of a speed table."""

    target: str
    system: str
    seed: int
    decoder: str
    tier: str
    precision: str  # of this decoder
    family: str
    settings: Mapping[str, Any]  # the decoder's row
    checkpoint: str
    assets: str | None = None  # folder of what the decoder needs besides
    companions: Mapping[str, str] = field(default_factory=dict)  # checkpoints, by system
    trained: bool = True  # random weights are held to the lengths of the references

    @property
    def name(self) -> str:
        """As tables and configurations name it."""
        return f"{self.target}/{self.system}/{self.decoder}"

    @property
    def labels(self) -> dict[str, Any]:
        """What a row of results says about it."""
        keys = ("target", "system", "seed", "decoder", "tier", "precision", "trained")
        return {key: getattr(self, key) for key in keys}


@dataclass(frozen=True)
class Bench:
    """A test set, and how the decoders of a dataset are measured on it."""

    data: Path  # the dictionaries
    text: Text
    lines: list[str]  # raw source lines
    device: str
    precision: str  # of the loaded models
    settings: Latency
    references: Sequence[int] = ()  # lengths of the lines' references, for untrained systems

    @cached_property
    def sources(self) -> list[list[str]]:
        """The lines in BPE tokens."""
        return [self.text.source_tokens(line) for line in self.lines]

    @cached_property
    def lengths(self) -> Lengths:
        """How long the translations of untrained systems have to be."""
        return Lengths(zip(self.sources, self.references, strict=True))

    def load(self, checkpoint: str) -> System:
        """Load a model."""
        return load_system([Path(checkpoint)], self.data, self.device, self.precision)

    def equip(self, entry: Entry, loaded: dict[str, System]) -> System:
        """Return the system of an entry; models come from `loaded`, or get there, by checkpoint."""
        for checkpoint in (entry.checkpoint, *entry.companions.values()):
            if checkpoint not in loaded:
                loaded[checkpoint] = self.load(checkpoint)
        system = loaded[entry.checkpoint].equipped(
            Path(entry.assets) if entry.assets else None,
            {name: loaded[checkpoint] for name, checkpoint in entry.companions.items()},
        )
        return system if entry.trained else replace(system, lengths=self.lengths)

    def workload(self, longest: int, scenario: Scenario) -> Workload:
        """Choose what is translated of the lines that have at most `longest` BPE tokens."""
        lengths = list(map(len, self.sources))
        return workload(lengths, longest, scenario, self.settings)

    def raw(self, batch: Sequence[int]) -> list[str]:
        """Return the lines of a batch."""
        return [self.lines[number] for number in batch]


def time_decoders(entries: Sequence[Entry], bench: Bench, scenario: Scenario) -> Timings:
    """Time all `entries` in this process, with as many threads as PyTorch has now.

    On a CPU the stages are those of the timed translations. On a GPU a stopwatch would slow them
    down, so there they come from further repeats with decoders of their own: as many repeats of
    single sentences (claims are about their stages), one of batches.
    """
    loaded: dict[str, System] = {}
    systems = {entry.name: bench.equip(entry, loaded) for entry in entries}
    chosen = bench.workload(min(system.longest for system in loaded.values()), scenario)
    batches = {size: list(map(bench.raw, some)) for size, some in chosen.batches.items()}
    cuda = bench.device == "cuda"
    warmup = bench.settings.warmup
    if cuda:  # lines of every length once: what is recorded or allocated for them is not timed
        warmup = max(warmup, *(sum(map(len, some)) for some in batches.values()))
    labels: dict[str, dict[str, Any]] = {}

    def timed(staged: bool, repeats: int) -> list[Series]:
        calls = {}
        for entry in entries:
            calls[entry.name], cost = build(entry, systems[entry.name], bench.text, staged)
            labels[entry.name] = {**entry.labels, **cost}
        synchronise = synchroniser(bench.device)
        return measure(calls, batches, warmup, repeats, synchronise)

    measured = timed(not cuda, bench.settings.repeats)
    again = bench.settings.repeats if scenario == "S1" else 1
    staged = timed(True, again) if cuda else measured
    return Timings(chosen.lines, warmup, chosen.left_out, labels, measured, staged)


def build(entry: Entry, system: System, text: Text, staged: bool) -> tuple[Decode, dict[str, int]]:
    """Return what translates raw lines, raising DoesNotFit, and what that costs on any machine.

    The costs are {bytes_per_pass, layers_once, layers_per_pass}, see fastdecode.system.Decoder.
    `staged` decoders time their stages, and wait for the device at every one.
    """
    synchronise = synchroniser(system.device)
    inner, outer = Stopwatch(synchronise, on=staged), Stopwatch(synchronise, on=staged)
    decoder = system.decoder(entry.family, entry.settings, text.target_text, inner)
    layers = decoder.serial_layers
    cost = {
        "bytes_per_pass": decoder.bytes_per_pass,
        **{f"layers_{name}": count for name, count in layers._asdict().items()},
    }
    return _fitting(translate_lines(decoder, text, outer)), cost


def _fitting(decode: Decode) -> Decode:
    """Raise DoesNotFit where memory does not suffice, and let go of what was taken so far."""

    def fitting(lines: Sequence[str]) -> list[Translation]:
        try:
            return decode(lines)
        except (MemoryError, RuntimeError) as error:
            if not no_memory(error):
                raise
            reason = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        torch.cuda.empty_cache()  # now that no traceback holds tensors; does nothing on a CPU
        raise DoesNotFit(reason)

    return fitting
