"""What rows of a configuration may say: presets, datasets, systems, decoders, training.

Every model here is one kind of YAML row; the field descriptions are the reference that
`config/keys.md` and `workflow/schemas/` are generated from.
"""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import (
    BeforeValidator,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from fastdecode.config.base import Form, Row, each_once

RAW = "raw"  # the target side as it is in the corpus
TEACHER_SEED = 1  # of what a distilled target is written by
UNTRAINED = "untrained"  # stands for a target where a system has random weights
# Short enough for a file whose name has several.
Name = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100),
    Form("a name of at most 100 letters, digits, dots, _ and -, the first a letter or digit"),
]
Layers = Annotated[
    str,
    Field(pattern=r"^[1-9][0-9]*-[1-9][0-9]*$"),
    Form("encoder-decoder layers, such as 6-6"),
]
Tier = Literal["reference", "optimised"]
Fraction = Annotated[float, Field(ge=0, lt=1)]


def _read_number(given: object) -> object:
    """Return digits as a number: in lists of `--config`, Snakemake leaves them text."""
    return int(given) if isinstance(given, str) and given.isdecimal() else given


# fairseq adds the number of an epoch, and NumPy takes less than 2**32.
Seed = Annotated[int, Field(strict=True, ge=1, lt=2**31), BeforeValidator(_read_number)]
Assets = tuple[str, tuple[str, ...]]  # a folder of the target, and files in it


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
    label_smoothing: Fraction = Field(
        0.1,
        description="label smoothing; the losses over paths have none: graphs (dag) and CTC",
    )
    precision: Literal["fp32", "fp16", "bf16"] = Field(
        "fp32",
        description="arithmetic of training; fp16 and bf16 need a GPU, and one that was ended and "
        "goes on rounds its weights once more, since fairseq keeps no others",
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
    tests: tuple[Name, ...] = Field(
        ("test",), min_length=1, description="splits that are tested, first not the one of `valid`"
    )
    roles: Roles = Field(Roles(), description="role → preset")
    training: dict[str, object] = Field({}, description="training settings of this dataset")
    families: dict[str, dict[str, object]] = Field(
        {}, description="family → training settings of its systems on this dataset"
    )
    distill_shards: PositiveInt = Field(
        2, description="parts that a teacher translates apart; another number distils anew"
    )

    @model_validator(mode="after")
    def _no_split_twice(self) -> "Dataset":
        each_once("tests", self.tests)
        return self


class System(Row):
    """A recipe for one trained model."""

    companion_family: ClassVar[str | None] = None  # that systems it is used with have to be of

    role: Literal["base", "big"] = Field("base", description="its size, by role")
    layers: Layers | None = Field(
        None, description="encoder-decoder layers instead of the preset's"
    )
    decoder_layers: PositiveInt | None = Field(
        None, description="layers of the decoder alone: the encoder has the preset's"
    )
    training: dict[str, object] = Field({}, description="training settings of this system")

    def options(self) -> dict[str, Any]:
        """Return what a training is told of the row: all but size and settings, told resolved.

        Those may stand in another row or be written otherwise and mean the same, and Snakemake
        trains again what has other options.
        """
        return self.model_dump(exclude={"role", "layers", "decoder_layers", "training"})

    @model_validator(mode="after")
    def _layers_once(self) -> "System":
        if self.layers and self.decoder_layers:
            raise ValueError("give layers or decoder_layers, not both")
        return self

    @model_validator(mode="after")
    def _learns_by_them(self) -> "System":
        if vain := sorted(self.unread & self.training.keys()):
            raise ValueError(
                f"training: its loss has no {', '.join(vain)}: another value would change nothing, "
                "so leave it out"
            )
        return self

    @property
    def unread(self) -> frozenset[str]:
        """Settings of a training that decide nothing of this one."""
        return frozenset()

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
    """Several seeds of one system that translate together: as a teacher, or reported themselves."""

    system: Name = Field(description="a system of any family")
    seeds: tuple[Seed, ...] = Field(min_length=2, description="its trainings")

    @model_validator(mode="after")
    def _no_seed_twice(self) -> "Ensemble":
        each_once("seeds", self.seeds)
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

    companion_family: ClassVar[str | None] = None  # that its companions have to be of

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

    def passes(self, tokens: float, system: System) -> tuple[float, float]:
        """Return (decoder passes, rows of tokens in each) of `tokens`, for the plan of a run.

        By default all slots of the system are filled at once.
        """
        return 1.0, tokens * system.slots

    @property
    def scores_words(self) -> bool:
        """Whether every such row is scored over the whole vocabulary, for the plan of a run."""
        return True

    @property
    def decodes_ensembles(self) -> bool:
        """Whether it decodes several models of a system at once."""
        return False

    @property
    def drafts_alone(self) -> bool:
        """Whether it writes drafts that nobody verifies: no translations that one would read."""
        return False

    def check_installed(self) -> None:
        """Raise UserError if a package is missing that this alone needs."""

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
    ensembles: dict[Name, Ensemble] = Field(
        {},
        description="several seeds at once: as a teacher, or as raw/<name> in `systems:` of a run",
    )
    decoders: dict[Name, dict[str, object]] = Field(description="ways to decode with them")
