"""One pass against fairseq's generator, against itself, and against the model asked directly."""

from copy import deepcopy
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any

import pytest
import torch
from fairseq.iterative_refinement_generator import IterativeRefinementGenerator
from torch import Tensor

from fastdecode.config.models import Architecture
from fastdecode.errors import UserError
from fastdecode.framing import blank_slots, frame_sources
from fastdecode.measure.untrained import untrained_system
from fastdecode.stages import Stopwatch
from fastdecode.system import Decoder, System
from tests.families.parallel.conftest import untrained

Sentences = list[list[str]]
BOS, PAD, EOS, UNK = range(4)


def decoder(system: System, **settings: Any) -> Decoder:
    return system.decoder("parallel", settings, " ".join)


def generated(system: System, sources: Sentences, beam: int) -> list[tuple[list[str], float]]:
    """Let fairseq decode a batch; return words and scores."""
    generator = IterativeRefinementGenerator(system.target, max_iter=0, beam_size=beam)
    tokens = frame_sources(sources, system.source)
    net_input = {"src_tokens": tokens, "src_lengths": (tokens != PAD).sum(1)}
    hypotheses = generator.generate(system.models, {"net_input": net_input})
    return [
        (
            [system.target[i] for i in best["tokens"].tolist() if i not in (BOS, PAD, EOS)],
            float(best["score"]),
        )
        for (best,) in hypotheses
    ]


def logits(system: System, source: list[str], slots: int) -> Tensor:
    """Ask the model about one sentence whose translation has `slots` with the frame: (T, V)."""
    (model,) = system.models
    framed = frame_sources([source], system.source)
    blank = blank_slots(torch.tensor([slots]), system.target)
    with torch.inference_mode():
        answer: Tensor = model.decoder(
            normalize=False, encoder_out=model.encoder(framed), prev_output_tokens=blank
        )
    return answer[0]


@pytest.mark.parametrize("beam", [1, 2, 5])
@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("offset", [True, False])
def test_it_says_what_fairseqs_generator_says(
    ragged: Sentences, beam: int, copy: bool, offset: bool
) -> None:
    system = untrained("nat", src_embedding_copy=copy, pred_length_offset=offset)
    if not offset:  # then the classes are lengths
        with torch.no_grad():
            system.models[0].decoder.embed_length.weight[:9].normal_()
    for batch in (ragged, ragged[:1], ragged[5:8]):
        expected = generated(system, batch, beam)
        translations = decoder(system, length_beam=beam)(batch)
        assert [t.tokens for t in translations] == [tokens for tokens, _ in expected]
        for translation, (_, score) in zip(translations, expected, strict=True):
            assert translation.score == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("beam", [1, 5])
def test_a_batch_is_its_sentences_one_by_one(dice: System, ragged: Sentences, beam: int) -> None:
    decode = decoder(dice, length_beam=beam)
    together = decode(ragged)
    assert len({len(translation.tokens) for translation in together}) > 3
    assert len({" ".join(translation.tokens) for translation in together}) > 20
    for sentence, batched in zip(ragged, together, strict=True):
        (alone,) = decode([sentence])
        assert (alone.tokens, alone.passes, alone.text) == (
            batched.tokens,
            batched.passes,
            batched.text,
        )
        assert alone.score == pytest.approx(batched.score, abs=1e-5)


@pytest.mark.parametrize("engine", ["eager", "fastdecode"])
@pytest.mark.parametrize("kind", ["glat", "ctc"])
@pytest.mark.parametrize("copies", [{"soft_copy": True}, {"src_embedding_copy": False}])
def test_a_batch_of_other_copies_is_its_sentences_one_by_one(
    copies: dict[str, bool], kind: str, engine: str, ragged: Sentences
) -> None:
    search = {"search": "ctc"} if kind == "ctc" else {"length_beam": 3}
    decode = decoder(untrained(kind, **copies), engine=engine, **search)
    together = decode(ragged)
    assert len({" ".join(translation.tokens) for translation in together}) > 10
    for sentence, batched in zip(ragged, together, strict=True):
        assert decode([sentence])[0].tokens == batched.tokens


