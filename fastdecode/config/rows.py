"""What a configuration may say: presets, datasets, systems, decoders, training, and the run.

Every model here is one kind of YAML row; the field descriptions are the reference that
`config/README.md` and `workflow/schemas/` are generated from.
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import (
    Discriminator,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Tag,
    model_validator,
)

from fastdecode.config.base import Row
from fastdecode.config.given import Given

RAW = "raw"  # the target side as it is in the corpus
UNTRAINED = "untrained"  # stands for a target where a system has random weights
EVERY = "*/*"  # the pattern that every target/system matches
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Layers = Annotated[str, Field(pattern=r"^[1-9][0-9]*-[1-9][0-9]*$")]
Tier = Literal["reference", "optimised"]
Scenario = Literal["S1", "Smax"]
Fraction = Annotated[float, Field(ge=0, lt=1)]
Assets = tuple[str, tuple[str, ...]]  # a folder of the target, and files in it


def _each_once(key: str, chosen: Sequence[object]) -> None:
    """Raise ValueError on what stands twice in the list of a key."""
    for name in chosen:
        if chosen.count(name) > 1:
            raise ValueError(f"{key}: {name} stands twice: once is enough")


class Training(Row):
    """Settings of one training, handed to fairseq-train."""

    max_updates: PositiveInt | None = Field(None, description="stop after so many updates")
    max_epochs: PositiveInt | None = Field(None, description="stop after so many epochs")
    patience: PositiveInt | None = Field(
        None, description="stop after so many validations without a better score than the best"
    )
    batch_tokens: PositiveInt = Field(4096, description="tokens a batch and device, padding too")
    batch_sentences: PositiveInt | None = Field(None, description="sentences a batch at most")
    accumulate: PositiveInt = Field(1, description="batches whose gradients are added an update")
    lr: PositiveFloat = Field(5.0e-4, description="highest learning rate")
    warmup_updates: PositiveInt = Field(
        4000, description="linear warm-up, then inverse square root"
    )
    adam_betas: tuple[Fraction, Fraction] = Field((0.9, 0.98), description="Adam's two decay rates")
    adam_eps: PositiveFloat = Field(1.0e-8, description="Adam's ε")
    weight_decay: float = Field(0.0, ge=0, description="weight decay")
    clip_norm: float = Field(0.0, ge=0, description="largest gradient norm; 0 = no clipping")
    dropout: Fraction = Field(0.1, description="dropout")
    attention_dropout: Fraction = Field(0.0, description="dropout on attention weights")
    label_smoothing: Fraction = Field(0.1, description="label smoothing")
    precision: Literal["fp32", "fp16", "bf16"] = Field(
        "fp32", description="arithmetic of training; fp16 and bf16 need a GPU"
    )
    threads: PositiveInt = Field(
        1, description="CPU threads of one training; part of its result, unlike --cores"
    )
    gpus: PositiveInt = Field(
        1, description="processes of one training, each with a GPU where device is cuda"
    )
    select: Literal["last", "bleu", "loss"] = Field(
        "last", description="which epochs' checkpoints are averaged: last ones, or best on valid"
    )
    average: PositiveInt = Field(5, description="how many checkpoints are averaged")
    save_every_updates: PositiveInt | None = Field(
        None, description="also save (and validate) in mid-epoch: for epochs of hours"
    )

    @model_validator(mode="after")
    def _ends(self) -> "Training":
        if not (self.max_updates or self.max_epochs):
            raise ValueError("training never ends: give max_updates or max_epochs")
        return self


class Preset(Row):
    """A model size."""

    width: PositiveInt = Field(description="model dimension")
    ffn: PositiveInt = Field(description="inner dimension of the feed-forward layers")
    heads: PositiveInt = Field(description="attention heads")
    layers: Layers = Field(description="encoder-decoder layers, such as 6-6")
    prenorm: bool = Field(False, description="layer normalisation before each sub-layer, not after")
    training: dict[str, object] = Field({}, description="training settings of this size")

    @model_validator(mode="after")
    def _divides(self) -> "Preset":
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is no multiple of heads {self.heads}")
        return self


class Bpe(Row):
    """Byte-pair encoding of a dataset."""

    merges: PositiveInt = Field(description="merge operations")
    joint: bool = Field(True, description="one code and one vocabulary for both languages")


class Roles(Row):
    """Which preset stands for each role."""

    base: Name = Field("base", description="preset of systems of the role base")
    big: Name = Field("big", description="preset of systems of the role big")


class Dataset(Row):
    """A corpus with its splits, its BPE, and what is particular about training on it."""

    corpus: Name = Field(description="a row of config/corpora")
    bpe: Bpe = Field(description="its byte-pair encoding")
    valid: Name = Field("valid", description="the corpus split that validates")
    tests: tuple[Name, ...] = Field(("test",), min_length=1, description="splits that are tested")
    roles: Roles = Field(Roles(), description="role → preset")
    training: dict[str, object] = Field({}, description="training settings of this dataset")
    families: dict[str, dict[str, object]] = Field(
        {}, description="family → training settings of its systems on this dataset"
    )
    distill_shards: PositiveInt = Field(2, description="parts that a teacher translates apart")

    @model_validator(mode="after")
    def _no_split_twice(self) -> "Dataset":
        _each_once("tests", self.tests)
        return self


class System(Row):
    """A recipe for one trained model."""

    role: Literal["base", "big"] = Field("base", description="its size, by role")
    layers: Layers | None = Field(
        None, description="encoder-decoder layers instead of the preset's"
    )
    training: dict[str, object] = Field({}, description="training settings of this system")

    @property
    def companions(self) -> tuple[str, ...]:
        """Other systems whose checkpoints its training needs: same dataset, target and seed."""
        return ()

    @property
    def measured_with(self) -> tuple[str, ...]:
        """Other systems that its statistics are measured with: same dataset, target and seed."""
        return ()

    @property
    def slots(self) -> float:
        """How many slots its decoder computes for a token, for the plan of a run."""
        return 1.0

    @property
    def glances(self) -> bool:
        """Whether a training step has a pass without gradients first, for the plan of a run."""
        return False


class Ensemble(Row):
    """Several seeds of one system that distil together."""

    system: Name = Field(description="a system of any family")
    seeds: tuple[PositiveInt, ...] = Field(min_length=2, description="its trainings")

    @model_validator(mode="after")
    def _no_seed_twice(self) -> "Ensemble":
        _each_once("seeds", self.seeds)
        return self


# Keys that decoders of several families have. Types and no base class: pydantic would put a base
# class's keys first, and Snakemake runs a job again whose parameters stand in another order.
Engine = Annotated[
    Literal["eager", "fastdecode"],
    Field(
        description="plain PyTorch (tier reference) or this project's fast path (tier optimised)"
    ),
]
Beam = Annotated[PositiveInt, Field(description="beam width; 1 = greedy")]
LengthPenalty = Annotated[
    float, Field(description="exponent of the length in the normalised score")
]
MaxLengthFactor = Annotated[
    float, Field(ge=0, description="longest output = a · source length + b")
]
MaxLengthExtra = Annotated[
    NonNegativeInt, Field(description="see max_len_a; lengths count `</s>` not")
]
MinLength = Annotated[PositiveInt, Field(description="shortest output")]


class DecoderRow(Row):
    """What the decoders of all families share; each family's `rows.py` says what it adds."""

    if TYPE_CHECKING:
        engine: str  # every family's own key: its values differ

    @property
    def tier(self) -> Tier:
        """`reference` (eager mode, as the papers timed) or `optimised`: never in one ratio."""
        return "reference" if self.engine in ("eager", "fairseq") else "optimised"

    def precision(self, run: str) -> str:
        """Return the arithmetic of this decoder in a run that decodes with the precision `run`."""
        return run

    def fits(self, system: System) -> bool:
        """Tell whether this decodes `system`, a row of `families`: a run leaves the rest out.

        By default a decoder fits all systems of its families.
        """
        return True

    def passes(self, tokens: float) -> tuple[float, float]:
        """Return (decoder passes, rows of tokens in each) of `tokens`, for the plan of a run.

        By default all are written at once.
        """
        return 1.0, tokens

    @property
    def exact(self) -> bool:
        """Whether it can hold translations to given lengths, as untrained systems need."""
        return False

    @property
    def families(self) -> tuple[str, ...]:
        """The families whose systems it decodes; none named: its own."""
        return ()

    @property
    def assets(self) -> Assets | None:
        """What it needs beside models; None: what the system's training needs (`ASSETS`)."""
        return None

    def companions(self, system: System) -> tuple[str, ...]:
        """Return other systems that decode with `system`: same dataset, target and seed."""
        return ()

    def repeats(self, system: System) -> tuple[str, dict[str, object]] | None:
        """Return a companion and settings of its decoder whose translations this one repeats.

        None: it is not lossless in this sense.
        """
        return None

    @property
    def twin_key(self) -> dict[str, object]:
        """What is asked for, whoever does it: equal for a fast decoder and its naive twin."""
        return self.model_dump(exclude={"engine"})


