"""The whole of lattice decoding, on a random model with tables of a small corpus."""

from copy import deepcopy
from dataclasses import replace
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from fastdecode.config.models import Architecture
from fastdecode.errors import UserError
from fastdecode.families import decoder_row
from fastdecode.families.lattice.model import LatticeModel
from fastdecode.families.lattice.sentence import Lattices
from fastdecode.families.lattice.tables import build
from fastdecode.files import read_lines
from fastdecode.measure.untrained import untrained_system
from fastdecode.system import Decoder, System
from fastdecode.transformer.linear import has_bf16
from fastdecode.translation import Translation
from tests.gpu import assert_a_gpu_writes_the_same, needs_gpu
from tests.recording import assert_recorded_writes_the_same

Sentences = list[list[str]]
SMALL = {"k": 6, "delta": 1}


@pytest.fixture(scope="module")
def system(binarised: Path, tmp_path_factory: pytest.TempPathFactory) -> System:
    """A random model in fp64 over the words of the numbers' corpus, with that corpus's tables."""
    from fairseq.data import Dictionary

    texts = [binarised.with_name(f"train.{side}") for side in ("en", "de")]
    folder = tmp_path_factory.mktemp("lattice")
    links = diagonal(texts, folder / "links")
    dictionaries = (binarised / "dict.en.txt", binarised / "dict.de.txt")
    build(texts[0], texts[1], links, dictionaries, folder / "assets", {})
    words = Dictionary.load(str(dictionaries[0]))
    size = Architecture(width=16, ffn=24, heads=2, encoder_layers=2, decoder_layers=1)
    random = untrained_system(size, len(words), precision="fp64", kind=LatticeModel, orders=3)
    return replace(random, source=words, target=words, assets=folder / "assets")


def diagonal(texts: list[Path], out: Path) -> Path:
    """Link the n-th word of a line with the n-th last one of its reversed translation."""
    with out.open("w") as file:
        for line in read_lines(texts[0]):
            count = len(line.split())
            file.write(" ".join(f"{i}-{count - 1 - i}" for i in range(count)) + "\n")
    return out


@pytest.fixture(scope="module")
def sentences(binarised: Path) -> Sentences:
    lines = list(read_lines(binarised.with_name("valid.en")))
    return [line.split() for line in lines] + [["one"], ["unheard", "two"], ["nine"] * 9]


def decoder(system: System, **settings: Any) -> Decoder:
    return system.decoder("lattice", SMALL | settings, " ".join)


def same(one: Translation, other: Translation, tolerance: float = 1e-5) -> None:
    assert (one.tokens, one.text, one.passes) == (other.tokens, other.text, other.passes)
    assert one.score == pytest.approx(other.score, abs=tolerance)


def test_fairseqs_own_encoder_reads_in_the_reference_tier(
    system: System, sentences: Sentences
) -> None:
    (model,) = system.models
    calls: list[object] = []
    hook = model.encoder.register_forward_hook(lambda *_: calls.append(1))
    found = [decoder(system, engine=engine)(sentences) for engine in ("eager", "fastdecode")]
    hook.remove()
    assert len(calls) == 1
    for eager, fast in zip(*found, strict=True):
        same(eager, fast)


WAYS: list[dict[str, Any]] = [{}, {"normalise": "candidates"}, {"search": "scan"}]


@needs_gpu
@pytest.mark.parametrize("row", WAYS)
def test_a_gpu_writes_what_a_cpu_writes(
    system: System, sentences: Sentences, row: dict[str, Any]
) -> None:
    assert_a_gpu_writes_the_same(system, "lattice", SMALL | row, sentences)


