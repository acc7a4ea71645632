"""The passes of one batch by our Transformer, as fastdecode.stepping takes them."""

from collections.abc import Callable

from torch import Tensor

from fastdecode.system import System
from fastdecode.transformer import recording
from fastdecode.transformer.decoder import Decoder, Memory
from fastdecode.transformer.graphs import GraphedDecoder, encoder_of
from fastdecode.transformer.layers import check_supported

Begin = Callable[[Tensor, Tensor | None, int, int], tuple[Decoder, Memory]]
"""Encodes sources (B, S), padded on the right, with their mask (B, 1, 1, S).

Then come how many rows there are for each, and for how many tokens there has to be room. Returns
what takes the steps, and what it begins with.
"""


def beginning(system: System) -> Begin:
    """Return how our Transformer begins a batch, with the model of `system`.

    Raises UserError if the model has parts that are not built here.
    """
    (model,) = system.models
    check_supported(model)
    encoder = system.share("encoder", lambda: encoder_of(model.encoder))
    decoder = system.share("decoder", lambda: Decoder(model.decoder))
    single = decoder
    if recording.pays(model):  # idle between the kernels of one sentence's steps
        single = system.share("graphed", lambda: GraphedDecoder(decoder))

    def begin(
        sources: Tensor, mask: Tensor | None, rows: int, longest: int
    ) -> tuple[Decoder, Memory]:
        chosen = single if len(sources) == 1 else decoder
        return chosen, chosen.begin(encoder(sources, mask), mask, rows, longest)

    return begin


class FastSteps:
    """Groups of tokens (R, n) in, as many logits (R, n, V) out; see fastdecode.stepping.Steps."""

    def __init__(self, decoder: Decoder, memory: Memory):
        """Go on from `memory`."""
        self._decoder, self._memory = decoder, memory

    def step(self, tokens: Tensor) -> Tensor:
        """See Steps."""
        return self._decoder.step(tokens, self._memory)

    def keep_rows(self, rows: Tensor) -> None:
        """See Steps."""
        self._memory.keep_rows(rows)

    def keep_sentences(self, sentences: Tensor) -> None:
        """See Steps."""
        self._memory.keep_sentences(sentences)


class SingleSteps(FastSteps):
    """One token a row (R) in, the logits of the next one (R, V) out."""

    def step(self, tokens: Tensor) -> Tensor:
        """See Steps."""
        return super().step(tokens[:, None])[:, -1]
