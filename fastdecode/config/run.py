"""What a run may say: `config/config.yaml`, or a file of `config/runs` merged over it."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Literal

from pydantic import Discriminator, Field, PositiveInt, Tag, model_validator

from fastdecode.config.base import Row, each_once
from fastdecode.config.given import Given
from fastdecode.config.rows import Name, Seed

EVERY = "*/*"  # the pattern that every target/system matches
Scenario = Literal["S1", "Smax"]


class Latency(Row):
    """How a run times its decoders: those of a tier in one process, interleaved."""

    scenarios: tuple[Scenario, ...] = Field(
        ("S1", "Smax"),
        min_length=1,
        description="S1: one sentence at a time; Smax: a sweep over batch sizes",
    )
    threads: tuple[PositiveInt | Literal["all"], ...] = Field(
        (1, "all"),
        min_length=1,
        description="CPU threads of the timed process, each measured; all: of all cores",
    )
    lines: PositiveInt = Field(30, description="S1: test lines timed, stratified by length")
    batches: tuple[PositiveInt, ...] = Field(
        (8, 32), min_length=1, description="Smax: sentences a batch, up to what fits"
    )
    batch_lines: PositiveInt = Field(64, description="Smax: test lines timed at every batch size")
    warmup: PositiveInt = Field(
        20, description="sentences before the clock counts, below 20 marked †; on a GPU all lines"
    )
    repeats: PositiveInt = Field(5, description="passes over the lines, below 5 marked †")

    @model_validator(mode="after")
    def _is_sound(self) -> "Latency":
        for key in ("scenarios", "threads", "batches"):
            each_once(key, getattr(self, key))
        if "Smax" in self.scenarios and min(self.batches) > self.batch_lines:
            raise ValueError(
                f"batch_lines: {self.batch_lines} lines fill no batch of {min(self.batches)}: set "
                "batches to smaller ones, or batch_lines to more"
            )
        return self

    def of(self, scenario: Scenario) -> dict[str, object]:
        """Return what decides the timing of one scenario: the settings of others do not."""
        own = {"S1": {"lines"}, "Smax": {"batches", "batch_lines"}}[scenario]
        return {"scenarios": (scenario,), **self.model_dump(include={"warmup", "repeats", *own})}


class SpeedupOver(Row):
    """The denominator of each tier's speed-ups."""

    reference: str = Field(description="target/system/decoder of tier reference")
    optimised: str | None = Field(
        None,
        description="the same of tier optimised; by default the run's first with the same search",
    )


def _kind_of(entry: object) -> str:
    return "systems" if isinstance(entry, Mapping) else "name"


Names = Annotated[tuple[Name, ...], Field(min_length=1)]  # of none, nobody would check the pattern
# A decoder's name, or patterns of target/system → names of decoders.
DecoderEntry = Annotated[
    Annotated[Name, Tag("name")] | Annotated[dict[str, Names], Field(min_length=1), Tag("systems")],
    Discriminator(_kind_of),
]


class Run(Row):
    """What one run does: `config/config.yaml`, or a file of config/runs merged over it."""

    name: Name = Field(description="folder of its tables and figures below results/report")
    datasets: tuple[Name, ...] = Field(min_length=1, description="rows of config/datasets")
    systems: tuple[str, ...] = Field(
        min_length=1,
        description="what is trained, as target/system; a target is raw or a teacher's name; "
        "untrained/system is not: its random weights are timed, every translation as long as its "
        "reference",
    )
    decoders: tuple[DecoderEntry, ...] = Field(
        min_length=1,
        description="how systems are decoded: a decoder alone is for all systems that it fits; "
        "after target/system, in which * stands for anything, come decoders for these systems",
    )
    seeds: tuple[Seed, ...] = Field(
        (1,),
        min_length=1,
        description="repeated trainings; the teacher of a distilled target is seed 1 whatever they "
        "are",
    )
    papers: tuple[Name, ...] = Field(
        (),
        description="rows of config/papers whose tables and figures are made of this run, or "
        "single ones of them, such as lattice.table1",
    )
    distill_decoder: Name = Field("beam5", description="how a teacher translates the training set")
    speedup_over: SpeedupOver = Field(
        description="denominators of speed-ups, each trained and decoded in this run"
    )
    device: Literal["cpu", "cuda"] = Field("cpu", description="where models train and decode")
    jobs_per_gpu: PositiveInt = Field(
        1, description="jobs that share one GPU; a timing, or a training on several, has its own"
    )
    precision: Literal["fp64", "fp32", "fp16", "bf16"] = Field(
        "fp32", description="arithmetic of decoding; fp16 and bf16 need a GPU"
    )
    mirror: str | None = Field(None, description="folder searched before any URL; ~ is your home")
    definitions: str | None = Field(
        None, description="folder laid out as config/ with rows of your own"
    )
    given: Given = Field(Given(), description="what need not be made: files of yours")
    training: dict[str, object] = Field({}, description="training settings above all others")
    roles: dict[Literal["base", "big"], Name] = Field(
        {}, description="role → preset, instead of the datasets'"
    )
    latency: Latency = Field(Latency(), description="the latency measurement")

    @model_validator(mode="after")
    def _is_sound(self) -> "Run":
        for key in ("datasets", "systems", "seeds", "papers"):
            each_once(key, getattr(self, key))
        pairs = self.decoder_patterns
        for pattern, name in pairs:
            if pairs.count((pattern, name)) > 1 or (pattern != EVERY and (EVERY, name) in pairs):
                of = "" if pattern == EVERY else f" for {pattern}"
                raise ValueError(f"decoders: {name} stands twice{of}: once is enough")
        if self.precision in ("fp16", "bf16") and self.device != "cuda":
            raise ValueError(f"precision {self.precision} needs a GPU: set device: cuda")
        return self

    @property
    def timed_threads(self) -> tuple[int | Literal["all"], ...]:
        """The numbers of threads that are measured: on a GPU the first alone."""
        return self.latency.threads[:1] if self.device == "cuda" else self.latency.threads

    @property
    def decoder_patterns(self) -> list[tuple[str, str]]:
        """Return (pattern of target/system, decoder) in the order of `decoders:`."""
        return [
            pair
            for entry in self.decoders
            for pair in (
                [(EVERY, entry)]
                if isinstance(entry, str)
                else [(pattern, name) for pattern, names in entry.items() for name in names]
            )
        ]

    @property
    def decoder_names(self) -> list[str]:
        """Return every decoder of the run, whatever systems it is for."""
        return list(dict.fromkeys(name for _, name in self.decoder_patterns))

    def decoders_for(self, entry: str) -> list[str]:
        """Return the decoders whose patterns `entry`, target/system, matches, in order.

        Whether they fit the system is another question.
        """
        pairs = self.decoder_patterns
        found = (name for pattern, name in pairs if fnmatchcase(entry, pattern))
        return list(dict.fromkeys(found))
