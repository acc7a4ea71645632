"""What the configuration may say about decoders of this family."""

from typing import Literal

from pydantic import Field, model_validator

from fastdecode.config.rows import (
    Beam,
    DecoderRow,
    LengthPenalty,
    MaxLengthExtra,
    MaxLengthFactor,
    MinLength,
    System,
)

__all__ = ["STATISTICS", "Decoder", "System"]
STATISTICS = ("samples",)


class Decoder(DecoderRow):
    """Left-to-right search."""

    beam: Beam = 5
    lenpen: LengthPenalty = 1.0
    max_len_a: MaxLengthFactor = 1.2
    max_len_b: MaxLengthExtra = 10
    min_len: MinLength = 1
    engine: Literal["fairseq", "fastdecode", "ctranslate2"] = Field(
        "fairseq",
        description="who searches: fairseq (tier reference), this project's fast path or "
        "CTranslate2 (tier optimised)",
    )
    int8: bool = Field(
        False,
        description="8-bit weights; needs engine: ctranslate2 and, on x86 that is not Intel's, "
        "VNNI or CT2_USE_MKL=1",
    )

    @model_validator(mode="after")
    def _is_sound(self) -> "Decoder":
        if self.int8 and self.engine != "ctranslate2":
            raise ValueError(f"int8 needs engine: ctranslate2, not {self.engine}")
        return self

    def passes(self, tokens: float, system: System) -> tuple[float, float]:
        """A pass for every token."""
        return tokens, float(self.beam)

    @property
    def decodes_ensembles(self) -> bool:
        """fairseq's search averages the models' probabilities."""
        return self.engine == "fairseq"

    @property
    def exact(self) -> bool:
        """CTranslate2 holds a whole batch to one length only."""
        return self.engine != "ctranslate2"

    @property
    def twin_key(self) -> dict[str, object]:
        """All but the engine and its arithmetic."""
        return self.model_dump(exclude={"engine", "int8"})

    def precision(self, run: str) -> str:
        """8 bits where the row asks for them, else as the run decodes."""
        return "int8" if self.int8 else run
