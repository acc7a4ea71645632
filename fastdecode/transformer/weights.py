"""How much of a model one decoder pass reads."""

from typing import Any


def bytes_per_pass(model: Any) -> int:
    """Return the bytes of weights that a decoder pass of a fairseq Transformer reads at least.

    These are the decoder's layers and the output projection. The projections of the encoder's keys
    and values are used once a sentence, and of an embedding one row is read.
    """
    layers = model.decoder.layers.named_parameters()
    read = [p for name, p in layers if not name.split(".", 1)[1].startswith(ONCE)]
    read.append(model.decoder.output_projection.weight)
    return sum(p.numel() * p.element_size() for p in read)


ONCE = ("encoder_attn.k_proj", "encoder_attn.v_proj")
