"""What the configuration may say about systems and decoders of this family."""

from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from fastdecode.config.rows import DecoderRow, Tier
from fastdecode.config.rows import System as AnySystem

STATISTICS = ("masks", "steps")


class System(AnySystem):
    """A Transformer that writes a translation in another order, or two tokens at a time."""

    fold: Literal["bidirectional", "pairs-l2r", "pairs-r2l", "r2l"] = Field(
        "bidirectional",
        description="order of writing: a token from each end a step, two neighbours from the left "
        "or from the right, or one token a step from the right",
    )
    start: Literal["bos-eos", "bos-bos"] = Field(
        "bos-eos",
        description="the pair that decoding starts from: (`<s>`, `</s>`) as the paper says, or "
        "`<s>` twice as its public code does; r2l starts from `</s>`",
    )


class Decoder(DecoderRow):
    """Beam search over groups of tokens."""

    beam: PositiveInt = Field(5, description="beam width; 1 = greedy")
    lenpen: float = Field(1.0, description="exponent of the length in the normalised score")
    max_len_a: float = Field(1.2, ge=0, description="longest output = a · source length + b")
    max_len_b: NonNegativeInt = Field(10, description="see max_len_a; lengths count `</s>` not")
    min_len: PositiveInt = Field(1, description="shortest output")
    engine: Literal["eager", "fastdecode"] = Field(
        "eager",
        description="fairseq's modules in plain PyTorch (tier reference) or this project's fast "
        "path (tier optimised)",
    )

    @property
    def exact(self) -> bool:
        """Both engines can."""
        return True

    @property
    def tier(self) -> Tier:
        """As for every family: eager mode is the reference."""
        return "reference" if self.engine == "eager" else "optimised"

    @property
    def twin_key(self) -> dict[str, object]:
        """All but the engine."""
        return self.model_dump(exclude={"engine"})
