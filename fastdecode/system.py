"""A trained system as what decodes sees it, and what every decoder is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from fastdecode.errors import UserError
from fastdecode.families import decoder_builder, decoder_row
from fastdecode.limits import Lengths
from fastdecode.stages import Stopwatch
from fastdecode.transformer.weights import Layers
from fastdecode.translation import Finish, Translation

if TYPE_CHECKING:
    from fairseq.data import Dictionary

T = TypeVar("T")
NOTHING = Translation("", [], None, 0)  # of a line without words


class Decoder(Protocol):
    """What every decoder of every family is: a call that translates a batch."""

    @property
    def bytes_per_pass(self) -> int:
        """How many bytes of weights one decoder pass reads at least."""

    @property
    def serial_layers(self) -> Layers:
        """How many layers follow on one another: once a sentence, and in each pass."""

    def __call__(self, sources: Sequence[Sequence[str]]) -> list[Translation]:
        """Return a translation for each of `sources`: BPE tokens, none of them empty."""


def decode_filled(decoder: Decoder, sources: Sequence[Sequence[str]]) -> list[Translation]:
    """Return a translation for each of `sources`; the empty ones are not given to the decoder."""
    filled = [source for source in sources if source]
    decoded = iter(decoder(filled) if filled else [])
    return [next(decoded) if source else NOTHING for source in sources]


@dataclass(frozen=True)
class System:
    """Trained models that translate together, with their dictionaries."""

    models: list[Any]
    source: "Dictionary"
    target: "Dictionary"
    device: str = "cpu"
    precision: str = "fp32"
    assets: Path | None = None
    """Folder of what the family or the decoder needs besides: the lattice's tables."""
    companions: Mapping[str, "System"] = field(default_factory=dict)
    """Systems that decode together with this one, such as a verifier, by name."""
    lengths: Lengths | None = None
    """How long translations have to be, whatever the model says; None: as it says."""
    _shared: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def share(self, name: str, make: Callable[[], T]) -> T:
        """Return what several decoders of this system have in common, made by the first of them."""
        if name not in self._shared:
            self._shared[name] = make()
        shared: T = self._shared[name]
        return shared

    def single(self, whose: str, kind: type = object, fault: str = "") -> Any:
        """Return the only model. Raises UserError if there are several, or it is not of `kind`.

        `whose` says what it is that one model does, `fault` what another kind of model is not.
        """
        if len(self.models) > 1:
            raise UserError(f"{whose}, and these are {len(self.models)}")
        (model,) = self.models
        if not isinstance(model, kind):
            raise UserError(f"{type(model).__name__} {fault}")
        return model

    def companion(self, name: str) -> "System":
        """Return the system `name`, which decodes with this one. Raises UserError without it."""
        if name not in self.companions:
            raise UserError(f"this decoder needs {name} too: load the system with its companions")
        return self.companions[name]

    def equipped(self, assets: Path | None, companions: Mapping[str, "System"]) -> "System":
        """Return the same system with what another decoder needs besides."""
        return replace(self, assets=assets, companions=companions)

    @property
    def longest(self) -> int:
        """How many BPE tokens a source line may have: one position is left for `</s>`."""
        own = min(int(model.max_positions()[0]) for model in self.models) - 1
        return min([own, *(companion.longest for companion in self.companions.values())])

    def decoder(
        self,
        family: str,
        settings: Mapping[str, Any],
        finish: Finish,
        watch: Stopwatch | None = None,
    ) -> Decoder:
        """Return what translates batches of BPE-tokenised sentences with these models.

        `settings` is a decoder row of `family`; `finish` turns BPE tokens into text. By default a
        stopwatch runs on a CPU and none on a GPU, which it would slow down.

        Raises UserError if the decoder does not fit the system.
        """
        row = decoder_row(family).model_validate(settings)
        watch = watch or Stopwatch(on=self.device == "cpu")
        decoder: Decoder = decoder_builder(family)(self, row, finish, watch)
        return decoder
