"""Engines side by side on the same random weights: what decoding costs, with nothing trained.

Lengths are forced to `length` tokens, so that all do the same work; there is no BPE, so the clock
covers words in to words out. It compares engines, reference and optimised, on one model: the one
place where tiers stand in a ratio, since the translations are the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import torch

from fastdecode.config.read import Architecture
from fastdecode.decode import System
from fastdecode.files import read_json, write_lines
from fastdecode.measure.latency import Series, measure
from fastdecode.measure.machine import device_name, measure_machine, synchroniser
from fastdecode.measure.summary import Timings, write_latency
from fastdecode.measure.timing import Entry, build
from fastdecode.measure.untrained import untrained_system
from fastdecode.progress import say
from fastdecode.provenance import circumstances, provenance
from fastdecode.report.tables import to_markdown
from fastdecode.text import Text

ENGINES = ("fairseq", "fastdecode", "ctranslate2", "int8")
CAPTION = (
    "Random weights, {length} tokens in and out, one sentence at a time, {device}, threads "
    "{threads}, {precision}: median milliseconds over {lines} lines and {repeats} repeats. Ratios "
    "are of medians, over the engine named, with the same layers and beam. Floor: the share of the "
    "time in which memory ({bandwidth:.1f} GB/s) could deliver the weights of all passes."
)


@dataclass(frozen=True)
class Plan:
    """What is timed."""

    layers: Sequence[str] = ("6-6", "12-1", "6-1")
    beams: Sequence[int] = (1, 5)
    engines: Sequence[str] = ENGINES
    width: int = 512
    ffn: int = 2048
    heads: int = 8
    vocabulary: int = 32000
    length: int = 28
    lines: int = 4
    warmup: int = 2
    repeats: int = 5
    threads: int = 1
    device: str = "cpu"
    precision: str = "fp32"

    def architecture(self, layers: str) -> Architecture:
        """Return the model size with so many encoder and decoder layers, such as 6-1."""
        encoder, decoder = map(int, layers.split("-"))
        return Architecture(self.width, self.ffn, self.heads, encoder, decoder)

    def entries(self) -> Iterator[Entry]:
        """Yield what is timed: every engine with every beam on every model."""
        for layers in self.layers:
            for beam in self.beams:
                for engine in self.engines:
                    yield self._entry(layers, beam, engine)

    def _entry(self, layers: str, beam: int, engine: str) -> Entry:
        settings = {
            "beam": beam,
            **{"min_len": self.length, "max_len_a": 0.0, "max_len_b": self.length},
            **{"engine": "ctranslate2" if engine == "int8" else engine, "int8": engine == "int8"},
        }
        return Entry(
            *("random", f"transformer-{layers}", 1, f"{engine}-beam{beam}"),
            tier="reference" if engine == "fairseq" else "optimised",
            precision="int8" if engine == "int8" else self.precision,
            family="autoregressive",
            settings=settings,
            checkpoint=layers,
        )

    def sources(self) -> list[str]:
        """Return random source lines, the same at every call."""
        draw = Random(1)
        return [
            " ".join(f"w{draw.randrange(self.vocabulary // 2)}" for _ in range(self.length))
            for _ in range(self.lines)
        ]


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


def benchmark(plan: Plan, out: Path) -> str:
    """Measure what `plan` says; write benchmark.json, its samples and tables to the folder `out`.

    Returns the table as Markdown.
    """
    before = circumstances()
    machine = measure_machine(plan.device, [plan.threads])
    bandwidth = machine["bandwidth"][str(plan.threads)]
    torch.set_num_threads(plan.threads)
    entries = list(plan.entries())
    timings = time_untrained(plan, entries)
    origin = provenance(
        dataset="random weights",
        system=None,
        decoder=None,
        seed=None,
        device=device_name(plan.device),
        split=f"{plan.lines} random lines",
        scenario="S1",
        threads=plan.threads,
        precision=plan.precision,
        plan=vars(plan),
        machine=machine,
        before=before,
        after=circumstances(),
    )
    out.mkdir(parents=True, exist_ok=True)
    summary = out / "benchmark.json"
    files = (summary, out / "benchmark.samples.csv", out / "benchmark.stages.csv")
    write_latency(*files, origin, timings, bandwidth)
    facts = {**vars(plan), "device": origin["device"], "bandwidth": bandwidth}
    table = to_markdown(ratios(read_json(summary)["rows"]), CAPTION.format(**facts))
    write_lines(out / "benchmark.md", table.splitlines())
    return table


def time_untrained(plan: Plan, entries: Sequence[Entry]) -> Timings:
    """Time the entries side by side on models with random weights, one model for each shape."""
    systems: dict[str, System] = {}
    labels, calls = {}, {}
    for entry in entries:
        if entry.checkpoint not in systems:
            say("benchmark", f"building {entry.system} with random weights")
            shape = plan.architecture(entry.checkpoint)
            systems[entry.checkpoint] = untrained_system(
                shape, plan.vocabulary, device=plan.device, precision=plan.precision
            )
        staged = plan.device == "cpu"
        calls[entry.name], read = build(entry, systems[entry.checkpoint], Words(), staged)
        labels[entry.name] = {**entry.labels, "bytes_per_pass": read}
    cuda = plan.device == "cuda"
    measured = measure(
        calls,
        {1: [[line] for line in plan.sources()]},
        plan.warmup,
        plan.repeats,
        synchroniser(plan.device),
    )
    staged_series: list[Series] = [] if cuda else measured
    return Timings(list(range(plan.lines)), [], labels, measured, staged_series)


def ratios(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return the table: a line for every model, beam and engine, with ratios of medians."""
    medians = {row["name"]: row["median"] for row in rows}

    def over(row: dict[str, Any], engine: str, beam: int) -> str:
        other = medians.get(f"{row['target']}/{row['system']}/{engine}-beam{beam}")
        return f"×{other / row['median']:.2f}" if other else "–"

    lines = []
    for row in rows:
        engine, _, beam = row["decoder"].rpartition("-beam")
        lines.append(
            {
                "layers": row["system"].removeprefix("transformer-"),
                "beam": beam,
                "engine": "CTranslate2" if engine == "int8" else engine,
                "precision": row["precision"],
                "ms": f"{row['median']:.1f}" + ("†" if row["disturbed"] else ""),
                "p90": f"{row['p90']:.1f}",
                "passes": f"{row['passes']:.0f}",
                "MB a pass": f"{row['bytes_per_pass'] / 1e6:.3g}",
                "floor": f"{row['floor_fraction']:.2f}",
                "over fairseq": over(row, "fairseq", int(beam)),
                "over CTranslate2 fp32": over(row, "ctranslate2", int(beam)),
                "over 6-6 fairseq beam 5": over({**row, "system": "transformer-6-6"}, "fairseq", 5),
            }
        )
    return pd.DataFrame(lines, dtype=str)
