"""What the configuration may say about systems and decoders of this family."""

from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from fastdecode.config.rows import DecoderRow, Engine
from fastdecode.config.rows import System as AnySystem

ASSETS = ("counts", ("tables", "lengths.json"))
STATISTICS = ("recall", "ranks", "lattices")
AGAINST_TEACHER = ("recall",)
CANDIDATES = 64  # of a slot, where nothing else is said: the paper's K


class System(AnySystem):
    """A scorer of lattice edges; its layers are those of the decoder."""

    orders: Literal[2, 3] = Field(
        3, description="slots of a training block: with 3, order 0 to trigrams are learned"
    )


class Decoder(DecoderRow):
    """Search through a lattice of candidates."""

    k: PositiveInt = Field(CANDIDATES, description="candidates a slot")
    delta: NonNegativeInt = Field(3, description="lengths tried: the predicted one ± delta")
    normalise: Literal["vocabulary", "candidates"] = Field(
        "vocabulary",
        description="what an edge's probability is normalised over: exact, or cheap",
    )
    search: Literal["viterbi", "scan"] = Field(
        "viterbi", description="slot by slot, or as a max-plus scan of depth O(log T)"
    )
    engine: Engine = "eager"

    bf16: bool = Field(
        False, description="the scorer's large products in bfloat16; needs engine: fastdecode, CPU"
    )

    @model_validator(mode="after")
    def _is_sound(self) -> "Decoder":
        if self.bf16 and self.engine != "fastdecode":
            raise ValueError(f"bf16 needs engine: fastdecode, not {self.engine}")
        return self

    def passes(self, tokens: float, system: AnySystem) -> tuple[float, float]:
        """One, with a row for each candidate of a token."""
        return 1.0, tokens * self.k

    @property
    def scores_words(self) -> bool:
        """Not where an edge is normalised over the candidates."""
        return self.normalise == "vocabulary"

    @property
    def twin_key(self) -> dict[str, object]:
        """All but the engine, its arithmetic and the order in which the search adds up."""
        return self.model_dump(exclude={"engine", "search", "bf16"})

    def precision(self, run: str) -> str:
        """Bfloat16 where the row asks for it, else as the run decodes."""
        return "bf16" if self.bf16 else run