def test_every_slot_has_its_likeliest_word(dice: System, ragged: Sentences) -> None:
    differences = set()
    (model,) = dice.models
    for sentence in ragged:
        with torch.inference_mode():
            encoded = model.encoder(frame_sources([sentence], dice.source))
            scores = model.decoder.forward_length(normalize=True, encoder_out=encoded)
        difference = int(scores.argmax()) - 128
        differences.add(difference)
        log = logits(dice, sentence, max(2, len(sentence) + 2 + difference)).log_softmax(-1)
        words = [i for i in log.argmax(-1).tolist() if i not in (BOS, PAD, EOS)]
        (translation,) = decoder(dice)([sentence])
        assert translation.tokens == [dice.target[i] for i in words]
        assert translation.passes == 1
    assert len(differences) > 1


def test_of_several_lengths_the_likeliest_translation_wins(dice: System, ragged: Sentences) -> None:
    one, five = decoder(dice)(ragged), decoder(dice, length_beam=5)(ragged)
    assert all(a.score <= b.score + 1e-6 for a, b in zip(one, five, strict=True))  # type: ignore[operator]
    assert any(a.tokens != b.tokens for a, b in zip(one, five, strict=True))


def test_merging_keeps_one_of_equal_neighbours(dice: System, ragged: Sentences) -> None:
    plain, merged = decoder(dice)(ragged), decoder(dice, merge=True)(ragged)
    assert any(a == b for t in plain for a, b in pairwise(t.tokens))
    for before, after in zip(plain, merged, strict=True):
        assert after.tokens == [token for token, _ in groupby(before.tokens)]
        assert after.score == before.score


def test_lengths_stay_within_what_the_model_knows(dice: System) -> None:
    (model,) = dice.models
    lengths = model.decoder.embed_length.weight
    slots = []

    def recorded(_module: Any, _args: Any, named: dict[str, Any]) -> None:
        slots.append(named["prev_output_tokens"].shape[1])

    model.decoder.register_forward_pre_hook(recorded, with_kwargs=True)
    with torch.no_grad():
        for chosen, source, expected in ((255, 1000, 1024), (0, 5, 3)):
            lengths.zero_()
            encoded = model.encoder(frame_sources([["w1"] * source], dice.source))
            lengths[chosen] = encoded["encoder_out"][0].mean((0, 1))  # its own mean: positive
            decoder(dice)([["w1"] * source])
            assert slots.pop() == expected


def test_slots_are_framed_as_sources_are(dice: System) -> None:
    assert frame_sources([["w0", "w2"], ["w1"]], dice.source).tolist() == [
        [BOS, 4, 6, EOS],
        [BOS, 5, EOS, PAD],
    ]
    assert blank_slots(torch.tensor([4, 2, 3]), dice.target).tolist() == [
        [BOS, UNK, UNK, EOS],
        [BOS, EOS, PAD, PAD],
        [BOS, UNK, EOS, PAD],
    ]


def test_text_stages_and_weights(dice: System, ragged: Sentences) -> None:
    decode = dice.decoder("parallel", {}, "+".join, Stopwatch())
    translations = decode(ragged)
    assert all(t.text == "+".join(t.tokens) for t in translations)
    stages = ["encode", "length", "decode", "finish"]
    assert all(list(t.stages) == stages for t in translations)
    assert all(time > 0 for t in translations for time in t.stages.values())
    attention, feed_forward, norms = 4 * (8 * 8 + 8), 2 * 8 * 12 + 12 + 8, 3 * 2 * 8
    once = 2 * (8 * 8 + 8)  # the source's keys and values
    layer = 2 * attention - once + feed_forward + norms
    assert decode.bytes_per_pass == 8 * (2 * layer + 30 * 8)  # in fp64
    assert decode.serial_layers == (len(dice.models[0].encoder.layers), 2)


@pytest.mark.parametrize("engine", ["eager", "fastdecode"])
def test_a_model_of_no_numbers_is_one_line(dice: System, ragged: Sentences, engine: str) -> None:
    model = deepcopy(dice.models[0])
    with torch.no_grad():
        model.decoder.layers[0].fc1.weight[3] = float("nan")
    broken = replace(dice, models=[model], _shared={})
    with pytest.raises(UserError, match="the scores of this model are no finite numbers"):
        decoder(broken, engine=engine)(ragged)


def test_what_does_not_fit_is_refused(dice: System) -> None:
    two = System(dice.models * 2, dice.source, dice.target)
    with pytest.raises(UserError, match="one model, and these are 2"):
        decoder(two)
    other = untrained_system(Architecture(8, 12, 2, 1, 1), 30)
    with pytest.raises(UserError, match="TransformerModel fills no slots"):
        decoder(other)
