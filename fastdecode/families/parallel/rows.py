"""What the configuration may say about systems and decoders of this family."""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt, model_validator

from fastdecode.config.rows import DecoderRow, Engine
from fastdecode.config.rows import System as AnySystem

STATISTICS = ("recall", "accuracy", "samples", "slots")
AGAINST_TEACHER = ("recall",)
Kind = Literal["nat", "cmlm", "glat", "ctc", "ctc-glat"]
Method = Literal["argmax", "mask-predict", "ctc"]
Ratio = Annotated[float, Field(ge=0, le=1)]
UPSAMPLE, GLANCE, ITERATIONS = 2, (0.5, 0.3), 10  # where a row leaves them open

SEARCHES: dict[str, Method] = {
    "nat": "argmax",
    "glat": "argmax",
    "cmlm": "mask-predict",
    "ctc": "ctc",
    "ctc-glat": "ctc",
}


class System(AnySystem):
    """A Transformer whose decoder fills all slots of a translation at once."""

    kind: Kind = Field(
        "nat",
        description="what it learns; nat: the words of all slots, each by itself, given the "
        "length; cmlm: masked words, given the others; ctc: the words and where none stands; glat "
        "and ctc-glat: nat and ctc, shown in training some of what they get wrong",
    )
    upsample: Annotated[int, Field(ge=2)] | None = Field(
        None,
        description=f"ctc and ctc-glat: slots for each token of the source (by default {UPSAMPLE})",
    )
    glance: tuple[Ratio, Ratio] | None = Field(
        None,
        description="glat and ctc-glat: how much of what is wrong is revealed, at the beginning "
        f"and in the end of training (by default {GLANCE[0]} and {GLANCE[1]})",
    )
    source_copy: Literal["even", "soft", "none"] = Field(
        "even",
        description="glat, ctc and ctc-glat: what blank slots begin with; even: one source "
        "embedding each, as of nat; soft: all of them, mixed by positions (the authors' code of "
        "glat); none: the embedding of `<unk>` (their recipe for ctc-glat), as of cmlm",
    )
    activation: Literal["relu", "gelu"] = Field(
        "relu", description="of feed-forward layers; the graph has gelu"
    )

    @model_validator(mode="after")
    def _is_sound(self) -> "System":
        if self.upsample is not None and "ctc" not in self.kind:
            raise ValueError(f"upsample is for kind: ctc and ctc-glat, not {self.kind}")
        if self.glance is not None and "glat" not in self.kind:
            raise ValueError(f"glance is for kind: glat and ctc-glat, not {self.kind}")
        if self.source_copy != "even" and self.kind in ("nat", "cmlm"):
            raise ValueError(f"source_copy is for kind: glat, ctc and ctc-glat, not {self.kind}")
        return self

    @property
    def slots(self) -> float:
        """Those of the source, for CTC."""
        return float(self.upsample or UPSAMPLE) if "ctc" in self.kind else 1.0

    @property
    def unread(self) -> frozenset[str]:
        """CTC's loss is the probability of a sentence, as it is."""
        return frozenset({"label_smoothing"} if "ctc" in self.kind else ())

    @property
    def glances(self) -> bool:
        """The kinds that are called so do."""
        return "glat" in self.kind


class Decoder(DecoderRow):
    """The likeliest word of every slot, in one pass or a few."""

    search: Method = Field(
        "argmax",
        description="argmax: each slot's likeliest word (nat, glat); mask-predict: again and "
        "again for those least sure (cmlm); ctc: argmax, equal neighbours as one, blanks left out",
    )
    iterations: PositiveInt | None = Field(
        None, description=f"mask-predict: passes of the decoder (by default {ITERATIONS})"
    )
    length_beam: PositiveInt = Field(
        1,
        description="lengths tried: the predicted one and its nearest; of their translations the "
        "one of highest mean log-probability wins",
    )
    merge: bool = Field(False, description="argmax: keep one of equal neighbouring tokens")
    beam: PositiveInt | None = Field(
        None,
        description="ctc: prefixes of translations that go on from slot to slot, ranked by the sum "
        "over their alignments, each with as many words (by default each slot's likeliest label "
        "is read, that is, one alignment)",
    )
    engine: Engine = "eager"

    @model_validator(mode="after")
    def _is_sound(self) -> "Decoder":
        if self.iterations and self.search != "mask-predict":
            raise ValueError(f"iterations is for search: mask-predict, not {self.search}")
        if self.merge and self.search != "argmax":
            raise ValueError(f"merge is for search: argmax, not {self.search}")
        if self.beam and self.search != "ctc":
            raise ValueError(f"beam is for search: ctc, not {self.search}")
        if self.length_beam > 1 and self.search == "ctc":
            raise ValueError("length_beam is not for search: ctc, which predicts no length")
        return self

    def passes(self, tokens: float, system: AnySystem) -> tuple[float, float]:
        """All at once and in all lengths that are tried, as often as there are iterations."""
        passes = self.iterations or ITERATIONS if self.search == "mask-predict" else 1
        return float(passes), tokens * system.slots * self.length_beam

    def fits(self, system: AnySystem) -> bool:
        """Tell whether the system learned what this search looks for."""
        assert isinstance(system, System)
        return SEARCHES[system.kind] == self.search
