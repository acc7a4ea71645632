"""What the configuration may say about systems and decoders of this family."""

from typing import Literal

from pydantic import Field, NonNegativeFloat, PositiveInt, model_validator

from fastdecode.config.base import default
from fastdecode.config.rows import (
    Assets,
    DecoderRow,
    Engine,
    MaxLengthExtra,
    MaxLengthFactor,
    MinLength,
    Name,
)
from fastdecode.config.rows import System as AnySystem
from fastdecode.errors import UserError

FAMILY, VERIFYING = "aggressive", "autoregressive"
STATISTICS = ("traces",)


class System(AnySystem):
    """A model that proposes a block of tokens at a time."""

    companion_family = VERIFYING

    kind: Literal["drafter", "blockwise"] = Field(
        "drafter",
        description="drafter: fills a block after a prefix, for a verifier to check (Xia et al., "
        "2022); blockwise: a Transformer with k heads, which checks itself (Stern et al., 2018)",
    )
    k: PositiveInt = Field(25, description="tokens of a block")
    verifier: Name | None = Field(
        None, description="drafter: the system that checks it, of the same target and seed"
    )
    encoder: Literal["random", "initialised", "shared"] = Field(
        "initialised",
        description="drafter: how its encoder begins: at random, as the verifier's, or as the "
        "verifier's and kept so, embeddings too, so that both can share one pass",
    )
    activation: Literal["relu", "gelu"] = Field("relu", description="drafter: of feed-forward")
    positions: Literal["sinusoidal", "learned"] = Field(
        "sinusoidal", description="drafter: position embeddings"
    )
    scale_embeddings: bool = Field(True, description="drafter: embeddings times √width")

    @model_validator(mode="after")
    def _is_sound(self) -> "System":
        if self.kind == "drafter" and not self.verifier:
            raise ValueError("a drafter needs a verifier: name a system, such as transformer")
        if self.kind == "blockwise" and self.verifier:
            raise ValueError("a blockwise model is its own verifier: leave verifier out")
        for key in ("encoder", "activation", "positions", "scale_embeddings"):
            if self.kind == "blockwise" and getattr(self, key) != default(self, key):
                raise ValueError(f"{key} is for kind: drafter, not blockwise: leave it out")
        if self.kind == "blockwise" and self.k < 2:
            raise ValueError("blockwise: k has to be 2 or more: the first head is the verifier")
        return self

    @property
    def companions(self) -> tuple[str, ...]:
        """The verifier, if the encoder begins as its."""
        needed = self.kind == "drafter" and self.encoder != "random"
        return (self.verifier,) if needed and self.verifier else ()

    @property
    def measured_with(self) -> tuple[str, ...]:
        """The verifier."""
        return (self.verifier,) if self.verifier else ()

    @property
    def glances(self) -> bool:
        """A drafter does."""
        return self.kind == "drafter"


