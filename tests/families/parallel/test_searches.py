"""Mask-Predict and CTC against fairseq's generator, naive twins, and the model asked directly."""

from itertools import groupby
from typing import Any

import pytest
import torch
from fairseq.iterative_refinement_generator import IterativeRefinementGenerator
from torch import Tensor

from fastdecode.config.models import Architecture
from fastdecode.errors import UserError
from fastdecode.families.parallel.naive import Answer, naive_mask_predict, naive_prefix_search
from fastdecode.families.parallel.searches import LengthsTried
from fastdecode.families.parallel.slots import source_slots
from fastdecode.framing import FRAME, blank_slots, frame_sources
from fastdecode.measure.untrained import untrained_system
from fastdecode.stages import Stopwatch
from fastdecode.system import Decoder, System
from tests.families.parallel.conftest import untrained

Sentences = list[list[str]]
BOS, PAD, EOS, UNK = range(4)
SEARCHES: dict[str, dict[str, Any]] = {
    "nat": {"length_beam": 3},
    "glat": {"length_beam": 3},
    "cmlm": {"search": "mask-predict", "iterations": 4, "length_beam": 3},
    "ctc": {"search": "ctc"},
    "ctc, beam": {"search": "ctc", "beam": 4},
}


def system_of(search: str) -> System:
    return untrained(search.partition(",")[0])


def decoder(system: System, **settings: Any) -> Decoder:
    return system.decoder("parallel", settings, " ".join)


def logits(system: System, source: list[str], slots: Tensor) -> Tensor:
    """Ask the model about one sentence: (T, V)."""
    (model,) = system.models
    with torch.no_grad():
        encoded = model.encoder(frame_sources([source], system.source))
        answer: Tensor = model.decoder(
            normalize=False, encoder_out=encoded, prev_output_tokens=slots
        )
    return answer[0]


@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize("engine", ["eager", "fastdecode"])
def test_a_batch_is_its_sentences_one_by_one(kind: str, engine: str, ragged: Sentences) -> None:
    decode = decoder(system_of(kind), **SEARCHES[kind], engine=engine)
    together = decode(ragged)
    assert len({len(translation.tokens) for translation in together}) > 3
    for sentence, batched in zip(ragged, together, strict=True):
        (alone,) = decode([sentence])
        assert (alone.tokens, alone.passes) == (batched.tokens, batched.passes)
        assert alone.score == pytest.approx(batched.score, abs=1e-5)


@pytest.mark.parametrize("kind", SEARCHES)
def test_both_engines_write_the_same(kind: str, ragged: Sentences) -> None:
    system = system_of(kind)
    slow, fast = (
        decoder(system, **SEARCHES[kind], engine=engine)(ragged)
        for engine in ("eager", "fastdecode")
    )
    for one, other in zip(slow, fast, strict=True):
        assert (one.tokens, one.passes) == (other.tokens, other.passes)
        assert one.score == pytest.approx(other.score, abs=1e-5)


def test_the_longest_source_is_read_by_both_engines() -> None:
    for kind in ("nat", "ctc"):
        system = untrained(kind, max_source_positions=30)
        system.models[0].decoder.max_target_positions = 62
        sentence = [["w1", "w2", "w3"] * 10][0][: system.longest]
        slow, fast = (
            decoder(system, search="ctc" if kind == "ctc" else "argmax", engine=engine)([sentence])
            for engine in ("eager", "fastdecode")
        )
        assert slow[0].tokens == fast[0].tokens


# Mask-Predict


def banning(system: System) -> System:
    """Let the model never predict the frame or padding, as our search does."""
    decoder = system.models[0].decoder
    layer = decoder.output_layer

    def output_layer(features: Tensor) -> Tensor:
        scores: Tensor = layer(features)
        scores[..., [BOS, PAD, EOS]] = float("-inf")
        return scores

    decoder.output_layer = output_layer
    return system


@pytest.mark.parametrize("iterations", [1, 2, 3, 4, 8])  # of 5 and 10, fairseq rounds parts off
def test_mask_predict_says_what_fairseqs_generator_says(ragged: Sentences, iterations: int) -> None:
    system = banning(untrained("cmlm"))
    generator = IterativeRefinementGenerator(
        system.target, max_iter=iterations - 1, beam_size=1, adaptive=False
    )
    settings = {"search": "mask-predict", "iterations": iterations}
    for batch in (ragged, ragged[:1]):
        tokens = frame_sources(batch, system.source)
        net_input = {"src_tokens": tokens, "src_lengths": (tokens != PAD).sum(1)}
        with torch.inference_mode():
            expected = generator.generate(system.models, {"net_input": net_input})
        for translation, (best,) in zip(decoder(system, **settings)(batch), expected, strict=True):
            ids = best["tokens"].tolist()
            assert translation.tokens == [system.target[i] for i in ids[1:-1]]
            assert translation.passes == iterations
            # fairseq counts the frame, at probability 1
            score = float(best["score"]) * len(ids) / max(len(ids) - 2, 1)
            assert translation.score == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("iterations", [1, 4, 7])
