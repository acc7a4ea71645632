"""The fast path against fairseq's generator, token by token."""

import time
from dataclasses import replace
from typing import Any

import pytest
import torch

from fastdecode.config.models import Architecture
from fastdecode.errors import UserError
from fastdecode.limits import Lengths
from fastdecode.measure.untrained import untrained_system
from fastdecode.system import Decoder, System
from fastdecode.translation import Translation

Sentences = list[list[str]]
LIMIT = {"max_len_a": 0, "max_len_b": 12}


def decoder(system: System, engine: str = "fastdecode", **settings: Any) -> Decoder:
    return system.decoder("autoregressive", {"engine": engine, **settings}, " ".join)


def assert_same(ours: Translation, theirs: Translation) -> None:
    assert (ours.tokens, ours.text, ours.passes) == (theirs.tokens, theirs.text, theirs.passes)
    assert ours.score == pytest.approx(theirs.score, abs=2e-6)  # fairseq adds them up in fp32


@pytest.mark.parametrize("lenpen", [1.0, 1.6])
@pytest.mark.parametrize("beam", [1, 2, 5])
def test_it_writes_what_fairseq_writes(
    dice: System, ragged: Sentences, beam: int, lenpen: float
) -> None:
    settings: dict[str, Any] = {"beam": beam, "lenpen": lenpen}
    for limit in ({}, LIMIT):
        together = decoder(dice, "fairseq", **settings, **limit)(ragged)
        for ours, theirs in zip(decoder(dice, **settings, **limit)(ragged), together, strict=True):
            assert_same(ours, theirs)
        assert len({len(translation.tokens) for translation in together}) > 3


@pytest.mark.parametrize("beam", [13, 14, 30])
def test_a_beam_is_no_wider_than_the_vocabulary_without_padding(
    beam: int, ragged: Sentences
) -> None:
    system = untrained_system(Architecture(8, 12, 2, 1, 1), 14)
    sentences = [[f"w{len(word)}" for word in line] for line in ragged[:6]]
    theirs = decoder(system, "fairseq", beam=beam, **LIMIT)(sentences)
    for ours, other in zip(decoder(system, beam=beam, **LIMIT)(sentences), theirs, strict=True):
        assert_same(ours, other)


@pytest.mark.parametrize("beam", [1, 4])
def test_it_ends_no_sooner_than_told(dice: System, ragged: Sentences, beam: int) -> None:
    settings: dict[str, Any] = {"beam": beam, "min_len": 5, **LIMIT}
    theirs = decoder(dice, "fairseq", **settings)(ragged)
    for one, other in zip(decoder(dice, **settings)(ragged), theirs, strict=True):
        assert_same(one, other)
        assert 5 <= len(one.tokens) <= 12


@pytest.mark.parametrize("beam", [1, 4])
def test_lengths_are_held_sentence_by_sentence(dice: System, ragged: Sentences, beam: int) -> None:
    asked = [1 + 5 * number % 12 for number in range(len(ragged))]
    held = replace(dice, lengths=Lengths(zip(ragged, asked, strict=True)))
    theirs = decoder(held, "fairseq", beam=beam)(ragged)
    for ours, other, sentence in zip(decoder(held, beam=beam)(ragged), theirs, ragged, strict=True):
        assert_same(ours, other)
        length = held.lengths[sentence]  # type: ignore[index]
        assert (len(ours.tokens), ours.passes) == (length, length + 1)
        assert_same(ours, decoder(held, "fairseq", beam=beam)([sentence])[0])
    assert len({len(translation.tokens) for translation in theirs}) > 8


def test_ctranslate2_holds_no_lengths(dice: System) -> None:
    held = replace(dice, lengths=Lengths([]))
    with pytest.raises(UserError, match="holds no sentence of a batch to a length of its own"):
        decoder(held, "ctranslate2")


