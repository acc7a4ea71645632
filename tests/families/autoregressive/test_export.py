"""Models of many shapes, written in CTranslate2's format, decode as fairseq decodes them."""

import errno
import random
from argparse import Namespace
from pathlib import Path
from typing import Any

import ctranslate2
import pytest
import torch
from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerModel

from fastdecode.errors import UserError
from fastdecode.families.autoregressive.export import export
from fastdecode.system import System

SMALL = {
    "encoder_embed_dim": 16,
    "decoder_embed_dim": 16,
    "encoder_ffn_embed_dim": 32,
    "decoder_ffn_embed_dim": 32,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "share_all_embeddings": True,
    "activation_fn": "relu",
    "max_source_positions": 64,
    "max_target_positions": 64,
}
PRENORM = {"encoder_normalize_before": True, "decoder_normalize_before": True}
LEARNED = {"encoder_learned_pos": True, "decoder_learned_pos": True}
APART = {"share_all_embeddings": False}
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "prenorm": PRENORM,
    "prenorm, nothing at the end": {**PRENORM, "no_decoder_final_norm": True},
    "prenorm on one side": {"encoder_normalize_before": True},
    "learned positions": LEARNED,
    "separate embeddings": APART,
    "shared in the decoder": {**APART, "share_decoder_input_output_embed": True},
    "one decoder layer": {"encoder_layers": 3, "decoder_layers": 1},
    "gelu": {"activation_fn": "gelu"},
    "gelu by tanh": {"activation_fn": "gelu_accurate"},
    "normalised embeddings": {"layernorm_embedding": True},
    "embeddings as they are": {"no_scale_embedding": True},
    "sides of different width": {
        **APART,
        "encoder_embed_dim": 24,
        "encoder_ffn_embed_dim": 20,
        "encoder_attention_heads": 4,
    },
    "all at once": {**PRENORM, **LEARNED, **APART, "activation_fn": "gelu", "decoder_layers": 1},
}


class Task:
    """As much of a fairseq task as a model is built from."""

    def __init__(self, joint: bool, words: int):
        self.source_dictionary = self.target_dictionary = dictionary("abcdefgh", words)
        if not joint:
            self.target_dictionary = dictionary("tuvwxyz", words)


def dictionary(letters: str, words: int) -> Dictionary:
    symbols = Dictionary()
    for symbol in [*letters, *map(str, range(words))]:
        symbols.add_symbol(symbol)
    return symbols


def make(
    model: type[TransformerModel] = TransformerModel, words: int = 0, **changes: Any
) -> System:
    """Return an untrained system that translates different sentences differently."""
    values = {**SMALL, **changes}
    task = Task(values["share_all_embeddings"], words)
    torch.manual_seed(4)
    built = model.build_model(Namespace(**values), task).eval()
    with torch.no_grad():
        for parameter in built.parameters():  # biases and norms too: all have to arrive
            parameter.add_(torch.randn_like(parameter) * 0.5)
        bias = torch.zeros(len(task.target_dictionary))
        bias[task.target_dictionary.eos()] = 1.5
        built.decoder.output_projection.bias = torch.nn.Parameter(bias)
    return System([built], task.source_dictionary, task.target_dictionary)


def sentences(count: int) -> list[list[str]]:
    draw = random.Random(5)
    return [draw.choices("abcdefgh?", k=draw.randint(1, 20)) for _ in range(count)]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_model_decodes_as_in_fairseq(name: str) -> None:
    system = make(**VARIANTS[name])
    reference, peer = (
        system.decoder("autoregressive", {"beam": 1, "engine": engine}, " ".join)
        for engine in ("fairseq", "ctranslate2")
    )
    outputs = set()
    for sentence in sentences(30):
        (expected,), (found,) = reference([sentence]), peer([sentence])
        assert found.tokens == expected.tokens
        outputs.add(tuple(found.tokens))
    assert len(outputs) > 5


