"""CTranslate2 against fairseq's greedy search, against itself, and against the probabilities."""

import math
import random
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from fastdecode.decode import load_system
from fastdecode.errors import UserError
from fastdecode.files import read_lines
from fastdecode.stages import Stopwatch
from fastdecode.system import Decoder, System
from fastdecode.translation import Translation
from tests.gpu import needs_no_gpu

Sentences = list[list[str]]
LIMIT = 12


@pytest.fixture(scope="module")
def good(trained: Path, binarised: Path) -> System:
    """A model that was trained."""
    return load_system([trained / "checkpoint.pt"], binarised, "cpu")


@pytest.fixture(scope="module")
def valid(binarised: Path) -> Sentences:
    return [line.split() for line in read_lines(binarised.with_name("valid.en"))]


@pytest.fixture(scope="module")
def dice(trained: Path, binarised: Path) -> System:
    """An untrained model that ends its sentences at all lengths and would gladly write padding."""
    system = load_system([trained / "checkpoint.pt"], binarised, "cpu")
    (model,) = system.models
    torch.manual_seed(2)
    with torch.no_grad():
        for matrix in (parameter for parameter in model.parameters() if parameter.dim() > 1):
            matrix.normal_(std=0.4)
        bias = torch.zeros(len(system.target))
        bias[system.target.eos()], bias[system.target.pad()] = 2.0, 4.0
        model.decoder.output_projection.bias = torch.nn.Parameter(bias)
    return system


def peer(system: System, **settings: Any) -> Decoder:
    return system.decoder("autoregressive", {"engine": "ctranslate2", **settings}, " ".join)


def reference(system: System, **settings: Any) -> Decoder:
    return system.decoder("autoregressive", settings, " ".join)


def sentences(count: int) -> Sentences:
    draw = random.Random(3)
    vocabulary = ["one", "two", "three", "four", "five", "nine", "unheard"]
    return [draw.choices(vocabulary, k=draw.randint(1, 9)) for _ in range(count)]


# fairseq's greedy search


def test_a_trained_model_decodes_as_in_fairseq(good: System, valid: Sentences) -> None:
    for sentence in valid:
        (expected,), (found,) = (make(good, beam=1)([sentence]) for make in (reference, peer))
        assert (found.tokens, found.text, found.passes) == (
            expected.tokens,
            expected.text,
            expected.passes,
        )


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"min_len": 4},
        {"max_len_a": 0, "max_len_b": 2},
        {"max_len_a": 0.5, "max_len_b": 1, "min_len": 5},  # more than what the limit would be
    ],
)
def test_an_untrained_model_decodes_as_in_fairseq(dice: System, settings: dict[str, Any]) -> None:
    expected, found = (
        [decode([sentence])[0] for sentence in sentences(60)]
        for decode in (reference(dice, beam=1, **settings), peer(dice, beam=1, **settings))
    )
    assert [t.tokens for t in found] == [t.tokens for t in expected]
    assert [t.passes for t in found] == [t.passes for t in expected]
    assert len({tuple(t.tokens) for t in found}) > 10
    assert not any(dice.target.pad_word in t.tokens for t in found)
    assert all(t.passes == len(t.tokens) + 1 for t in found)


def test_a_beam_mostly_agrees_with_fairseqs(good: System, valid: Sentences) -> None:
    limit = {"max_len_a": 0, "max_len_b": 100}  # which hardly any runs into
    expected, found = (
        [decode([line])[0].tokens for line in valid]
        for decode in (reference(good, beam=5, **limit), peer(good, beam=5, **limit))
    )
    assert sum(a == b for a, b in zip(expected, found, strict=True)) > 0.8 * len(valid)


# A batch


@pytest.mark.parametrize("settings", [{"beam": 1}, {"beam": 5}, {"beam": 5, "lenpen": 1.5}])
def test_a_batch_is_its_sentences_one_by_one(dice: System, settings: dict[str, Any]) -> None:
    decode = peer(dice, max_len_a=0.6, max_len_b=1, **settings)
    ragged = sentences(60)
    together = decode(ragged)
    cut = 0
    for sentence, batched in zip(ragged, together, strict=True):
        (alone,) = decode([sentence])
        assert (alone.tokens, alone.text, alone.passes) == (
            batched.tokens,
            batched.text,
            batched.passes,
        )
        assert (alone.score or 0) == pytest.approx(batched.score or 0, abs=1e-4)
        limit = int(0.6 * (len(sentence) + 1) + 1)  # its own: </s> counts as source
        assert len(alone.tokens) <= limit
        cut += len(alone.tokens) == limit
    assert 5 < cut < 60  # the others end before


# Scores


def log_probabilities(system: System, source: list[str], target: list[str]) -> torch.Tensor:
    """Return the model's log-probabilities at each place of `target` and its end: (T, V)."""
    eos = system.target.eos()
    ids = torch.tensor([[*map(system.source.index, source), eos]])
    before = torch.tensor([[eos, *map(system.target.index, target)]])
    with torch.inference_mode():
        logits, _ = system.models[0](ids, torch.tensor([ids.size(1)]), before)
    return torch.Tensor(logits.log_softmax(-1)[0])


