"""What the configuration may say about systems and decoders of this family."""

from typing import Literal

from pydantic import Field, PositiveInt

from fastdecode.config.rows import DecoderRow, Tier
from fastdecode.config.rows import System as AnySystem

STATISTICS = ("recall",)


class System(AnySystem):
    """A Transformer whose decoder fills all slots of a translation at once."""

    kind: Literal["nat"] = Field(
        "nat",
        description="what it learns; nat: the words of all slots, each by itself, given the length",
    )


class Decoder(DecoderRow):
    """The likeliest word of every slot."""

    length_beam: PositiveInt = Field(
        1,
        description="lengths tried: the predicted one and its nearest; of their translations the "
        "one of highest mean log-probability wins",
    )
    merge: bool = Field(False, description="keep one of equal neighbouring tokens")
    engine: Literal["eager"] = Field(
        "eager", description="fairseq's model in plain PyTorch (tier reference)"
    )

    @property
    def tier(self) -> Tier:
        """As for every family: eager mode is the reference."""
        return "reference"

    @property
    def twin_key(self) -> dict[str, object]:
        """All but the engine."""
        return self.model_dump(exclude={"engine"})