@pytest.mark.parametrize("where", ["everywhere", "one sentence"])
@pytest.mark.parametrize("engine", ["fairseq", "fastdecode"])
@pytest.mark.parametrize("beam", [1, 4])
def test_a_model_of_no_numbers_is_one_line(beam: int, engine: str, where: str) -> None:
    size = Architecture(16, 32, 2, 2, 2)
    apart = {"share_all_embeddings": False, "share_decoder_input_output_embed": True}
    system = untrained_system(size, 20, **apart)
    encoder = system.models[0].encoder
    broken = encoder.layers[0].fc1 if where == "everywhere" else encoder.embed_tokens
    with torch.no_grad():
        broken.weight[system.source.index("w3")] = float("nan")
    decode = decoder(system, engine, beam=beam)
    with pytest.raises(UserError, match="the scores of this model are no finite numbers"):
        decode([["w1", "w2", "w5"], ["w4"], ["w3", "w6"]])
    if where == "one sentence":
        assert [len(decode([[word]])) for word in ("w1", "w4")] == [1, 1]


@pytest.mark.parametrize("beam", [1, 5])
def test_a_batch_is_its_sentences_one_by_one(dice: System, ragged: Sentences, beam: int) -> None:
    decode = decoder(dice, beam=beam)  # with limits that follow the sources
    for sentence, batched in zip(ragged, decode(ragged), strict=True):
        assert_same(decode([sentence])[0], batched)


@pytest.mark.parametrize("layers", [(2, 2), (3, 1)])
@pytest.mark.parametrize("prenorm", [False, True])
def test_single_precision_differs_in_the_last_digits_only(
    layers: tuple[int, int], prenorm: bool
) -> None:
    size = Architecture(32, 64, 4, *layers, prenorm=prenorm)
    system = untrained_system(size, 60)
    sentences = [[f"w{n}" for n in range(start, start + 5)] for start in range(8)]
    for beam in (1, 5):
        pairs = zip(
            decoder(system, beam=beam, **LIMIT)(sentences),
            decoder(system, "fairseq", beam=beam, **LIMIT)(sentences),
            strict=True,
        )
        for ours, theirs in pairs:
            assert ours.score == pytest.approx(theirs.score, abs=1e-5)


@pytest.mark.parametrize("engine", ["fairseq", "fastdecode"])
@pytest.mark.parametrize("beam", [1, 4])
def test_the_last_position_is_an_ends(beam: int, engine: str) -> None:
    system = untrained_system(Architecture(8, 12, 2, 1, 1), 20, max_target_positions=8)
    settings = {"beam": beam, "max_len_a": 9.0}
    translations = decoder(system, engine, min_len=7, **settings)([["w1", "w2"], ["w3"]])
    assert [len(translation.tokens) for translation in translations] == [7, 7]
    with pytest.raises(UserError, match="this system writes 7 tokens at most"):
        decoder(system, engine, min_len=8, **settings)([["w1"]])


def test_the_limit_on_length_is_the_sentences_own(dice: System) -> None:
    eos = dice.models[0].decoder.output_projection.bias
    endless = replace(dice, _shared={})  # whose weights are laid out when they are as below
    with torch.no_grad():
        eos[dice.target.eos()] -= 50.0
        for beam in (1, 3):
            decode = decoder(endless, beam=beam, max_len_a=2.0, max_len_b=3)
            translations = decode([["one"] * size for size in (1, 4, 7)])
            assert [len(t.tokens) for t in translations] == [2 * (n + 1) + 3 for n in (1, 4, 7)]
        eos[dice.target.eos()] += 50.0


def test_the_stages_of_a_batch_are_its_time(dice: System, ragged: Sentences) -> None:
    decode = decoder(dice)
    start = time.perf_counter()
    translations = decode(ragged)
    elapsed = time.perf_counter() - start
    assert all(t.stages.keys() == {"search", "encode", "decode", "finish"} for t in translations)
    assert sum(sum(t.stages.values()) for t in translations) == pytest.approx(elapsed, rel=0.2)


def test_a_pass_reads_the_decoder_and_the_projection() -> None:
    size = Architecture(16, 32, 2, encoder_layers=3, decoder_layers=2)
    system = untrained_system(size, 100)
    attention, biases = 16 * 16, 16
    own = 4 * attention + 4 * biases
    source = 2 * attention + 2 * biases  # without keys and values
    feed_forward = 2 * 16 * 32 + 32 + 16
    layer = own + source + feed_forward + 3 * 2 * 16
    for engine in ("fairseq", "fastdecode"):
        assert decoder(system, engine).bytes_per_pass == 4 * (2 * layer + 100 * 16)


def test_an_ensemble_is_fairseqs(dice: System) -> None:
    with pytest.raises(UserError, match="engine fastdecode decodes one model, and these are 2"):
        decoder(replace(dice, models=dice.models * 2))
