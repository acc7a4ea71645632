"""The reference decoder against fairseq-generate, against itself, and against counted passes."""

import math
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from fastdecode.decode import load_system
from fastdecode.families.autoregressive.reference import ReferenceDecoder
from fastdecode.families.autoregressive.rows import Decoder
from fastdecode.files import read_lines
from fastdecode.stages import Stopwatch
from fastdecode.system import System
from fastdecode.train.checkpoints import load, save
from fastdecode.train.command import USER_DIR
from fastdecode.translation import Translation

Sentences = list[list[str]]


@pytest.fixture(scope="module")
def checkpoints(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A trained model, and the same with its weights shaken."""
    state = load(trained / "checkpoint.pt")
    torch.manual_seed(1)
    for weight in {weight.data_ptr(): weight for weight in state["model"].values()}.values():
        weight += 0.1 * torch.randn_like(weight)
    shaken = tmp_path_factory.mktemp("shaken") / "checkpoint.pt"
    save(state, shaken)
    return [trained / "checkpoint.pt", shaken]


@pytest.fixture(scope="module")
def valid(binarised: Path) -> Sentences:
    return [line.split() for line in read_lines(binarised.with_name("valid.en"))]


def decoder(system: System, **settings: Any) -> ReferenceDecoder:
    return ReferenceDecoder(system, Decoder(**settings), " ".join, Stopwatch())


# What fairseq-generate says


def generated(checkpoints: list[Path], data: Path, beam: int) -> list[tuple[list[str], float]]:
    """Let fairseq-generate translate the validation set; return tokens and scores in its order."""
    command = [sys.executable, "-m", "fairseq_cli.generate", str(data), "--user-dir", str(USER_DIR)]
    command += ["--path", ":".join(map(str, checkpoints)), "--gen-subset", "valid", "--cpu"]
    command += ["--task", "translation", "--source-lang", "en", "--target-lang", "de"]
    command += ["--beam", str(beam), "--max-len-a", "1.2", "--max-len-b", "10"]
    # One by one, since the longest source of a batch limits all its translations.
    command += ["--batch-size", "1", "--required-batch-size-multiple", "1"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"^H-(\d+)\t(\S+)\t(.*)$", done.stdout, flags=re.MULTILINE)
    in_order = sorted((int(number), float(score), text) for number, score, text in found)
    return [(text.split(), score * math.log(2)) for _, score, text in in_order]  # from base 2


@pytest.mark.parametrize(("models", "beam"), [(1, 1), (1, 5), (2, 5)])
def test_it_says_what_fairseq_generate_says(
    checkpoints: list[Path], binarised: Path, valid: Sentences, models: int, beam: int
) -> None:
    decode = decoder(load_system(checkpoints[:models], binarised, "cpu"), beam=beam)
    expected = generated(checkpoints[:models], binarised, beam)
    assert len(expected) == len(valid)
    for sentence, (tokens, score) in zip(valid, expected, strict=True):
        (translation,) = decode([sentence])
        assert translation.tokens == tokens
        assert translation.score == pytest.approx(score, abs=1e-4)


def test_an_ensemble_is_none_of_its_models(
    checkpoints: list[Path], binarised: Path, valid: Sentences
) -> None:
    groups = [checkpoints[:1], checkpoints[1:], checkpoints]
    one, other, both = (
        [t.tokens for t in decoder(load_system(group, binarised, "cpu"))(valid)] for group in groups
    )
    assert one != other
    assert both not in (one, other)


# A random model in double precision


LIMIT = 12


def passes_of(system: System, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows by one with every pass of the system's decoder."""
    (model,) = system.models
    passes: list[int] = []
    forward = model.decoder.forward

    def counting(*arguments: Any, **named: Any) -> Any:
        passes.append(1)
        return forward(*arguments, **named)

    monkeypatch.setattr(model.decoder, "forward", counting)
    return passes


@pytest.mark.parametrize("beam", [1, 5])
@pytest.mark.parametrize("lenpen", [1.0, 1.5])
@pytest.mark.parametrize(("slope", "base"), [(0, LIMIT), (1.5, 1)])
def test_a_batch_is_its_sentences_one_by_one(
    dice: System, ragged: Sentences, beam: int, lenpen: float, slope: float, base: int
) -> None:
    decode = decoder(dice, beam=beam, lenpen=lenpen, max_len_a=slope, max_len_b=base)
    together = decode(ragged)
    assert len({len(translation.tokens) for translation in together}) > 3
    limits = [int(slope * (len(sentence) + 1) + base) for sentence in ragged]
    lengths = [len(translation.tokens) for translation in together]
    assert any(map(int.__eq__, lengths, limits)) and not any(map(int.__gt__, lengths, limits))
    for sentence, batched in zip(ragged, together, strict=True):
        (alone,) = decode([sentence])
        assert (alone.tokens, alone.passes, alone.text) == (
            batched.tokens,
            batched.passes,
            batched.text,
        )
        assert alone.score == pytest.approx(batched.score, abs=1e-5)


def test_greedy_passes_are_tokens_and_the_end(
    dice: System, ragged: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    decode = decoder(dice, beam=1, max_len_a=0, max_len_b=LIMIT)
    counted = passes_of(dice, monkeypatch)
    lengths = set()
    for sentence in ragged:
        counted.clear()
        (translation,) = decode([sentence])
        assert translation.passes == len(translation.tokens) + 1 == len(counted)
        lengths.add(len(translation.tokens))
    assert (
        len(lengths) > 3 and LIMIT in lengths
    )  # cut ones too: the end is then forced, in a pass of its own


@pytest.mark.parametrize("beam", [2, 5])
def test_a_beam_runs_until_its_last_hypothesis_ends(
    dice: System, ragged: Sentences, monkeypatch: pytest.MonkeyPatch, beam: int
) -> None:
    decode = decoder(dice, beam=beam, max_len_a=0, max_len_b=LIMIT)
    counted = passes_of(dice, monkeypatch)
    longer = 0
    for sentence in ragged:
        counted.clear()
        (translation,) = decode([sentence])
        assert translation.passes == len(counted)
        longer += translation.passes > len(translation.tokens) + 1
    assert longer
    counted.clear()
    assert max(translation.passes for translation in decode(ragged)) == len(counted)


def test_the_score_is_the_mean_log_probability(dice: System, ragged: Sentences) -> None:
    decode = decoder(dice, beam=3, lenpen=1.0, max_len_a=0, max_len_b=LIMIT)
    (model,) = dice.models
    for sentence in ragged[:10]:
        (translation,) = decode([sentence])
        source = torch.tensor([[*map(dice.source.index, sentence), dice.source.eos()]])
        eos = dice.target.eos()
        tokens = [*map(dice.target.index, translation.tokens), eos]
        with torch.inference_mode():
            logits, _ = model(
                source, torch.tensor([source.size(1)]), torch.tensor([[eos, *tokens[:-1]]])
            )
            chosen = logits.log_softmax(-1)[0, range(len(tokens)), tokens]  # (T)
        if len(tokens) <= LIMIT:  # the end was free to come, but for the first place
            assert translation.score == pytest.approx(chosen.mean().item(), abs=1e-5)


def test_the_limit_on_length_follows_the_source(dice: System) -> None:
    eos = dice.models[0].decoder.output_projection.bias
    with torch.no_grad():
        eos[dice.target.eos()] -= 50.0
        for size in (1, 4, 7):
            (translation,) = decoder(dice, max_len_a=2.0, max_len_b=3)([["one"] * size])
            assert len(translation.tokens) == 2 * (size + 1) + 3  # </s> counts as source
            assert translation.passes == len(translation.tokens) + 1
        eos[dice.target.eos()] += 50.0


def test_what_else_fairseq_asserts_is_not_hidden(dice: System) -> None:
    decode = decoder(dice, max_len_a=0, max_len_b=LIMIT)
    assert len(decode([["one"]])) == 1
    decode._generator.min_len = LIMIT + 1
    with pytest.raises(AssertionError, match="min_len cannot be larger than max_len"):
        decode([["one"]])


def test_text_is_what_finish_makes_of_the_tokens(dice: System) -> None:
    decode = ReferenceDecoder(dice, Decoder(), "+".join, Stopwatch())
    (translation,) = decode([["one", "two"]])
    assert isinstance(translation, Translation)
    assert translation.text == "+".join(translation.tokens)
    assert "</s>" not in translation.tokens
    assert translation.accepted == []


def test_the_stages_of_a_batch_are_its_time(dice: System, ragged: Sentences) -> None:
    decode = decoder(dice)
    start = time.perf_counter()
    translations = decode(ragged)
    elapsed = time.perf_counter() - start
    assert all(t.stages.keys() == {"search", "encode", "decode", "finish"} for t in translations)
    assert all(time > 0 for t in translations for time in t.stages.values())
    assert sum(sum(t.stages.values()) for t in translations) == pytest.approx(elapsed, rel=0.2)


def test_each_sentence_of_a_batch_ends_at_its_own_limit(dice: System) -> None:
    eos = dice.models[0].decoder.output_projection.bias
    with torch.no_grad():
        eos[dice.target.eos()] -= 50.0
        found = decoder(dice, beam=2, max_len_a=2.0, max_len_b=3)([["one"] * n for n in (1, 4, 7)])
        eos[dice.target.eos()] += 50.0
    assert [len(translation.tokens) for translation in found] == [7, 13, 19]
