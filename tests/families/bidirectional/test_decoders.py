"""Both engines against the naive twin, token by token, and what comes with a translation."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from fairseq.sequence_generator import SequenceGenerator

from fastdecode.config.models import Architecture
from fastdecode.errors import UserError
from fastdecode.families.bidirectional import decoders
from fastdecode.families.bidirectional.folding import Order
from fastdecode.families.bidirectional.naive import translate
from fastdecode.limits import Lengths
from fastdecode.measure.untrained import untrained_system
from fastdecode.stages import Stopwatch
from fastdecode.stepping import Rules
from fastdecode.system import Decoder, System
from fastdecode.translation import Translation
from tests.families.bidirectional.conftest import ORDERS, untrained

Sentences = list[list[str]]
ENGINES = ("eager", "fastdecode")

pytestmark = pytest.mark.usefixtures("fairseq_in_full_precision")


def decoder(system: System, engine: str = "fastdecode", **settings: Any) -> Decoder:
    return system.decoder("bidirectional", {"engine": engine, **settings}, " ".join)


def naive(system: System, sentence: list[str], **settings: Any) -> Translation:
    """The naive twin's translation, of at most as many tokens as a decoder's by default."""
    (model,) = system.models
    row = {"beam": 5, "lenpen": 1.0, "min_len": 1} | settings
    rules = Rules(size=model.fold.size, eos=2, pad=1, **row)
    source = [*map(system.source.index, sentence), system.source.eos()]
    ids, score, passes = translate(model, source, rules, int(1.2 * len(source) + 10))
    tokens = [system.target[i] for i in ids]
    return Translation(" ".join(tokens), tokens, score, passes)


def assert_same(ours: Translation, theirs: Translation) -> None:
    assert (ours.tokens, ours.text, ours.passes) == (theirs.tokens, theirs.text, theirs.passes)
    assert ours.score == pytest.approx(theirs.score, abs=1e-9)


def test_the_reference_tier_takes_no_shorter_way_for_one_hypothesis(
    ragged: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the reference tier took the shorter way")

    monkeypatch.setattr(decoders, "Greedy", never)
    decoder(untrained(), "eager", beam=1)(ragged[:2])
    with pytest.raises(AssertionError):
        decoder(untrained(), "fastdecode", beam=1)(ragged[:2])


@pytest.mark.parametrize("beam", [1, 2, 3, 5, 10, 16])
@pytest.mark.parametrize("order", ORDERS)
def test_they_write_what_the_naive_twin_writes(order: Order, beam: int, ragged: Sentences) -> None:
    system = untrained(order)
    sentences = ragged[: 20 if beam < 10 else 5]
    settings: dict[str, Any] = {"beam": beam, "min_len": 2, "lenpen": 1.4 if beam == 3 else 1.0}
    expected = [naive(system, sentence, **settings) for sentence in sentences]
    for engine in ENGINES:
        translations = decoder(system, engine, **settings)(sentences)
        for ours, theirs in zip(translations, expected, strict=True):
            assert_same(ours, theirs)
    assert len({len(translation.tokens) for translation in expected}) > 2


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("order", ["bidirectional", "r2l"])
def test_lengths_are_held_sentence_by_sentence(order: Order, beam: int, ragged: Sentences) -> None:
    system = untrained(order)
    (model,) = system.models
    asked = [1 + 5 * number % 12 for number in range(len(ragged))]
    held = replace(system, lengths=Lengths(zip(ragged, asked, strict=True)))
    batches = [decoder(held, engine, beam=beam)(ragged) for engine in ENGINES]
    for ours, fast, sentence in zip(*batches, ragged, strict=True):
        assert_same(fast, ours)
        length = held.lengths[sentence]  # type: ignore[index]
        rules = Rules(beam, 1.0, min_len=1, eos=2, pad=1, exact=True, size=model.fold.size)
        source = [*map(system.source.index, sentence), system.source.eos()]
        ids, score, passes = translate(model, source, rules, length)
        assert (len(ours.tokens), ours.passes) == (length, length // model.fold.size + 1)
        assert ours.tokens == [system.target[i] for i in ids] and ours.passes == passes
        assert ours.score == pytest.approx(score, abs=1e-9)
    assert len(set(asked)) > 8


@pytest.mark.parametrize("where", ["everywhere", "one sentence"])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("order", ["bidirectional", "r2l"])
def test_a_model_of_no_numbers_is_one_line(
    order: Order, beam: int, engine: str, where: str
) -> None:
    apart = {"share_all_embeddings": False, "share_decoder_input_output_embed": True}
    system = untrained(order, **apart)
    encoder = system.models[0].encoder
    broken = encoder.layers[0].fc1 if where == "everywhere" else encoder.embed_tokens
    with torch.no_grad():
        broken.weight[system.source.index("w3")] = float("nan")
    decode = decoder(system, engine, beam=beam)
    with pytest.raises(UserError, match="the scores of this model are no finite numbers"):
        decode([["w1", "w2", "w5"], ["w4"], ["w3", "w6"]])
    if where == "one sentence":
        assert [len(decode([[word]])) for word in ("w1", "w4")] == [1, 1]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("beam", [1, 5])
def test_a_batch_is_its_sentences_one_by_one(beam: int, engine: str, ragged: Sentences) -> None:
    decode = decoder(untrained(), engine, beam=beam)
    for sentence, batched in zip(ragged, decode(ragged), strict=True):
        assert_same(decode([sentence])[0], batched)


@pytest.mark.parametrize("beam", [2, 5])
def test_single_tokens_are_found_as_fairseq_finds_them(beam: int, ragged: Sentences) -> None:
    system = untrained("r2l")
    fairseqs = SequenceGenerator(
        system.models, system.target, beam_size=beam, max_len_a=0, max_len_b=12
    )
    decode = decoder(system, beam=beam, max_len_a=0, max_len_b=12)
    for sentence, ours in zip(ragged, decode(ragged), strict=True):
        source = torch.tensor([[*map(system.source.index, sentence), system.source.eos()]])
        lengths = torch.tensor([source.shape[1]])
        sample = {"net_input": {"src_tokens": source, "src_lengths": lengths}}
        ((best, *others),) = fairseqs.generate([], sample)
        tokens = [system.target[i] for i in best["tokens"].tolist()[-2::-1]]
        passes = max(len(found["tokens"]) for found in (best, *others))
        assert (ours.tokens, ours.passes) == (tokens, passes)
        assert ours.score == pytest.approx(float(best["score"]), abs=2e-6)  # added up in fp32


def test_a_pass_writes_two_tokens(ragged: Sentences) -> None:
    for order in ORDERS:
        size = 1 if order == "r2l" else 2
        for translation in decoder(untrained(order), beam=1)(ragged):
            assert translation.passes == len(translation.tokens) // size + 1


@pytest.mark.parametrize("order", ["bidirectional", "r2l"])
def test_the_limit_on_length_is_the_sentences_own(order: Order) -> None:
    system = untrained(order)
    with torch.no_grad():
        system.models[0].decoder.output_projection.bias[system.target.eos()] = -50.0
    for engine in ENGINES:
        for beam in (1, 3):
            decode = decoder(system, engine, beam=beam, max_len_a=2.0, max_len_b=3)
            translations = decode([["w1"] * size for size in (1, 4, 7)])
            assert [len(t.tokens) for t in translations] == [2 * (n + 1) + 3 for n in (1, 4, 7)]


@pytest.mark.parametrize("order", ["bidirectional", "r2l"])
@pytest.mark.parametrize(("positions", "most"), [(8, (7, 7)), (9, (7, 8))])
def test_the_last_position_is_an_ends(order: Order, positions: int, most: tuple[int, int]) -> None:
    """A pair takes two positions, so that of nine one stays empty."""
    system = untrained(order)
    system.models[0].decoder.max_target_positions = positions
    with torch.no_grad():
        system.models[0].decoder.output_projection.bias[system.target.eos()] = -50.0
    for engine in ENGINES:
        (translation,) = decoder(system, engine, beam=2)([["w1", "w2"]])
        assert len(translation.tokens) == most[order == "r2l"]


def test_the_start_is_the_models(ragged: Sentences) -> None:
    system = untrained(start="bos-bos")
    for sentence, ours in zip(ragged, decoder(system)(ragged), strict=True):
        assert_same(ours, naive(system, sentence))
    other = decoder(untrained())(ragged)
    assert [t.score for t in other] != [t.score for t in decoder(system)(ragged)]


def test_text_stages_and_weights(ragged: Sentences) -> None:
    system = untrained()
    attention, feed_forward, norms = 4 * (8 * 8 + 8), 2 * 8 * 12 + 12 + 8, 3 * 2 * 8
    layer = 2 * attention - 2 * (8 * 8 + 8) + feed_forward + norms  # without the source's keys
    for engine in ENGINES:
        decode = system.decoder("bidirectional", {"engine": engine}, "+".join, Stopwatch())
        translations = decode(ragged)
        assert all(t.text == "+".join(t.tokens) for t in translations)
        assert all(
            t.stages.keys() == {"encode", "decode", "search", "finish"} for t in translations
        )
        assert all(time > 0 for t in translations for time in t.stages.values())
        assert decode.bytes_per_pass == 8 * (2 * layer + 20 * 8)  # in fp64


def test_what_does_not_fit_is_refused() -> None:
    system = untrained()
    with pytest.raises(UserError, match="one model, and these are 2"):
        decoder(replace(system, models=system.models * 2))
    other = untrained_system(Architecture(8, 12, 2, 1, 1), 30)
    with pytest.raises(UserError, match="TransformerModel writes no groups"):
        decoder(other)
    (model,) = system.models
    model.decoder.layers[0].attn_ln = torch.nn.LayerNorm(8)
    with pytest.raises(UserError, match="the fast path knows no attn_ln"):
        decoder(system)