@pytest.mark.parametrize("row", WAYS)
def test_recorded_passes_write_what_plain_ones_write(
    system: System, sentences: Sentences, row: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = SMALL | row
    assert_recorded_writes_the_same(system, "lattice", settings, sentences, monkeypatch)


@pytest.mark.parametrize("engine", ["eager", "fastdecode"])
@pytest.mark.parametrize("normalise", ["vocabulary", "candidates"])
def test_a_batch_is_its_sentences_one_by_one(
    system: System, sentences: Sentences, normalise: str, engine: str
) -> None:
    decode = decoder(system, normalise=normalise, engine=engine)
    together = decode(sentences)
    for sentence, batched in zip(sentences, together, strict=True):
        same(decode([sentence])[0], batched)
    assert len({len(translation.tokens) for translation in together}) > 3


@pytest.mark.parametrize("normalise", ["vocabulary", "candidates"])
@pytest.mark.parametrize("settings", [{"search": "scan"}, {"engine": "fastdecode"}])
def test_every_way_writes_the_same(
    system: System, sentences: Sentences, settings: dict[str, Any], normalise: str
) -> None:
    one, other = ({"normalise": normalise} | more for more in ({}, settings))
    pairs = zip(decoder(system, **one)(sentences), decoder(system, **other)(sentences), strict=True)
    for plain, fast in pairs:
        same(plain, fast)


@pytest.mark.parametrize("engine", ["eager", "fastdecode"])
def test_a_predicted_length_is_cut_to_what_the_scorer_can_write(
    system: System, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system.models[0].decoder, "max_target_positions", 6)
    fresh = replace(system, _shared={})
    (found,) = decoder(fresh, delta=1, engine=engine)([["nine"] * 9])
    assert len(found.tokens) == 5  # of 6 positions one is the end's
    assert Lattices(fresh, 8)(["nine"] * 9).words.shape == (5, 8)


def test_the_best_path_is_the_best_of_all(system: System) -> None:
    """Enumerate every path of a small lattice, scored by the training model itself."""
    decode = decoder(system, k=3, delta=1)
    source = ["one", "two"]
    (found,) = decode([source])
    assert decode._lengths.predict(2) == 2  # type: ignore[attr-defined]
    ids = [system.source.index(word) for word in source]
    words, _ = decode._candidates.single(ids, 4, 3)  # type: ignore[attr-defined]
    best, best_path = -inf, []
    for length in (2, 3, 4):  # with `</s>`
        for path in product(range(3), repeat=length - 1):
            tokens = [int(words[t, i]) for t, i in enumerate(path)]
            score = path_score(system, ids, tokens)
            if score > best:
                best, best_path = score, tokens
    assert found.tokens == [system.target[i] for i in best_path]
    assert found.score == pytest.approx(best, abs=1e-4)


def path_score(system: System, source: list[int], tokens: list[int]) -> float:
    """Return log P(tokens, `</s>` | x), each word's block beginning one slot before it."""
    (model,) = system.models
    eos = system.target.eos()
    following = [*tokens, eos]
    total = 0.0
    with torch.inference_mode():
        for t, word in enumerate(following):
            previous = torch.tensor([[eos, *tokens]])
            offset = torch.tensor([max(t - 1, 0) % 3])
            batch = torch.tensor([[*source, eos]])
            logits: Tensor = model(batch, torch.tensor([len(source) + 1]), previous, offset)[0]
            total += float(logits[0, t].log_softmax(-1)[word])
    return total


def test_lengths_are_those_predicted(system: System, sentences: Sentences) -> None:
    for delta in (0, 2):
        decode = decoder(system, delta=delta)
        for sentence, translation in zip(sentences, decode(sentences), strict=True):
            predicted = decode._lengths.predict(len(sentence))  # type: ignore[attr-defined]
            assert abs(len(translation.tokens) - predicted) <= delta
            assert translation.tokens


def test_stages_and_bytes(system: System, sentences: Sentences) -> None:
    exact, cheap = decoder(system), decoder(system, normalise="candidates")
    stages = exact(sentences)[0].stages
    assert list(stages) == ["candidates", "encode", "score", "search", "finish"]
    vocabulary = len(system.target) * 16 * 8
    assert exact.bytes_per_pass - cheap.bytes_per_pass == vocabulary


def test_bfloat16_halves_the_large_weights(system: System) -> None:
    if not has_bf16():
        pytest.skip("no bfloat16 on this CPU")
    model = system.models[0]
    single = replace(system, models=[deepcopy(model).float()], precision="fp32", _shared={})
    for normalise, large in (("candidates", 0), ("vocabulary", len(system.target) * 16)):
        full, half = (
            decoder(single, normalise=normalise, engine="fastdecode", bf16=bf16)
            for bf16 in (False, True)
        )
        assert full.bytes_per_pass - half.bytes_per_pass == 2 * (large + 2 * 16 * 24)
        source = [["one", "two", "three"]]
        assert half(source)[0].score == pytest.approx(full(source)[0].score, abs=0.1)
        assert half(source)[0].score != full(source)[0].score


def test_bfloat16_is_for_the_fast_path() -> None:
    row = decoder_row("lattice")
    with pytest.raises(ValueError, match="bf16 needs engine: fastdecode, not eager"):
        row.model_validate({"bf16": True})
    fast = row.model_validate({"bf16": True, "engine": "fastdecode"})
    assert (fast.precision("fp32"), fast.tier) == ("bf16", "optimised")
    assert fast.twin_key == row.model_validate({}).twin_key


@pytest.mark.parametrize("engine", ["eager", "fastdecode"])
@pytest.mark.parametrize("normalise", ["vocabulary", "candidates"])
@pytest.mark.parametrize("search", ["viterbi", "scan"])
def test_a_model_of_no_numbers_is_one_line(
    system: System, sentences: Sentences, search: str, normalise: str, engine: str
) -> None:
    model = deepcopy(system.models[0])
    with torch.no_grad():
        model.encoder.layers[0].fc1.weight[3] = float("nan")
    broken = replace(system, models=[model], _shared={})
    decode = decoder(broken, search=search, normalise=normalise, engine=engine)
    with pytest.raises(UserError, match="the scores of this model are no finite numbers"):
        decode(sentences)


def test_what_does_not_fit_is_said(system: System) -> None:
    with pytest.raises(UserError, match="a lattice needs its tables"):
        decoder(replace(system, assets=None, _shared={}))
    with pytest.raises(UserError, match="scored by one model, and these are 2"):
        decoder(replace(system, models=system.models * 2))
    with pytest.raises(UserError, match="TransformerModel is not a lattice model"):
        size = Architecture(width=16, ffn=24, heads=2, encoder_layers=1, decoder_layers=1)
        other = untrained_system(size, len(system.target))
        decoder(replace(other, assets=system.assets))
