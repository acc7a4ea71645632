"""Draft and verify: as greedy search, as the naive twin, as one sentence at a time."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fastdecode.drafting import Prefixes, WholeSentences
from fastdecode.errors import UserError
from fastdecode.families.aggressive import naive, verify
from fastdecode.families.aggressive.decoders import DraftAndVerify, batch_of
from fastdecode.families.aggressive.eager import EagerVerifier
from fastdecode.families.aggressive.fast import FastVerifier
from fastdecode.families.aggressive.rows import Decoder as Row
from fastdecode.families.aggressive.sides import Checks, Verifier
from fastdecode.stages import Stopwatch
from fastdecode.system import System
from fastdecode.transformer import highest
from fastdecode.transformer.weights import Layers, serial_layers
from fastdecode.translation import Translation
from tests.families.aggressive.conftest import (
    ENGINES,
    SETTINGS,
    facts,
    numbered,
    padded,
    shaken,
    untrained,
    untrained_blockwise,
    untrained_drafter,
)

KINDS: dict[str, Callable[[System], Verifier]] = {
    "eager": EagerVerifier,
    "fastdecode": FastVerifier,
}


def greedy(system: System, sources: list[list[str]], **more: Any) -> list[Translation]:
    row = {"beam": 1, "engine": "fastdecode", **more}
    return list(system.decoder("autoregressive", row, " ".join)(sources))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", SETTINGS)
def test_it_translates_as_the_naive_twin(
    pair: System, ragged: list[list[str]], engine: str, name: str
) -> None:
    row = Row(**SETTINGS[name], engine=engine)
    decoder = pair.decoder("aggressive", row.model_dump(), " ".join)
    words, (verifier,) = pair.target, pair.companions.values()
    special = words.pad(), words.eos()
    translations = decoder(ragged)
    for sentence, translation in zip(ragged, translations, strict=True):
        source = numbered(pair, sentence)
        limit = max(int(row.max_len_a * len(source) + row.max_len_b), row.min_len)
        scores = naive.scores_of(verifier.models[0], source, limit, row.min_len, *special)
        draft = naive.drafts_of(pair.models[0], source, row.min_len, *special, words.unk())
        with torch.inference_mode():
            ids, accepted = naive.draft_and_verify(draft, scores, words.eos(), row.beta, row.tau)
        assert ([words[i] for i in ids], accepted) == (translation.tokens, translation.accepted)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", SETTINGS)
def test_a_batch_is_its_sentences_one_by_one(
    pair: System, ragged: list[list[str]], engine: str, name: str
) -> None:
    decoder = pair.decoder("aggressive", {**SETTINGS[name], "engine": engine}, " ".join)
    alone = [decoder([sentence])[0] for sentence in ragged]
    assert facts(decoder(ragged)) == facts(alone)
    for one, other in zip(decoder(ragged), alone, strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-5)
    assert len({translation.passes for translation in alone}) > 1  # rows leave at different times


def test_part_of_a_block_may_be_drafted(pair: System, ragged: list[list[str]]) -> None:
    for engine in ENGINES:
        row = {"beta": 14, "tau": 999.0, "engine": engine}  # whatever is drafted is accepted
        whole, part = (
            pair.decoder("aggressive", {**row, "block": block}, " ".join)(ragged)
            for block in (None, 2)
        )
        assert all(set(t.accepted[:-1]) == {5} for t in whole if len(t.accepted) > 1)
        assert all(set(t.accepted[:-1]) == {3} for t in part if len(t.accepted) > 1)
        alone = pair.decoder("aggressive", {"mode": "draft", "block": 3, "engine": engine}, "".join)
        assert {count for t in alone(ragged) for count in t.accepted[:-1]} == {3}


class Corrupted:
    """Writes given translations with some tokens changed, left out or added."""

    bytes_per_pass, serial_layers = 1, Layers(2, 1)

    def __init__(self, translations: dict[tuple[str, ...], list[str]], seed: int, rate: float):
        self._translations, self._seed, self._rate = translations, seed, rate

    def __call__(self, sources: Sequence[Sequence[str]]) -> list[Translation]:
        return [Translation("", self._corrupt(tuple(source)), None, 1) for source in sources]

    def _corrupt(self, source: tuple[str, ...]) -> list[str]:
        draw = Random(f"{self._seed} {source}")
        tokens = list(self._translations[source])
        for i in range(len(tokens)):
            if draw.random() < self._rate:
                tokens[i] = f"w{draw.randrange(10)}"
        cut = draw.randrange(len(tokens) + 1) if draw.random() < self._rate else len(tokens)
        return tokens[:cut]


VERIFIER = untrained(seed=5)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    rate=st.sampled_from([0.0, 0.1, 0.3, 1.0]),
    row=st.sampled_from([{"beta": 1}, {"beta": 1, "tau": 9.0}, {"beta": 4, "tau": 0.0}]),
    limit=st.sampled_from([{}, {"max_len_a": 0.0, "max_len_b": 3}, {"min_len": 6}]),
    engine=st.sampled_from(ENGINES),
)
def test_strictly_verified_it_is_greedy_search_whatever_is_drafted(
    seed: int, rate: float, row: dict[str, Any], limit: dict[str, Any], engine: str
) -> None:
    draw = Random(seed)
    sources = [[f"w{draw.randrange(10)}" for _ in range(draw.randint(1, 8))] for _ in range(5)]
    expected = greedy(VERIFIER, sources, **limit)
    known = {tuple(s): t.tokens for s, t in zip(sources, expected, strict=True)}
    drafter = WholeSentences(Corrupted(known, seed, rate), VERIFIER.target, "cpu")
    settings_ = Row(**row, **limit, engine=engine)
    verifier = KINDS[engine](VERIFIER)
    watch = Stopwatch()
    decoder = DraftAndVerify(VERIFIER, settings_, " ".join, watch, verifier, drafter)
    found = decoder(sources)
    for one, other in zip(found, expected, strict=True):
        assert one.tokens == other.tokens
        assert one.score == pytest.approx(other.score, abs=1e-5)
        assert min(one.accepted) >= 1 and sum(one.accepted) == len(one.tokens) + 1
        assert one.passes == len(one.accepted)
    if rate == 0.0:  # one look at the whole of it
        assert all(one.passes == 1 for one in found)
    assert facts(found) == facts([decoder([source])[0] for source in sources])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cache_that_was_cut_is_one_that_never_held_more(engine: str) -> None:
    draw = Random(1)
    sources = [["w1", "w2", "w3"], ["w4"], ["w5", "w5"]]
    verifier = KINDS[engine](VERIFIER)
    batch = batch_of(sources, VERIFIER.source, torch.device("cpu"))
    eos = VERIFIER.target.eos()

    def look(checks: Checks, rows: list[list[int]], new: list[list[int]]) -> torch.Tensor:
        lengths = torch.tensor([len(row) for row in rows])
        last = [row[-1] if row else eos for row in rows]
        tokens = torch.tensor([[one, *more] for one, more in zip(last, new, strict=True)])
        prefixes = Prefixes(padded(rows, 1), lengths, max(map(len, rows)))
        return checks.logits(tokens, prefixes)

    with torch.inference_mode():
        checks = verifier.begin(batch, verifier.encode(batch), 30)
        prefixes: list[list[int]] = [[], [], []]
        for _ in range(4):
            new = [[draw.randrange(4, 14) for _ in range(3)] for _ in prefixes]
            found = look(checks, prefixes, new)
            for i, row in enumerate(prefixes):  # from scratch, alone
                whole = torch.tensor([[eos, *row, *new[i]]])
                source = torch.tensor([numbered(VERIFIER, sources[i])])
                lengths = torch.tensor([source.shape[1]])
                logits, _ = VERIFIER.models[0](source, lengths, whole)
                assert torch.allclose(found[i], logits[0, -4:], atol=1e-6)
            kept = [draw.randint(0, 3) for _ in prefixes]
            prefixes = [
                [*row, *more[:count], draw.randrange(4, 14)]
                for row, more, count in zip(prefixes, new, kept, strict=True)
            ]
        checks.keep(torch.tensor([0, 2]))
        sources, prefixes = [sources[0], sources[2]], [prefixes[0], prefixes[2]]
        found = look(checks, prefixes, [[5], [6]])
        source = torch.tensor([numbered(VERIFIER, sources[1])])
        logits, _ = VERIFIER.models[0](
            source, torch.tensor([source.shape[1]]), torch.tensor([[eos, *prefixes[1], 6]])
        )
        assert torch.allclose(found[1], logits[0, -2:], atol=1e-6)


def test_words_are_found_by_pytorch_in_the_reference_tier(
    pair: System, ragged: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(highest, "np", None)
    pair.decoder("aggressive", {"engine": "eager"}, " ".join)(ragged[:2])
    with pytest.raises(AttributeError):
        pair.decoder("aggressive", {"engine": "fastdecode"}, " ".join)(ragged[:2])


def test_the_host_looks_at_the_device_once_an_iteration(
    pair: System, ragged: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = Row(**SETTINGS["near"], engine="fastdecode")
    decoder = pair.decoder("aggressive", row.model_dump(), " ".join)
    batch = batch_of(ragged, pair.source, torch.device("cpu"))
    looks: list[str] = []

    def counting(name: str) -> Any:
        look = getattr(torch.Tensor, name)

        def counted(*arguments: Any, **more: Any) -> Any:
            looks.append(name)
            return look(*arguments, **more)

        return counted

    for name in ("tolist", "item", "nonzero", "__bool__", "__int__", "__float__", "__index__"):
        monkeypatch.setattr(torch.Tensor, name, counting(name))
    monkeypatch.setattr(verify, "looks_are_free", lambda device: False)  # as on a GPU
    with torch.inference_mode():
        traces = decoder.decode(batch, [12 + i for i in range(len(ragged))])
    assert looks == ["tolist"] * max(len(trace.accepted) for trace in traces)


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_drafted_where_only_the_verifiers_word_has_room(
    pair: System, ragged: list[list[str]], engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {"engine": engine, "min_len": 12, "max_len_a": 0, "max_len_b": 12}
    decoder = pair.decoder("aggressive", row, " ".join)
    begin, asked = decoder._begin, []  # type: ignore[attr-defined]

    def begun(*arguments: Any) -> Any:
        checks, drafts = begin(*arguments)
        propose = drafts.propose
        monkeypatch.setattr(
            drafts, "propose", lambda prefixes, most: asked.append(most) or propose(prefixes, most)
        )
        return checks, drafts

    monkeypatch.setattr(decoder, "_begin", begun)
    assert {len(translation.tokens) for translation in decoder(ragged)} == {12}
    assert asked and min(asked) > 0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("min_len", [1, 6])
def test_the_drafter_alone_writes_block_after_block(
    pair: System, ragged: list[list[str]], engine: str, min_len: int
) -> None:
    row = {"mode": "draft", "min_len": min_len, "engine": engine}
    decoder = pair.decoder("aggressive", row, " ".join)
    words, k = pair.target, 4
    translations = decoder(ragged)
    assert facts(translations) == facts([decoder([sentence])[0] for sentence in ragged])
    for sentence, translation in zip(ragged, translations, strict=True):
        source = numbered(pair, sentence)
        special = words.pad(), words.eos(), words.unk()
        draft = naive.drafts_of(pair.models[0], source, min_len, *special)
        written: list[int] = []
        limit = int(1.2 * len(source) + 10)
        while words.eos() not in written and len(written) <= limit:
            with torch.inference_mode():
                written += draft(written)
        ends = [*written[:limit], words.eos()]
        ids = ends[: ends.index(words.eos())]
        assert [words[i] for i in ids] == translation.tokens
        assert sum(translation.accepted) == len(ids) + 1
        assert set(translation.accepted[:-1]) <= {k}
        assert translation.score is None
        assert len(ids) >= min_len


# Drafts of others


def test_any_family_drafts(ragged: list[list[str]]) -> None:
    verifier = untrained()
    other = replace(shaken(untrained(seed=8), 9), companions={"verifier": verifier})
    row = {"drafter": "autoregressive", "verifier": "verifier"}
    row["draft"] = {"beam": 2, "engine": "fastdecode"}
    decoder = other.decoder("aggressive", {**row, "engine": "fastdecode"}, " ".join)
    expected = [translation.tokens for translation in greedy(verifier, ragged)]
    assert [translation.tokens for translation in decoder(ragged)] == expected
    row |= {"draft": {"beam": 1, "engine": "fastdecode"}, "engine": "fastdecode"}
    itself = replace(verifier, companions={"verifier": verifier})
    translations = itself.decoder("aggressive", row, " ".join)(ragged)
    assert [translation.passes for translation in translations] == [1] * len(ragged)
    assert all("encode-drafter" not in one.stages for one in translations)  # it drafts
    assert all(one.stages["draft"] > 0 for one in translations)


# What the numbers say


def test_stages_and_weights(pair: System, ragged: list[list[str]]) -> None:
    decoder = pair.decoder("aggressive", {"engine": "fastdecode"}, " ".join)
    (translation, *_) = decoder(ragged[:1])
    stages = {"encode", "encode-drafter", "draft", "verify", "search", "finish"}
    assert set(translation.stages) == stages
    alone = pair.decoder("aggressive", {"mode": "draft"}, " ".join)
    assert set(alone(ragged[:1])[0].stages) == {"search", "encode", "draft", "finish"}
    (verifier,) = pair.companions.values()
    theirs = verifier.decoder("autoregressive", {"beam": 1}, " ".join).bytes_per_pass
    assert alone.bytes_per_pass == theirs  # what slots look for is known before any sentence
    assert decoder.bytes_per_pass == alone.bytes_per_pass + theirs


@pytest.mark.parametrize("engine", ["eager", "fastdecode"])
def test_layers_of_both_models_are_in_turn(pair: System, engine: str) -> None:
    def layers(**settings: Any) -> Layers:
        row = {"engine": engine, **settings}
        return pair.decoder("aggressive", row, " ".join).serial_layers

    (verifier,) = pair.companions.values()
    theirs, ours = (serial_layers(system.models[0]) for system in (verifier, pair))
    assert layers() == (theirs.once + ours.once, theirs.per_pass + ours.per_pass)
    assert layers(mode="draft") == ours


# How long a translation may be


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("mode", ["verify", "draft", "blockwise"])
@pytest.mark.parametrize(("verifiers", "drafters"), [(8, 20), (20, 8)])
def test_the_last_position_is_an_ends(
    mode: str, engine: str, verifiers: int, drafters: int
) -> None:
    if mode == "blockwise":
        system, most = untrained_blockwise(max_target_positions=verifiers), verifiers - 1
    else:
        verifier = untrained(max_target_positions=verifiers)
        system = untrained_drafter(verifier, max_target_positions=drafters)
        most = (drafters if mode == "draft" else min(verifiers, drafters)) - 1
    settings = {"mode": mode, "engine": engine, "max_len_a": 9.0}
    decode, too_long = (
        system.decoder("aggressive", {**settings, "min_len": words}, " ".join)
        for words in (most, most + 1)
    )
    assert [len(t.tokens) for t in decode([["w1", "w2"], ["w3"]])] == [most, most]
    with pytest.raises(UserError, match=f"this system writes {most} tokens at most"):
        too_long([["w1", "w2"]])
