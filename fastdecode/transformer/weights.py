"""What decoding costs on any machine: weights to be read, layers that wait for one another."""

from typing import Any, NamedTuple

from torch import nn


class Layers(NamedTuple):
    """Layers that wait for one another while a sentence is decoded."""

    once: int  # whatever is encoded
    per_pass: int

    def of(self, passes: float) -> float:
        """Return how many there are in so many decoder passes and what precedes them."""
        return self.once + self.per_pass * passes

    def before(self, other: "Layers") -> "Layers":
        """Return those of two models that run in turn, this one first."""
        return Layers(self.once + other.once, self.per_pass + other.per_pass)


def serial_layers(model: Any) -> Layers:
    """Return those of a fairseq model with an encoder and a decoder."""
    return Layers(len(model.encoder.layers), len(model.decoder.layers))


def bytes_per_pass(model: Any, *own: nn.Module) -> int:
    """Return the bytes of weights that every decoder pass of a fairseq Transformer reads at least.

    These are the decoder's layers, the output projection, and a family's `own` modules. What a
    sentence needs once, however many passes follow, is not counted, not even where one pass is all:
    the encoder, and the projections of its keys and values. So the number is the same for all
    families, and passes times bytes are never more than what is read. Of an embedding, of words or
    of positions, a few rows are read.
    """
    layers = model.decoder.layers.named_parameters()
    read = [p for name, p in layers if not name.split(".", 1)[1].startswith(ONCE)]
    read.append(model.decoder.output_projection.weight)
    for part in (part for module in own for part in module.modules()):
        read += [] if isinstance(part, nn.Embedding) else part.parameters(recurse=False)
    return sum(p.nbytes for p in read)


ONCE = ("encoder_attn.k_proj", "encoder_attn.v_proj")
