"""The whole of decoding: engines against each other, batches against their sentences."""

import warnings
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

from fastdecode.config.models import Architecture
from fastdecode.errors import UserError
from fastdecode.families.dag import beam, compiled, decoders
from fastdecode.families.dag.rows import LANGUAGE_MODEL
from fastdecode.families.dag.rows import Decoder as Row
from fastdecode.families.dag.vertices import Vertices
from fastdecode.framing import blank_slots, frame_sources
from fastdecode.measure.untrained import untrained_system
from fastdecode.stages import Stopwatch
from fastdecode.system import Decoder, System
from fastdecode.train.draws import source_ids
from fastdecode.transformer import highest
from fastdecode.translation import Translation
from tests.families.dag.conftest import ARPA, EOS, PAD, UNK, untrained_graphs

Sentences = list[list[str]]
SEARCHES: list[dict[str, Any]] = [
    {"search": "greedy"},
    {"search": "lookahead"},
    {"search": "viterbi"},
    {"search": "beam", "beams": 20},
    {"search": "beam", "beams": 20, "lm_weight": 0.5},
    {"search": "sample"},
    {"search": "sample", "top_p": 1.0, "temperature": 0.6},
]


@pytest.fixture(scope="module", params=["softmax", "gated"])
def system(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> System:
    assets = tmp_path_factory.mktemp("assets")
    (assets / LANGUAGE_MODEL).write_text(ARPA)  # KenLM reads both kinds
    return replace(untrained_graphs(request.param), assets=assets)


def decoder(system: System, **settings: Any) -> Decoder:
    if system.assets and settings.get("lm_weight"):
        pytest.importorskip("kenlm")
    return system.decoder("dag", settings, " ".join)


def same(one: Translation, other: Translation) -> None:
    assert (one.tokens, one.text, one.passes) == (other.tokens, other.text, other.passes)
    assert one.score == pytest.approx(other.score, abs=1e-5)


@pytest.mark.parametrize("settings", SEARCHES)
def test_both_engines_write_the_same(
    system: System, ragged: Sentences, settings: dict[str, Any]
) -> None:
    fast = decoder(system, **settings, engine="fastdecode")
    for one, other in zip(decoder(system, **settings)(ragged), fast(ragged), strict=True):
        same(one, other)


def test_words_are_found_by_pytorch_in_the_reference_tier(
    system: System, ragged: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(highest, "np", None)
    decoder(system, engine="eager")(ragged[:2])
    with pytest.raises(AttributeError):
        decoder(system, engine="fastdecode")(ragged[:2])


@pytest.mark.parametrize("engine", ["eager", "fastdecode"])
@pytest.mark.parametrize("settings", SEARCHES)
def test_a_batch_is_its_sentences_one_by_one(
    system: System, ragged: Sentences, settings: dict[str, Any], engine: str
) -> None:
    decode = decoder(system, **settings, engine=engine)
    together = decode(ragged)
    for sentence, batched in zip(ragged, together, strict=True):
        same(decode([sentence])[0], batched)
    assert {translation.passes for translation in together} == {1}


def test_the_language_model_is_heard(system: System, ragged: Sentences) -> None:
    plain, heard = (
        decoder(system, search="beam", beams=20, lm_weight=weight)(ragged) for weight in (0.0, 2.0)
    )
    assert any(a.tokens != b.tokens for a, b in zip(plain, heard, strict=True))


def test_each_engine_has_its_beam_search(
    system: System, ragged: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    for engine, searches in (("eager", beam), ("fastdecode", compiled)):
        with monkeypatch.context() as patch:
            patch.setattr(searches, "best_hypotheses", lambda *_: [[([5], -1.0)]])
            (found,) = decoder(system, search="beam", engine=engine)(ragged[:1])
        assert found.tokens == [system.target[5]]


def test_a_row_says_how_wide_its_beam_is(
    system: System, ragged: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[beam.BeamSettings] = []
    search = beam.best_hypotheses

    def spied(graph: Any, count: int, settings: beam.BeamSettings, *more: Any) -> Any:
        seen.append(settings)
        return search(graph, count, settings, *more)

    monkeypatch.setattr(beam, "best_hypotheses", spied)
    wide = {"beams": 7, "beams_per_length": 3, "expansions": 2, "length_penalty": 1.5}
    decoder(system, search="beam", **wide)(ragged[:1])
    assert seen == [beam.BeamSettings(7, 3, 2, 1.5, 0.0)]


def test_lookahead_follows_the_model_itself(system: System, ragged: Sentences) -> None:
    """One sentence at a time, from the training model's own numbers."""
    (model,) = system.models
    for sentence, translation in zip(ragged, decoder(system)(ragged), strict=True):
        source = frame_sources([sentence], system.source)
        lengths = torch.tensor([source.shape[1]])
        sizes = model.decoder.sizes(lengths)
        assert int(sizes) == 2 * len(sentence) + 4
        with torch.inference_mode():
            blanks = blank_slots(sizes, system.target)
            logits, links = model.decoder(blanks, model.encoder(source, lengths), sizes)
        log = logits[0].log_softmax(-1)
        score, here, tokens = float(log[0, 0]), 0, []
        while here < int(sizes) - 1:
            inner = log.clone()
            inner[:, [0, PAD, EOS]] = -torch.inf
            best, words = inner.max(-1)
            best[-1], words[-1] = log[-1, EOS], EOS
            step = links[0, here] + best
            here = int(step.argmax())
            score += float(step[here])
            tokens.append(system.target[int(words[here])])
        assert translation.tokens == tokens[:-1]
        assert translation.score == pytest.approx(score, abs=1e-4)


def test_merging_keeps_one_of_equal_neighbours(system: System, ragged: Sentences) -> None:
    settings = {"search": "viterbi"}
    plain = decoder(system, **settings)(ragged)
    merged = decoder(system, **settings, merge=True)(ragged)
    assert any(a.tokens != b.tokens for a, b in zip(plain, merged, strict=True))
    for before, after in zip(plain, merged, strict=True):
        assert after.tokens == [token for token, _ in groupby(before.tokens)]


def test_samples_depend_on_their_seed(system: System, ragged: Sentences) -> None:
    settings = {"search": "sample", "top_p": 1.0, "temperature": 3.0}
    first, again = (decoder(system, **settings)(ragged) for _ in range(2))
    other = decoder(system, **settings, sample_seed=2)(ragged)
    assert [t.tokens for t in first] == [t.tokens for t in again]
    assert [t.tokens for t in first] != [t.tokens for t in other]


def test_every_sentence_has_draws_of_its_own(
    system: System, ragged: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[list[int], int]] = []
    draw = decoders.keyed_uniforms

    def spy(ids: Tensor, count: int, seed: int, update: int) -> Tensor:
        asked.append((ids.tolist(), seed))
        return draw(ids, count, seed, update)

    monkeypatch.setattr(decoders, "keyed_uniforms", spy)
    decoder(system, search="sample", sample_seed=7)(ragged)
    assert asked == [(source_ids(ragged).tolist(), 7)]
    assert len(set(asked[0][0])) == len(set(map(tuple, ragged)))


def test_the_nucleus_alone_is_of_few_tokens(
    system: System, ragged: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"search": "sample", "temperature": 3.0}
    before = [t.tokens for t in decoder(system, **settings, top_p=1.0)(ragged)]
    monkeypatch.setattr(decoders, "NUCLEUS", 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [t.tokens for t in decoder(system, **settings, top_p=1.0)(ragged)] == before
    with pytest.warns(UserWarning, match="have less than top_p"):
        decoder(system, **settings, top_p=0.99)(ragged)


def test_samples_are_of_the_nucleus(system: System, ragged: Sentences) -> None:
    """The smallest has one pair of vertex and token: that of lookahead."""
    ahead = decoder(system, search="lookahead")(ragged)
    drawn = decoder(system, search="sample", top_p=1e-6)(ragged)
    assert [t.tokens for t in drawn] == [t.tokens for t in ahead]


@pytest.mark.parametrize("engine", ["eager", "fastdecode"])
def test_a_best_path_has_at_most_two_vertices_for_each_of_the_source(
    ragged: Sentences, engine: str
) -> None:
    settings = {"search": "viterbi", "length_penalty": 9.0}  # the longer the better
    decode = decoder(untrained_graphs(graph_factor=4.0), **settings, engine=engine)
    for sentence, translation in zip(ragged, decode(ragged), strict=True):
        assert len(translation.tokens) + 2 == 2 * (len(sentence) + 2)  # `<s>` and `</s>` count


@pytest.mark.parametrize("engine", ["eager", "fastdecode"])
def test_a_beam_with_a_penalty_divides_by_its_power_of_the_length(
    ragged: Sentences, engine: str
) -> None:
    plain, favoured = (
        decoder(untrained_graphs(), search="beam", length_penalty=alpha, engine=engine)(ragged)
        for alpha in (1.0, 9.0)
    )
    lengths = [[len(one.tokens) for one in several] for several in (plain, favoured)]
    assert all(long >= short for short, long in zip(*lengths, strict=True))
    assert sum(lengths[1]) > sum(lengths[0])


@pytest.mark.parametrize("engine", ["eager", "fastdecode"])
@pytest.mark.parametrize("settings", SEARCHES)
def test_a_model_of_no_numbers_is_one_line(
    ragged: Sentences, settings: dict[str, Any], engine: str, tmp_path: Path
) -> None:
    (tmp_path / LANGUAGE_MODEL).write_text(ARPA)
    broken = replace(untrained_graphs(), assets=tmp_path)
    (model,) = broken.models
    with torch.no_grad():
        model.decoder.output_projection.weight[7] = float("nan")
    with pytest.raises(UserError, match="the scores of this model are no finite numbers"):
        decoder(broken, **settings, engine=engine)(ragged)


@pytest.mark.parametrize(
    ("links", "weights"),  # positions are an embedding
    [("softmax", 2 * 16 * 16), ("gated", 2 * (32 * 16 + 16) + 32 * 2 + 2)],
)
@pytest.mark.parametrize("engine", ["eager", "fastdecode"])
def test_text_stages_and_weights(ragged: Sentences, engine: str, links: str, weights: int) -> None:
    system = untrained_graphs(links)
    decode = system.decoder("dag", {"engine": engine}, "+".join, Stopwatch())
    translations = decode(ragged)
    assert all(t.text == "+".join(t.tokens) for t in translations)
    assert all(list(t.stages) == ["encode", "decode", "search", "finish"] for t in translations)
    attention, feed_forward, norms = 4 * (16 * 16 + 16), 2 * 16 * 24 + 24 + 16, 3 * 2 * 16
    once = 2 * (16 * 16 + 16)  # the source's keys and values
    layer = 2 * attention - once + feed_forward + norms
    assert decode.bytes_per_pass == 8 * (2 * layer + 30 * 16 + weights)  # in fp64
    (model,) = system.models
    assert decode.serial_layers == (len(model.encoder.layers), 2)


def test_only_a_beam_with_a_weight_needs_a_language_model() -> None:
    assert Row(search="beam", lm_weight=0.1).assets == ("lm", (LANGUAGE_MODEL,))
    assert Row(search="beam").assets is None
    assert Row(search="beam").assets is Row(search="lookahead").assets is None
    with pytest.raises(UserError, match="needs its language model"):
        decoder(untrained_graphs(), search="beam", lm_weight=0.1)


def test_tiers_and_twins() -> None:
    slow, fast = Row(search="beam"), Row(search="beam", engine="fastdecode")
    assert (slow.tier, fast.tier) == ("reference", "optimised")
    assert slow.twin_key == fast.twin_key != Row(search="beam", beams=3).twin_key


def test_what_does_not_fit_is_refused() -> None:
    system = untrained_graphs()
    with pytest.raises(UserError, match="one model's, and these are 2"):
        decoder(System(system.models * 2, system.source, system.target))
    other = untrained_system(Architecture(8, 12, 2, 1, 1), 30)
    with pytest.raises(UserError, match="TransformerModel writes no graphs"):
        decoder(other)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"search": "lookahead", "lm_weight": 0.1}, "lm_weight is for search: beam, not lookahead"),
        ({"search": "viterbi", "beams": 20}, "beams is for search: beam, not viterbi"),
        ({"search": "beam", "top_p": 0.5}, "top_p is for search: sample, not beam"),
        ({"length_penalty": 1.2}, "length_penalty is for search: viterbi, beam, not lookahead"),
    ],
)
def test_a_key_that_the_search_does_not_read_is_refused(row: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Row(**row)


def test_a_graph_may_be_padded_behind_the_last_position() -> None:
    """Sizes are rounded up where a GPU records: more rows than there are positions of links."""
    system = untrained_graphs(links="gated")
    vertices = Vertices(system.models[0].decoder)
    assert vertices._positions is not None
    vertices._positions = vertices._positions[:9]
    slots, encoded = torch.full((1, 12), UNK), torch.randn(1, 4, 16, dtype=torch.double)
    sizes, within = torch.tensor([8]), (torch.arange(12) < 8)[None, None, None]
    with torch.inference_mode():
        _, links = vertices(slots, sizes, within, encoded, None)
        _, expected = vertices(slots[:, :8], sizes, None, encoded, None)
    assert torch.allclose(links[:, :8, :8], expected, atol=1e-10)