class Family(Row):
    """One family's file in config/systems: its systems, ensembles and decoders."""

    training: dict[str, object] = Field({}, description="training settings of the whole family")
    systems: dict[Name, dict[str, object]] = Field(description="recipes for trained models")
    ensembles: dict[Name, Ensemble] = Field({}, description="teachers of several seeds")
    decoders: dict[Name, dict[str, object]] = Field(description="ways to decode with them")


class Latency(Row):
    """How a run times its decoders: those of a tier in one process, interleaved."""

    scenarios: tuple[Scenario, ...] = Field(
        ("S1", "Smax"),
        min_length=1,
        description="S1: one sentence at a time; Smax: a sweep over batch sizes",
    )
    threads: tuple[PositiveInt | Literal["all"], ...] = Field(
        (1, "all"), min_length=1, description="CPU threads of the timed process, each measured"
    )
    lines: PositiveInt = Field(30, description="S1: test lines timed, stratified by length")
    batches: tuple[PositiveInt, ...] = Field(
        (8, 32), min_length=1, description="Smax: sentences a batch, up to what fits"
    )
    batch_lines: PositiveInt = Field(64, description="Smax: test lines timed at every batch size")
    warmup: PositiveInt = Field(20, description="sentences before the clock counts")
    repeats: PositiveInt = Field(5, description="passes over the lines")

    @model_validator(mode="after")
    def _sound(self) -> "Latency":
        for key in ("scenarios", "threads", "batches"):
            _each_once(key, getattr(self, key))
        if "Smax" in self.scenarios and min(self.batches) > self.batch_lines:
            raise ValueError(
                f"batch_lines: {self.batch_lines} lines fill no batch of {min(self.batches)}: set "
                "batches to smaller ones, or batch_lines to more"
            )
        return self


