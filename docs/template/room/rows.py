"""What the configuration may say about systems and decoders of this family."""

from fastdecode.config.rows import (
    DecoderRow,
    Engine,
    MaxLengthExtra,
    MaxLengthFactor,
    MinLength,
)
from fastdecode.config.rows import System as AnySystem


class System(AnySystem):
    """A Transformer that does not see what it writes."""


class Decoder(DecoderRow):
    """The likeliest word of every slot."""

    max_len_a: MaxLengthFactor = 1.2
    max_len_b: MaxLengthExtra = 10
    min_len: MinLength = 1
    engine: Engine = "eager"

    @property
    def exact(self) -> bool:
        """Both engines can."""
        return True
