"""What the configuration may say about systems and decoders of this family."""

from typing import Literal

from pydantic import Field

from fastdecode.config.rows import (
    Beam,
    DecoderRow,
    Engine,
    LengthPenalty,
    MaxLengthExtra,
    MaxLengthFactor,
    MinLength,
)
from fastdecode.config.rows import System as AnySystem

STATISTICS = ("losses", "masks", "steps")
Order = Literal["bidirectional", "pairs-l2r", "pairs-r2l", "r2l"]
Start = Literal["bos-eos", "bos-bos"]


class System(AnySystem):
    """A Transformer that writes a translation in another order, or two tokens at a time."""

    fold: Order = Field(
        "bidirectional",
        description="order of writing: a token from each end a step, two neighbours from the left "
        "or from the right, or one token a step from the right",
    )
    start: Start = Field(
        "bos-eos",
        description="the pair that decoding starts from: (`<s>`, `</s>`) as the paper says, or "
        "`<s>` twice as its public code does; r2l starts from `</s>`",
    )
    positions: Literal["learned", "sine"] = Field(
        "learned",
        description="positions of the decoder: learned, as the paper does for pairs, whose tokens "
        "are not neighbours in the sentence (section 3.1), or sines, as the encoder has",
    )


class Decoder(DecoderRow):
    """Beam search over groups of tokens."""

    beam: Beam = 5
    lenpen: LengthPenalty = 1.0
    max_len_a: MaxLengthFactor = 1.2
    max_len_b: MaxLengthExtra = 10
    min_len: MinLength = 1
    engine: Engine = "eager"

    def passes(self, tokens: float, system: AnySystem) -> tuple[float, float]:
        """A pass for every pair, or for every token where the system writes one at a time."""
        size = 1 if isinstance(system, System) and system.fold == "r2l" else 2
        return tokens / size + 1, float(size * self.beam)

    @property
    def exact(self) -> bool:
        """Both engines can."""
        return True