@pytest.mark.parametrize("name", VARIANTS)
def test_every_probability_is_fairseqs(name: str, tmp_path: Path) -> None:
    system = make(**VARIANTS[name])
    (model,) = system.models
    export(model, system.source, system.target, tmp_path / "model")
    translator = ctranslate2.Translator(str(tmp_path / "model"), compute_type="float32")
    eos, draw = system.target.eos(), random.Random(6)
    for sentence in sentences(10):
        target = draw.choices(system.target.symbols[4:], k=draw.randint(1, 20))
        source = torch.tensor([[*map(system.source.index, sentence), eos]])  # (1, S)
        tokens = [*map(system.target.index, target), eos]
        with torch.inference_mode():
            before = torch.tensor([[eos, *tokens[:-1]]])  # (1, T)
            logits, _ = model(source, torch.tensor([source.size(1)]), before)
            expected = logits.log_softmax(-1)[0, range(len(tokens)), tokens]  # (T)
        (found,) = translator.score_batch([sentence], [target])
        assert found.log_probs == pytest.approx(expected.tolist(), abs=1e-4)


def test_the_folder_is_whole_and_stands_alone(tmp_path: Path) -> None:
    for joint in (True, False):
        system = make(share_all_embeddings=joint)
        folder = tmp_path / f"deep/{joint}"
        export(system.models[0], system.source, system.target, folder)
        vocabularies = ["source_vocabulary.json", "target_vocabulary.json"]
        if joint:
            vocabularies = ["shared_vocabulary.json"]
        assert sorted(path.name for path in folder.iterdir()) == sorted(
            ["config.json", "model.bin", *vocabularies]
        )
        assert ctranslate2.contains_model(str(folder))
        translator = ctranslate2.Translator(str(folder), compute_type="float32")
        (result,) = translator.translate_batch([["a", "b"]], max_decoding_length=9)
        assert result.hypotheses
    assert len(list(folder.parent.iterdir())) == 2


def test_a_shared_matrix_is_written_once(tmp_path: Path) -> None:
    system = make(encoder_layers=1, decoder_layers=1, words=9_000)
    export(system.models[0], system.source, system.target, tmp_path / "model")
    matrix = 4 * 16 * 9_000  # bytes of the embeddings, which are the output projection too
    assert matrix < (tmp_path / "model/model.bin").stat().st_size < 1.5 * matrix


class Other(TransformerModel):
    """A model that may compute anything."""


def test_what_the_format_cannot_hold_is_refused(tmp_path: Path) -> None:
    with_more = make()
    with_more.models[0].decoder.layers[0].gate = torch.nn.Parameter(torch.zeros(3))
    with_less = make()
    with_less.models[0].decoder.layers[1].encoder_attn = None
    for system, message in (
        (make(model=Other), "decodes a plain Transformer, and this is a Other"),
        (make(activation_fn="tanh"), "has no activation tanh"),
        (make(no_token_positional_embeddings=True), "no Transformer without positions"),
        (with_more, "has no place for decoder.layers.0.gate"),
        (with_less, "needs decoder.layers.1.encoder_attn.q_proj.weight"),
    ):
        with pytest.raises(UserError, match=message):
            export(system.models[0], system.source, system.target, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    system = make()
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_text("mine")
    (tmp_path / "file").write_text("mine")
    export(system.models[0], system.source, system.target, tmp_path / "empty")
    for name in ("empty", "full", "file"):
        with pytest.raises(UserError, match=f"{name} exists: choose a folder that does not"):
            export(system.models[0], system.source, system.target, tmp_path / name)
    with pytest.raises(UserError, match=r"file/model cannot be made: .*file is a file"):
        export(system.models[0], system.source, system.target, tmp_path / "file/model")
    assert (tmp_path / "full/file").read_text() == (tmp_path / "file").read_text() == "mine"


def test_a_full_disk_leaves_nothing(small_disk: Path) -> None:
    system = make(encoder_ffn_embed_dim=4096)
    with pytest.raises(OSError) as error:
        export(system.models[0], system.source, system.target, small_disk / "model")
    assert error.value.errno == errno.ENOSPC
    assert list(small_disk.iterdir()) == []
