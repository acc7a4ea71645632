"""What the configuration may say about systems and decoders of this family."""

from typing import Annotated, Literal

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from fastdecode.config.base import default
from fastdecode.config.rows import Assets, DecoderRow, Engine
from fastdecode.config.rows import System as AnySystem

STATISTICS = ("accuracy", "samples", "graphs", "assignment", "vertices")
LANGUAGE_MODEL = "5gram.binary"
Share = Annotated[float, Field(ge=0, le=1)]
READ_BY = {  # key of a decoder → the searches that look at it
    **dict.fromkeys(("beams", "beams_per_length", "expansions", "lm_weight"), ("beam",)),
    **dict.fromkeys(("top_p", "temperature", "sample_seed"), ("sample",)),
    "length_penalty": ("viterbi", "beam"),
}


class System(AnySystem):
    """A Transformer that writes a graph of translations at once."""

    factor: Annotated[float, Field(ge=1)] = Field(
        8.0, description="λ: vertices of the graph for every token of the source"
    )
    links: Literal["softmax", "gated"] = Field(
        "softmax",
        description="what links come from: one softmax (the paper's), or heads of links that a "
        "gate mixes, with positions of their own (the authors' code)",
    )
    marginalise: Literal["sum", "max"] = Field(
        "sum", description="the loss: of all paths that write the target, or of the best one"
    )
    glancing: Literal["adaptive", "uniform", "none"] = Field(
        "adaptive",
        description="target tokens shown in training: the more the more are wrong, any number, "
        "or none",
    )
    glancing_ratio: tuple[Share, Share] = Field(
        (0.5, 0.1),
        description="adaptive: share of the wrong tokens' number that is shown, falling linearly "
        "from the first to the second over two thirds of the training",
    )
    force_emission: bool = Field(
        False,
        description="in the loss, a vertex at which a token is shown writes no other, and that "
        "token's probability there is not learned (the authors' code)",
    )
    divide_by_length: bool = Field(
        False, description="divide a sentence's loss by its target's length (the authors' code)"
    )

    @model_validator(mode="after")
    def _is_sound(self) -> "System":
        if self.glancing != "adaptive" and self.glancing_ratio != default(self, "glancing_ratio"):
            raise ValueError(f"glancing_ratio is for glancing: adaptive, not {self.glancing}")
        if self.force_emission and not self.glances:
            raise ValueError("force_emission is of what glancing shows, and glancing is none")
        return self

    @property
    def slots(self) -> float:
        """A vertex is one."""
        return self.factor

    @property
    def unread(self) -> frozenset[str]:
        """The loss is the probability of a sentence, as it is."""
        return frozenset({"label_smoothing"})

    @property
    def glances(self) -> bool:
        """Unless it is turned off."""
        return self.glancing != "none"


class Decoder(DecoderRow):
    """Search through a graph."""

    search: Literal["greedy", "lookahead", "viterbi", "beam", "sample"] = Field(
        "lookahead",
        description="greedy: the likeliest links, their likeliest tokens; lookahead: both chosen "
        "together, step by step; viterbi: the best path of all; beam: translations, whose paths "
        "add up; sample: drawn with nucleus sampling",
    )
    beams: PositiveInt = Field(200, description="beam: prefixes kept at a vertex")
    beams_per_length: PositiveInt = Field(10, description="beam: of these, of one length")
    expansions: PositiveInt = Field(
        5, description="beam: pairs of a next vertex and a token that a prefix goes on with"
    )
    length_penalty: NonNegativeFloat = Field(
        1.0,
        description="viterbi, beam: log-probabilities are divided by the length to this power; "
        "the length counts `<s>` and `</s>`",
    )
    lm_weight: NonNegativeFloat = Field(
        0.0, description="beam: weight γ of the 5-gram language model; 0: none is needed"
    )
    top_p: Annotated[float, Field(gt=0, le=1)] = Field(
        0.8,
        description="sample: mass of the pairs of vertex and token that are drawn from; unless it "
        "is 1, of the 64 likeliest tokens of a vertex, with a warning where these have less",
    )
    temperature: PositiveFloat = Field(
        1.0, description="sample: below 1 likely pairs become likelier"
    )
    sample_seed: NonNegativeInt = Field(
        1, description="sample: another number, another translation"
    )
    merge: bool = Field(
        False, description="keep one of equal neighbouring tokens (the authors' code)"
    )
    engine: Engine = "eager"

    @model_validator(mode="after")
    def _is_sound(self) -> "Decoder":
        for key, searches in READ_BY.items():
            if getattr(self, key) != default(self, key) and self.search not in searches:
                raise ValueError(f"{key} is for search: {', '.join(searches)}, not {self.search}")
        return self

    def check_installed(self) -> None:
        """Raise UserError if KenLM is missing where a language model is asked."""
        if self.lm_weight > 0:
            from fastdecode.families.dag.ngrams import kenlm_package

            kenlm_package()

    @property
    def assets(self) -> Assets | None:
        """The language model, where it is asked."""
        return ("lm", (LANGUAGE_MODEL,)) if self.lm_weight > 0 else None
