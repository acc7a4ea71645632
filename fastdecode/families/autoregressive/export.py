"""A trained Transformer as a folder that CTranslate2 opens, here or in a program of its own.

The folder holds `model.bin` (fp32 weights), `config.json` and the vocabularies. The model is read
from memory; CTranslate2 opens no file of fairseq's.
"""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from ctranslate2.specs import transformer_spec
from ctranslate2.specs.common_spec import Activation
from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerModel
from fairseq.modules import SinusoidalPositionalEmbedding

from fastdecode.errors import UserError
from fastdecode.files import check_new

ACTIVATIONS = {  # fairseq's name → the format's
    "relu": Activation.RELU,
    "gelu": Activation.GELU,
    "gelu_accurate": Activation.GELUTanh,
    "gelu_fast": Activation.GELUTanh,
}
CONSTANTS = ("version", "_float_tensor")  # of a state dict: no weights


def export(
    model: Any, source_dictionary: Dictionary, target_dictionary: Dictionary, folder: Path
) -> None:
    """Write a fairseq Transformer to the new folder `folder`, which appears whole or not at all.

    Raises UserError if something stands at `folder` or it cannot be made there, and if the format
    has no place for a part of the model.
    """
    check_new(folder)
    spec = _specification(model)
    spec.register_source_vocabulary(source_dictionary.symbols)
    spec.register_target_vocabulary(target_dictionary.symbols)
    spec.config.unk_token = target_dictionary.unk_word
    spec.config.bos_token = target_dictionary.bos_word
    spec.config.eos_token = spec.config.decoder_start_token = target_dictionary.eos_word
    spec.config.add_source_eos = True
    spec.validate()
    spec.optimize()  # a matrix that stands in several places is written once
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as aside:
            part = Path(aside, "model")
            part.mkdir()
            spec.save(str(part))
            part.replace(folder)
    except (FileExistsError, NotADirectoryError, PermissionError) as error:
        raise UserError(
            f"{folder} cannot be made: {error.filename}: {error.strerror}: choose another folder"
        ) from None


def _specification(model: Any) -> Any:
    """Return CTranslate2's description of `model`, with its weights."""
    if type(model) is not TransformerModel:  # a subclass may compute something else
        raise UserError(
            f"CTranslate2 decodes a plain Transformer, and this is a {type(model).__name__}"
        )
    config = model.cfg
    if config.activation_fn not in ACTIVATIONS:
        raise UserError(
            f"CTranslate2's format has no activation {config.activation_fn} "
            f"(known: {', '.join(ACTIVATIONS)})"
        )
    if config.no_token_positional_embeddings or config.cross_self_attention:
        raise UserError(
            "CTranslate2's format has no Transformer without positions, and none whose decoder "
            "attends to source and target at once"
        )
    weights = Weights(model.state_dict())
    common = {
        "activation": ACTIVATIONS[config.activation_fn],
        "layernorm_embedding": config.layernorm_embedding,
    }
    encoder = transformer_spec.TransformerEncoderSpec(
        config.encoder.layers,
        config.encoder.attention_heads,
        pre_norm=config.encoder.normalize_before,
        **common,
    )
    decoder = transformer_spec.TransformerDecoderSpec(
        config.decoder.layers,
        config.decoder.attention_heads,
        pre_norm=config.decoder.normalize_before,
        no_final_norm=config.no_decoder_final_norm,
        **common,
    )
    _fill_stack(encoder, encoder.embeddings[0], model.encoder, "encoder", weights)
    _fill_stack(decoder, decoder.embeddings, model.decoder, "decoder", weights)
    weights.linear(decoder.projection, "decoder.output_projection")
    weights.refuse_rest()
    spec = transformer_spec.TransformerSpec(encoder, decoder)
    spec.config.layer_norm_epsilon = model.encoder.layers[0].final_layer_norm.eps
    return spec


def _fill_stack(spec: Any, embeddings: Any, module: Any, name: str, weights: "Weights") -> None:
    """Fill in what encoder and decoder have alike."""
    embeddings.weight = weights.take(f"{name}.embed_tokens.weight")
    spec.scale_embeddings = float(module.embed_scale)
    spec.position_encodings.encodings = _positions(module, f"{name}.embed_positions", weights)
    if hasattr(spec, "layernorm_embedding"):
        weights.norm(spec.layernorm_embedding, f"{name}.layernorm_embedding")
    if hasattr(spec, "layer_norm"):
        weights.norm(spec.layer_norm, f"{name}.layer_norm")
    for number, layer in enumerate(spec.layer):
        at = f"{name}.layers.{number}"
        own, fed = layer.self_attention, layer.ffn
        weights.linear(own.linear[0], *(f"{at}.self_attn.{p}_proj" for p in "qkv"))
        weights.linear(own.linear[1], f"{at}.self_attn.out_proj")
        weights.norm(own.layer_norm, f"{at}.self_attn_layer_norm")
        if hasattr(layer, "attention"):  # a decoder's
            weights.linear(layer.attention.linear[0], f"{at}.encoder_attn.q_proj")
            weights.linear(
                layer.attention.linear[1], *(f"{at}.encoder_attn.{p}_proj" for p in "kv")
            )
            weights.linear(layer.attention.linear[2], f"{at}.encoder_attn.out_proj")
            weights.norm(layer.attention.layer_norm, f"{at}.encoder_attn_layer_norm")
        weights.linear(fed.linear_0, f"{at}.fc1")
        weights.linear(fed.linear_1, f"{at}.fc2")
        weights.norm(fed.layer_norm, f"{at}.final_layer_norm")


def _positions(module: Any, name: str, weights: "Weights") -> Any:
    """Return the vectors of positions 0, 1, …; fairseq's table begins behind the padding's row."""
    first = module.padding_idx + 1
    if isinstance(module.embed_positions, SinusoidalPositionalEmbedding):
        longest = getattr(module, "max_source_positions", None) or module.max_target_positions
        width = module.embed_positions.embedding_dim
        return SinusoidalPositionalEmbedding.get_embedding(first + longest, width)[first:].numpy()
    return weights.take(f"{name}.weight")[first:]


class Weights:
    """The weights of a model, each handed out once, so that none can be forgotten."""

    def __init__(self, state: Mapping[str, Any]):
        """Take over a state dict."""
        self._left = {k: v for k, v in state.items() if k.rsplit(".", 1)[-1] not in CONSTANTS}

    def take(self, name: str) -> Any:
        """Return a weight as an fp32 array. Raises UserError if the model has none of this name."""
        if name not in self._left:
            raise UserError(f"CTranslate2's format needs {name}, which this model has not")
        return np.ascontiguousarray(self._left.pop(name).detach().float().cpu().numpy())

    def linear(self, spec: Any, *names: str) -> None:
        """Fill in one linear map, made of those named one below the other."""
        spec.weight = np.concatenate([self.take(f"{name}.weight") for name in names])
        if f"{names[0]}.bias" in self._left:
            spec.bias = np.concatenate([self.take(f"{name}.bias") for name in names])

    def norm(self, spec: Any, name: str) -> None:
        """Fill in one layer normalisation."""
        spec.gamma, spec.beta = self.take(f"{name}.weight"), self.take(f"{name}.bias")

    def refuse_rest(self) -> None:
        """Raise UserError if a weight was not taken."""
        if self._left:
            raise UserError(f"CTranslate2's format has no place for {next(iter(self._left))}")