class Decoder(DecoderRow):
    """Drafts that are verified."""

    companion_family = VERIFYING

    mode: Literal["verify", "draft", "blockwise"] = Field(
        "verify",
        description="verify: an autoregressive system checks what another one drafts; draft: the "
        "drafter alone; blockwise: for systems of that kind",
    )
    beta: PositiveInt = Field(
        1, description="a drafted token has to be among the β likeliest; 1 = as greedy search"
    )
    tau: NonNegativeFloat = Field(
        0.0, description="and its log-probability at most τ below the highest; not read if β is 1"
    )
    block: PositiveInt | None = Field(
        None,
        description="tokens drafted at a time at most; by default all that the drafter has. The "
        "slots behind them are filled and not looked at",
    )
    drafter: Name = Field(FAMILY, description="family of the systems that draft")
    draft: dict[str, object] = Field(
        {}, description="how a drafter of another family decodes: settings of its decoder"
    )
    verifier: Name | None = Field(
        None, description="system that verifies, same target and seed; by default the drafter's"
    )
    encoders: Literal["apart", "concurrent", "shared"] = Field(
        "apart",
        description="of drafter and verifier: one after the other, at once in two threads or CUDA "
        "streams, or one for both, for a drafter trained with encoder: shared",
    )
    max_len_a: MaxLengthFactor = 1.2
    max_len_b: MaxLengthExtra = 10
    min_len: MinLength = 1
    engine: Engine = "eager"

    @model_validator(mode="after")
    def _is_sound(self) -> "Decoder":
        if self.drafter != FAMILY and not (self.mode == "verify" and self.verifier):
            raise ValueError(f"drafter: {self.drafter} needs mode: verify and a verifier")
        if self.drafter != FAMILY and self.encoders != "apart":
            raise ValueError(f"drafter: {self.drafter} has an encoder of its own: encoders: apart")
        if self.drafter == FAMILY and self.draft:
            raise ValueError(
                f"draft: a drafter of {FAMILY} has no decoder of its own: leave it out"
            )
        if self.drafter != FAMILY and (tier := self._drafting_row().tier) != self.tier:
            raise ValueError(
                f"draft: its engine is of tier {tier}, that of the verifier of tier {self.tier}: "
                "give both engines of one tier"
            )
        for key in ("beta", "tau"):
            if self.mode == "draft" and getattr(self, key) != default(self, key):
                raise ValueError(f"{key} is for what is verified, not for mode: draft")
        if self.mode != "verify" and (self.verifier or self.encoders != "apart"):
            raise ValueError(f"mode: {self.mode} runs one model: leave verifier and encoders out")
        return self

    @property
    def assets(self) -> Assets | None:
        """What a drafter of another family decodes with, such as a language model."""
        return None if self.drafter == FAMILY else self._drafting_row().assets

    def check_installed(self) -> None:
        """Raise UserError if a package is missing that a drafter of another family needs."""
        if self.drafter != FAMILY:
            self._drafting_row().check_installed()

    @property
    def drafts_alone(self) -> bool:
        """Whether nobody verifies."""
        return self.mode == "draft"

    @property
    def twin_key(self) -> dict[str, object]:
        """All but the engines and how encoders run, which change no token."""
        key = self.model_dump(exclude={"engine", "encoders"})
        return key if self.drafter == FAMILY else key | {"draft": self._drafting_row().twin_key}

    def precision(self, run: str) -> str:
        """Return that of the run, or that of a drafter which computes otherwise."""
        return run if self.drafter == FAMILY else self._drafting_row().precision(run)

    def passes(self, tokens: float, system: AnySystem) -> tuple[float, float]:
        """About four tokens are accepted at a time."""
        return 2 + tokens / 4, tokens / 2

    @property
    def families(self) -> tuple[str, ...]:
        """That of the drafter."""
        return (self.drafter,)

    def fits(self, system: AnySystem) -> bool:
        """Tell whether `system` drafts as this row asks; of another family, its decoder says so."""
        if isinstance(system, System):
            blockwise = system.kind == "blockwise"
            shares = self.encoders != "shared" or (
                system.encoder == "shared" and self.verifier in (None, system.verifier)
            )
            return blockwise == (self.mode == "blockwise") and shares
        return self._drafting_row().fits(system)

    def _drafting_row(self) -> DecoderRow:
        """Return the row of the other family's decoder that drafts; ValueError if it is none."""
        from fastdecode.config.base import check
        from fastdecode.config.checks import check_known
        from fastdecode.families import FAMILIES, decoder_row

        try:
            check_known(self.drafter, FAMILIES, "drafter")
            return check(decoder_row(self.drafter), self.draft, "draft")
        except UserError as error:
            raise ValueError(str(error)) from None

    def repeats(self, system: AnySystem) -> tuple[str, dict[str, object]] | None:
        """Strict verification writes what the verifier writes greedily (section 3, equation 5).

        With τ = 0 alone a tie may be taken for the likeliest word.
        """
        if not (self.mode == "verify" and self.beta == 1 and self.companions(system)):
            return None
        limits = {key: getattr(self, key) for key in ("max_len_a", "max_len_b", "min_len")}
        return self.companions(system)[0], {"beam": 1, **limits}

    def companions(self, system: AnySystem) -> tuple[str, ...]:
        """The verifier."""
        if self.mode != "verify":
            return ()
        own = system.verifier if isinstance(system, System) else None
        verifier = self.verifier or own
        return (verifier,) if verifier else ()