class SpeedupOver(Row):
    """The denominator of each tier's speed-ups."""

    reference: str = Field(description="target/system/decoder of tier reference")
    optimised: str | None = Field(
        None,
        description="the same of tier optimised; by default the run's first with the same search",
    )


def _kind_of(entry: object) -> str:
    return "systems" if isinstance(entry, Mapping) else "name"


# A decoder's name, or patterns of target/system → names of decoders.
DecoderEntry = Annotated[
    Annotated[Name, Tag("name")] | Annotated[dict[str, tuple[Name, ...]], Tag("systems")],
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
    seeds: tuple[PositiveInt, ...] = Field((1,), min_length=1, description="repeated trainings")
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
    precision: Literal["fp64", "fp32", "fp16", "bf16"] = Field(
        "fp32", description="arithmetic of decoding; fp16 and bf16 need a GPU"
    )
    mirror: str | None = Field(None, description="folder searched before any URL")
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
    def _sound(self) -> "Run":
        for key in ("datasets", "systems", "seeds", "papers"):
            _each_once(key, getattr(self, key))
        pairs = self.decoder_patterns
        for pattern, name in pairs:
            if pairs.count((pattern, name)) > 1 or (pattern != EVERY and (EVERY, name) in pairs):
                raise ValueError(f"decoders: {name} stands twice for {pattern}: once is enough")
        if self.precision in ("fp16", "bf16") and self.device != "cuda":
            raise ValueError(f"precision {self.precision} needs a GPU: set device: cuda")
        return self

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
