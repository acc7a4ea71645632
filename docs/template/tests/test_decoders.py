"""Both engines against the naive twin, and what comes with a translation."""

from dataclasses import replace

import pytest
import torch

from fastdecode.config.models import Architecture
from fastdecode.errors import UserError
from fastdecode.families.template.naive import translate
from fastdecode.limits import Lengths
from fastdecode.measure.untrained import untrained_system
from fastdecode.stages import Stopwatch
from fastdecode.system import Decoder, System
from fastdecode.translation import Translation
from tests.families.template.conftest import untrained

Sentences = list[list[str]]
ENGINES = ("eager", "fastdecode")


def decoder(system: System, engine: str, **settings: float) -> Decoder:
    return system.decoder("template", {"engine": engine, **settings}, " ".join, Stopwatch())


def assert_naive(system: System, sentence: list[str], ours: Translation, *limits: int) -> None:
    """`ours` is what the naive twin writes with at least and at most so many words."""
    (model,) = system.models
    source = [*map(system.source.index, sentence), system.source.eos()]
    ids, score = translate(model, source, *limits)
    assert ours.tokens == [system.target[i] for i in ids]
    assert ours.score == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_batch_is_what_the_naive_twin_writes(engine: str, ragged: Sentences) -> None:
    system = untrained()
    translations = decoder(system, engine, max_len_a=1.0, max_len_b=3, min_len=2)(ragged)
    most = [len(sentence) + 4 for sentence in ragged]
    for sentence, ours, limit in zip(ragged, translations, most, strict=True):
        assert_naive(system, sentence, ours, 2, limit)
    lengths = [len(translation.tokens) for translation in translations]
    assert sum(2 < n < limit for n, limit in zip(lengths, most, strict=True)) > 2  # by themselves


@pytest.mark.parametrize("engine", ENGINES)
def test_lengths_are_held_sentence_by_sentence(engine: str, ragged: Sentences) -> None:
    system = untrained()
    asked = [1 + 5 * number % 12 for number in range(len(ragged))]
    held = replace(system, lengths=Lengths(zip(ragged, asked, strict=True)))
    for sentence, ours in zip(ragged, decoder(held, engine)(ragged), strict=True):
        length = held.lengths[sentence]  # type: ignore[index]
        assert_naive(system, sentence, ours, length, length)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_comes_with_a_translation(engine: str, ragged: Sentences) -> None:
    system = untrained()
    decode = decoder(system, engine)
    for translation in decode(ragged):
        assert translation.text == " ".join(translation.tokens)
        # of this model: one of several passes, or without a search, has others
        assert translation.passes == 1
        assert translation.stages.keys() == {"encode", "decode", "search", "finish"}
    assert decode.bytes_per_pass > 8 * 20 * 8  # more than the output projection
    (model,) = system.models
    assert decode.serial_layers == (len(model.encoder.layers), len(model.decoder.layers))


def test_what_does_not_fit_is_refused() -> None:
    system = untrained()
    with pytest.raises(UserError, match="one model, and these are 2"):
        decoder(replace(system, models=system.models * 2), "eager")
    with pytest.raises(UserError, match="TransformerModel fills no blanks"):
        decoder(untrained_system(Architecture(8, 12, 2, 1, 1), 30), "eager")
    system.models[0].decoder.layers[0].attn_ln = torch.nn.LayerNorm(8)
    with pytest.raises(UserError, match="the fast path knows no attn_ln"):
        decoder(system, "fastdecode")
