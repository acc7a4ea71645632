"""What the configuration may say about decoders of this family."""

from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from fastdecode.config.rows import DecoderRow, System, Tier

__all__ = ["STATISTICS", "Decoder", "System"]
STATISTICS = ("samples",)


class Decoder(DecoderRow):
    """Left-to-right search."""

    beam: PositiveInt = Field(5, description="beam width; 1 = greedy")
    lenpen: float = Field(1.0, description="exponent of the length in the normalised score")
    max_len_a: float = Field(1.2, ge=0, description="longest output = a · source length + b")
    max_len_b: NonNegativeInt = Field(10, description="see max_len_a; lengths count `</s>` not")
    min_len: PositiveInt = Field(1, description="shortest output")
    engine: Literal["fairseq", "fastdecode", "ctranslate2"] = Field(
        "fairseq",
        description="who searches: fairseq (tier reference), this project's fast path or "
        "CTranslate2 (tier optimised)",
    )
    int8: bool = Field(False, description="8-bit weights; needs engine: ctranslate2")

    @model_validator(mode="after")
    def _fits(self) -> "Decoder":
        if self.int8 and self.engine != "ctranslate2":
            raise ValueError(f"int8 needs engine: ctranslate2, not {self.engine}")
        return self

    @property
    def exact(self) -> bool:
        """CTranslate2 holds a whole batch to one length only."""
        return self.engine != "ctranslate2"

    @property
    def tier(self) -> Tier:
        """The papers timed fairseq's search."""
        return "reference" if self.engine == "fairseq" else "optimised"

    @property
    def twin_key(self) -> dict[str, object]:
        """All but the engine and its arithmetic."""
        return self.model_dump(exclude={"engine", "int8"})

    def precision(self, run: str) -> str:
        """8 bits where the row asks for them, else as the run decodes."""
        return "int8" if self.int8 else run