@pytest.mark.parametrize("beam", [1, 5])
@pytest.mark.parametrize("lenpen", [1.0, 0.5])
def test_the_score_is_the_mean_log_probability(dice: System, beam: int, lenpen: float) -> None:
    decode = peer(dice, beam=beam, lenpen=lenpen, max_len_a=0, max_len_b=LIMIT)
    eos, pad = dice.target.eos(), dice.target.pad()
    kinds = set()
    for sentence in sentences(60):
        (found,) = decode([sentence])
        cut = found.score is None
        kinds.add(cut)
        if cut:  # it would have gone on
            assert len(found.tokens) == LIMIT
            continue
        ids = [*map(dice.target.index, found.tokens), eos]
        table = log_probabilities(dice, sentence, found.tokens)
        barred = table[:, pad].exp()  # what may not come has no share
        barred[0] += table[0, eos].exp()  # shorter than min_len
        chosen = table[range(len(ids)), ids] - (1 - barred).log()
        assert found.score == pytest.approx(chosen.sum().item() / len(ids) ** lenpen, abs=1e-4)
    assert kinds == {True, False}


def test_a_score_of_no_number_is_one_line(good: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which weights make one depends on the CPU: CTranslate2's maxima pass over some of them."""
    decode = peer(good)
    for ends in ([], ["</s>"]):  # cut at its limit, which leaves it without a score, and not
        found = SimpleNamespace(hypotheses=[["one", *ends]], scores=[math.nan])
        monkeypatch.setattr(decode, "_decode", lambda *_, found=found: [found])
        with pytest.raises(UserError, match="the scores of this model are no finite numbers"):
            decode([["one", "two"]])


# Precision


def test_int8_reads_a_quarter_and_says_nearly_the_same(good: System, valid: Sentences) -> None:
    full, small = peer(good, beam=1), peer(good, beam=1, int8=True)
    assert full.bytes_per_pass == reference(good).bytes_per_pass == 4 * small.bytes_per_pass > 0
    expected, found = full(valid), small(valid)
    gaps = [abs((a.score or 0) - (b.score or 0)) for a, b in zip(expected, found, strict=True)]
    assert 0 < max(gaps) < 0.1
    for sentence, batched in zip(valid, found, strict=True):
        assert small([sentence])[0].tokens == batched.tokens


def test_double_precision_is_refused(good: System) -> None:
    double = System(good.models, good.source, good.target, "cpu", "fp64")
    with pytest.raises(UserError, match="CTranslate2 does not compute in fp64: set precision to"):
        peer(double)


@needs_no_gpu
def test_what_the_machine_cannot_do_is_said(good: System) -> None:
    for device, precision in (("cpu", "fp16"), ("cuda", "fp32")):
        elsewhere = System(good.models, good.source, good.target, device, precision)
        with pytest.raises(UserError, match="CTranslate2 cannot decode on this machine: ") as error:
            peer(elsewhere)
        assert "\n" not in str(error.value)


def test_int8_that_would_translate_wrongly_is_refused(
    good: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "fastdecode.families.autoregressive.ctranslate2"
    monkeypatch.setattr(f"{module}.bytes_overflow", lambda: True)
    fresh = System(good.models, good.source, good.target)
    with pytest.raises(UserError, match="int8 translates wrongly: leave decoders with int8 out"):
        peer(fresh, int8=True)
    peer(fresh)


def test_libraries_that_are_missing_at_the_first_product_are_said(
    good: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def __init__(self, *folder: str, **settings: Any):
            pass

        def translate_batch(self, *sentences: Any, **settings: Any) -> None:
            raise RuntimeError("Library libcublas.so.12 is not found or cannot be loaded")

    monkeypatch.setattr("ctranslate2.Translator", Broken)
    with pytest.raises(UserError, match=r"cannot decode on this machine: Library libcublas.so.12"):
        peer(System(good.models, good.source, good.target))


# The rest


def test_it_is_one_of_the_familys_decoders(good: System) -> None:
    watch = Stopwatch()
    decode = good.decoder("autoregressive", {"engine": "ctranslate2"}, "+".join, watch)
    (translation,) = decode([["one", "two"]])
    assert isinstance(translation, Translation)
    assert translation.text == "+".join(translation.tokens)
    assert list(translation.stages) == ["decode", "finish"]
    assert math.isclose(sum(translation.stages.values()), sum(watch.seconds.values()))
    ensemble = System(good.models * 2, good.source, good.target)
    with pytest.raises(UserError, match="engine ctranslate2 decodes one model"):
        peer(ensemble)


def test_the_longest_sentence_is_read_whole(dice: System) -> None:
    line = random.Random(7).choices(["one", "two", "nine"], k=dice.longest)
    (expected,), (found,) = (
        make(dice, beam=1, max_len_a=0, max_len_b=20)([line]) for make in (reference, peer)
    )
    assert found.tokens == expected.tokens
    assert peer(dice, max_len_b=3000)([line])[0].passes <= dice.models[0].max_positions()[1]


def test_no_temporary_folder_stays(
    good: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (translation,) = peer(System(good.models, good.source, good.target))([["one"]])
    assert translation.passes and list(tmp_path.iterdir()) == []
    monkeypatch.setattr(good.models[0].cfg, "activation_fn", "tanh")
    with pytest.raises(UserError, match="activation tanh"):
        peer(System(good.models, good.source, good.target))
    assert list(tmp_path.iterdir()) == []


def test_decoders_of_one_system_share_what_they_can(good: System) -> None:
    system = System(good.models, good.source, good.target)
    one, other, small = peer(system, beam=1), peer(system, beam=5), peer(system, int8=True)
    assert vars(one)["_translator"] is vars(other)["_translator"]
    assert vars(one)["_translator"] is not vars(small)["_translator"]


def test_a_decoder_has_the_threads_that_there_are_when_it_is_made(
    good: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, made = System(good.models, good.source, good.target), []
    for threads in (1, 2, 1):
        monkeypatch.setattr(torch, "get_num_threads", lambda threads=threads: threads)
        made.append(vars(peer(system, beam=1))["_translator"])
    assert made[0] is made[2] is not made[1]
