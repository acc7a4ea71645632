"""Decoders side by side on random weights: what decoding costs, with nothing trained.

What writes step by step is held to `length` tokens, so that all do the same work; there is no BPE,
so the clock covers words in to words out. It compares engines, reference and optimised, on one
model: the one place where tiers stand in a ratio, since the translations are the same. Each
family's room says what is timed of it (`untrained.py`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import torch

from fastdecode.config.models import Architecture
from fastdecode.errors import UserError
from fastdecode.families import decoder_row, untrained, untrained_families
from fastdecode.measure.disturbance import REPEATS, WARMUP
from fastdecode.measure.latency import Decode, Interrupted, Series, measure
from fastdecode.measure.machine import measure_machine, synchroniser
from fastdecode.measure.summary import Timings, write_latency
from fastdecode.measure.timing import Entry, build
from fastdecode.measure.untrained import Untrained
from fastdecode.progress import say
from fastdecode.provenance import circumstances, provenance
from fastdecode.system import System
from fastdecode.text import Text
from fastdecode.transformer.recording import refusals


@dataclass(frozen=True)
class Plan:
    """What is timed; an empty choice stands for all there is."""

    families: Sequence[str] = ()
    layers: Sequence[str] = ()
    decoders: Sequence[str] = ()
    batches: Sequence[int] = ()  # sizes timed besides one sentence at a time
    width: int = 512
    ffn: int = 2048
    heads: int = 8
    vocabulary: int = 32000
    length: int = 28
    lines: int = 4
    warmup: int = WARMUP
    repeats: int = REPEATS
    threads: int = 1
    device: str = "cpu"
    precision: str = "fp32"

    def entries(self) -> list[Entry]:
        """Return what is timed. Raises UserError if a decoder chosen is none of the families'."""
        found = list(self._entries())
        names = {entry.decoder for entry in found}
        for name in self.decoders:
            if name not in names:
                raise UserError(
                    f'--decoders: "{name}" is none of these families: '
                    f"choose among {', '.join(sorted(names))}"
                )
        return [entry for entry in found if not self.decoders or entry.decoder in self.decoders]

    def _entries(self) -> Iterator[Entry]:
        for family in self.families or untrained_families():
            room = untrained(family)
            for layers in self.layers or room.LAYERS:
                for name, settings in room.decoders(self.length, self.device).items():
                    row = decoder_row(family).model_validate(settings)
                    yield Entry(
                        "random",
                        f"{family}-{layers}",
                        1,
                        name,
                        tier=row.tier,
                        precision=row.precision(self.precision),
                        family=family,
                        settings=settings,
                        checkpoint=layers,
                        trained=False,
                    )

    def system(self, entry: Entry, folder: Path) -> System:
        """Build the system of an entry, with random weights; `folder` is for what else it needs."""
        say("benchmark", f"building {entry.system} with random weights")
        encoder, decoder = map(int, entry.checkpoint.split("-"))
        shape = Architecture(self.width, self.ffn, self.heads, encoder, decoder)
        sizes = self.vocabulary, self.length
        plan = Untrained(shape, *sizes, self.device, self.precision, folder)
        built: System = untrained(entry.family).build(plan)
        return built

    def workload(self) -> dict[int, list[list[str]]]:
        """Return random source lines, by batch size in batches, the same at every call.

        One at a time there are `lines`; other sizes have at least as many, in whole batches.
        """
        counts = {size: -(-self.lines // size) * size for size in (1, *self.batches)}
        draw = Random(1)
        lines = [
            " ".join(f"w{draw.randrange(self.vocabulary // 2)}" for _ in range(self.length))
            for _ in range(max(counts.values()))
        ]
        return {
            size: [lines[first : first + size] for first in range(0, count, size)]
            for size, count in counts.items()
        }


class Words(Text):
    """Text of words that stand for themselves."""

    def __init__(self) -> None:
        """Need neither languages nor BPE codes."""

    def source_tokens(self, line: str) -> list[str]:
        """Split a line at its spaces."""
        return line.split()

    def target_text(self, tokens: Sequence[str]) -> str:
        """Join words with spaces."""
        return " ".join(tokens)


def benchmark(plan: Plan, out: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Measure what `plan` says; write benchmark.json and its samples to the folder `out`.

    Returns the rows of benchmark.json, and the facts that their tables state
    (fastdecode.report.benchmark). Ctrl-C ends it early, with what was measured until then; the fact
    `interrupted` says so. Raises UserError if the plan asks for what there is not, and
    KeyboardInterrupt if that is not one repeat.
    """
    entries = plan.entries()
    out.mkdir(parents=True, exist_ok=True)
    origin = provenance(
        dataset="random weights",
        device=plan.device,
        split=f"{plan.lines} random lines",
        scenario="Smax" if plan.batches else "S1",
        threads=plan.threads,
        precision=plan.precision,
        plan=vars(plan),
        before=circumstances(),
    )
    machine = measure_machine(plan.device, [plan.threads])
    bandwidth = machine["bandwidth"][str(plan.threads)]
    torch.set_num_threads(plan.threads)
    timings = time_untrained(plan, entries)
    origin |= {
        "machine": machine,
        "after": circumstances(),
        "not_recorded": refusals(),
        "interrupted": timings.interrupted,
    }
    document = write_latency(
        out / "benchmark.json",
        out / "benchmark.samples.csv",
        out / "benchmark.stages.csv",
        origin,
        timings,
        bandwidth,
    )
    notes = [
        room.NOTE
        for family in dict.fromkeys(entry.family for entry in entries)
        if hasattr(room := untrained(family), "NOTE")
    ]
    facts = {
        **vars(plan),
        "repeats": max(len(series.turns) for series in timings.measured if series.batch == 1),
        "device": origin["device"],
        "bandwidth": bandwidth,
        "notes": notes,
        "interrupted": timings.interrupted,
    }
    return document["rows"], facts


def time_untrained(plan: Plan, entries: Sequence[Entry]) -> Timings:
    """Time the entries side by side on models with random weights, one model for each shape."""
    systems: dict[str, System] = {}
    labels: dict[str, dict[str, Any]] = {}
    calls: dict[str, Decode] = {}
    staged = plan.device == "cpu"
    interrupted = False
    with TemporaryDirectory(prefix="fastdecode-") as folder:
        for entry in entries:
            if entry.system not in systems:
                room = Path(folder, entry.system)
                room.mkdir()
                systems[entry.system] = plan.system(entry, room)
            calls[entry.name], cost = build(entry, systems[entry.system], Words(), staged)
            over = reference(entry, entries)
            labels[entry.name] = {
                **entry.labels,
                "family": entry.family,
                "layers": entry.checkpoint,
                **cost,
                "over": over and over.name,
            }
        try:
            measured = measure(
                calls, plan.workload(), plan.warmup, plan.repeats, synchroniser(plan.device)
            )
        except Interrupted as early:
            if not early.measured:
                raise
            measured, interrupted = early.measured, True
            say("benchmark", "interrupted: what all decoders were timed in is kept")
    of_stages: list[Series] = measured if staged else []
    lines = list(range(plan.lines))
    return Timings(lines, plan.warmup, [], labels, measured, of_stages, interrupted)


def reference(entry: Entry, entries: Sequence[Entry]) -> Entry | None:
    """Return the entry of tier reference that is asked for the same as `entry`, if there is one."""

    def asked(other: Entry) -> Mapping[str, object]:
        return decoder_row(other.family).model_validate(other.settings).twin_key

    same = (other for other in entries if other.system == entry.system)
    return next((e for e in same if e.tier == "reference" and asked(e) == asked(entry)), None)