def test_mask_predict_does_what_its_naive_twin_does(ragged: Sentences, iterations: int) -> None:
    system = untrained("cmlm")
    (model,) = system.models
    settings = {"search": "mask-predict", "iterations": iterations, "length_beam": 3}
    ragged = ragged[:16]
    translations = decoder(system, **settings)(ragged)
    assert any("<unk>" in t.tokens for t in decoder(system, **settings | {"iterations": 1})(ragged))
    for source, translation in zip(ragged, translations, strict=True):
        with torch.inference_mode():
            encoded = model.encoder(frame_sources([source], system.source))
            scores = model.decoder.forward_length(normalize=True, encoder_out=encoded)
        predicted = len(source) + int(scores.argmax()) - 128

        def fill(words: list[str | None], source: list[str] = source) -> Answer:
            slots = blank_slots(torch.tensor([len(words) + 2]), system.target)
            for slot, word in enumerate(words, 1):
                if word is not None:
                    slots[0, slot] = system.target.index(word)
            scores = logits(system, source, slots)[1:-1]
            scores[:, [BOS, PAD, EOS]] = float("-inf")
            best = scores.log_softmax(-1).max(-1)
            chosen = [system.target[i] for i in best.indices.tolist()]
            return list(zip(chosen, best.values.tolist(), strict=True))

        lengths = [max(1, max(1, predicted) + around) for around in (-1, 0, 1)]
        tried = [naive_mask_predict(fill, length, iterations, "<unk>") for length in lengths]
        words, score = max(tried, key=lambda found: found[1])
        assert translation.tokens == words
        assert translation.score == pytest.approx(score, abs=1e-5)


class Predicts:
    """A network that predicts lengths, and is sure of nothing but the frame."""

    def __init__(self, lengths: list[int]):
        self._lengths = torch.tensor(lengths) + FRAME

    def lengths(self, encoded: Any) -> Tensor:
        return self._lengths


@pytest.mark.parametrize(
    ("predicted", "tried"),
    [
        (0, [1, 1, 1, 2, 3]),
        (1, [1, 1, 1, 2, 3]),
        (2, [1, 1, 2, 3, 4]),
        (9, [7, 8, 9, 10, 11]),
        (11, [9, 10, 11, 12, 12]),
    ],
)
def test_a_word_at_least_is_tried(predicted: int, tried: list[int]) -> None:
    network: Any = Predicts([predicted, 5])
    found = LengthsTried(network, tried=5, most=12 + FRAME)(None)
    assert (found - FRAME).tolist() == [tried, [3, 4, 5, 6, 7]]


# CTC


@pytest.mark.parametrize("upsample", [2, 3])
def test_ctc_reads_each_slots_likeliest_label(ragged: Sentences, upsample: int) -> None:
    system = untrained("ctc", upsample=upsample)
    translations = decoder(system, search="ctc")(ragged)
    blanks = repeats = 0
    for source, translation in zip(ragged, translations, strict=True):
        slots = source_slots(frame_sources([source], system.source), upsample, system.target)
        assert slots.tolist() == [[UNK] * (upsample * (len(source) + 2))]
        scores = logits(system, source, slots)
        scores[:, [PAD, EOS]] = float("-inf")
        best = scores.log_softmax(-1).max(-1)
        labels = best.indices.tolist()
        blanks, repeats = blanks + labels.count(BOS), repeats + len(labels)
        read = [label for label, _ in groupby(labels) if label != BOS]
        repeats -= len(read) + labels.count(BOS)
        assert translation.tokens == [system.target[i] for i in read]
        assert translation.score == pytest.approx(float(best.values.mean()), abs=1e-5)
        assert translation.passes == 1
    assert blanks and repeats


def test_ctcs_beam_does_what_its_naive_twin_does(ragged: Sentences) -> None:
    system = untrained("ctc")
    decode = system.decoder("parallel", SEARCHES["ctc, beam"], " ".join, Stopwatch())
    translations = decode(ragged)
    for source, translation in zip(ragged, translations, strict=True):
        slots = source_slots(frame_sources([source], system.source), 2, system.target)
        scores = logits(system, source, slots)
        scores[:, [PAD, EOS]] = float("-inf")
        ids, score = naive_prefix_search(scores.log_softmax(-1).tolist(), BOS, 4)
        assert translation.tokens == [system.target[i] for i in ids]
        assert translation.score == pytest.approx(score / slots.shape[1], abs=1e-5)
        assert translation.stages.keys() == {"encode", "decode", "search", "finish"}
    narrow, likeliest = decoder(system, search="ctc", beam=1), decoder(system, search="ctc")
    for other in (narrow, likeliest):
        assert [t.tokens for t in other(ragged)] != [t.tokens for t in translations]


@pytest.mark.parametrize(
    ("kind", "search", "message"),
    [
        ("cmlm", "argmax", "CMLMNATransformerModel decodes by search: mask-predict, not by argmax"),
        ("ctc", "mask-predict", "CtcModel decodes by search: ctc, not by mask-predict"),
        ("glat", "ctc", "GlatModel decodes by search: argmax, not by ctc"),
    ],
)
def test_a_search_that_was_not_learned_is_refused(kind: str, search: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        decoder(untrained(kind), search=search)


def test_a_model_of_another_family_is_refused() -> None:
    with pytest.raises(UserError, match="TransformerModel fills no slots"):
        decoder(untrained_system(Architecture(8, 12, 2, 1, 1), 30), search="ctc")
