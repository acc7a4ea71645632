"""What is trained, from what it begins, and how it is validated."""

import csv
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from fastdecode.decode import load_system
from fastdecode.errors import UserError
from fastdecode.families.aggressive.rows import System as Row
from fastdecode.files import read_lines
from fastdecode.system import System
from fastdecode.train.checkpoints import load
from fastdecode.train.job import Job
from fastdecode.train.run import train
from tests.train.trainings import appears, assert_same, kill_and_resume

MakeJob = Callable[..., Job]
SHARED: dict[str, Any] = {"max_epochs": 8, "batch_tokens": 256, "lr": 5e-3}


@pytest.fixture(scope="module")
def make(tiny_job: Callable[..., Job], trained: Path) -> MakeJob:
    """Makes jobs of this family: k = 4, verified by the trained model."""

    def job(options: dict[str, Any] | None = None, **settings: Any) -> Job:
        row = Row(**{"k": 4, "verifier": "tiny", **(options or {})})
        return replace(
            tiny_job(**settings),
            label="train",
            family="aggressive",
            options=row.model_dump(),
            companions=dict.fromkeys(row.companions, trained / "checkpoint.pt"),
        )

    return job


@pytest.fixture(scope="module")
def shared(make: MakeJob, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a drafter that keeps its verifier's encoder."""
    out = tmp_path_factory.mktemp("shared")
    train(make({"encoder": "shared"}, **SHARED), out, {})
    return out


def test_the_command_says_what_is_trained(make: MakeJob) -> None:
    words = make(max_epochs=1).arguments()
    for option, value in {
        "--arch": "fastdecode_drafter",
        "--task": "fastdecode_drafter",
        "--family": "aggressive",
        "--block": "4",
        "--encoder-start": "initialised",
        "--glance-from": "0.5",
        "--glance-to": "0.3",
        "--activation-fn": "relu",
    }.items():
        assert words[words.index(option) + 1] == value
    assert not {"--encoder-learned-pos", "--no-scale-embedding"} & set(words)
    public = {"encoder": "random", "activation": "gelu", "positions": "learned"}
    words = make({**public, "scale_embeddings": False}, max_epochs=1).arguments()
    assert {"--encoder-learned-pos", "--decoder-learned-pos", "--no-scale-embedding"} <= set(words)
    assert "gelu" in words
    words = make({"kind": "blockwise", "verifier": None}, max_epochs=1).arguments()
    assert "fastdecode_blockwise" in words and "fastdecode" in words


def test_wide_drafters_begin_as_bert(make: MakeJob) -> None:
    job = make({"encoder": "random"}, max_epochs=1)
    assert "--no-bert-init" in job.arguments()
    wide = replace(job, architecture=replace(job.architecture, width=512))
    assert "--no-bert-init" not in wide.arguments()


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"activation": "gelu"}, "activation_fn is gelu here and relu there"),
        ({"positions": "learned"}, "encoder_learned_pos is True here and False there"),
        ({"scale_embeddings": False}, "no_scale_embedding is True here and False there"),
    ],
)
def test_an_encoder_of_another_kind_is_refused(
    make: MakeJob, options: dict[str, Any], key: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as error:
        train(make(options, max_epochs=1), tmp_path, {})
    assert str(error.value) == (
        f"train: its encoder begins as that of tiny, but {key}: make them equal, or set encoder: "
        "random"
    )
    make({**options, "encoder": "random"}, max_epochs=1).arguments()


@pytest.mark.parametrize(
    ("size", "key"),
    [
        ({"width": 32}, "encoder_embed_dim is 32 here and 16 there"),
        ({"ffn": 64}, "encoder_ffn_embed_dim is 64 here and 32 there"),
        ({"heads": 4}, "encoder_attention_heads is 4 here and 2 there"),
        ({"encoder_layers": 3}, "encoder_layers is 3 here and 1 there"),
        ({"prenorm": True}, "encoder_normalize_before is True here and False there"),
    ],
)
def test_an_encoder_of_another_size_is_refused(
    make: MakeJob, size: dict[str, Any], key: str
) -> None:
    job = make(max_epochs=1)
    with pytest.raises(UserError, match=f"begins as that of tiny, but {key}: make them equal"):
        replace(job, architecture=replace(job.architecture, **size)).arguments()


def test_an_encoder_of_another_vocabulary_is_refused(make: MakeJob) -> None:
    with pytest.raises(UserError, match="share_all_embeddings is False here and True there"):
        replace(make(max_epochs=1), joint=False).arguments()


def test_an_encoder_that_is_not_given_is_refused(make: MakeJob) -> None:
    with pytest.raises(UserError, match="begins as that of tiny: give its checkpoint"):
        replace(make(max_epochs=1), companions={}).arguments()


def test_a_shared_encoder_stays_the_verifiers(shared: Path, trained: Path, binarised: Path) -> None:
    ours, theirs = (load(folder / "checkpoint.pt")["model"] for folder in (shared, trained))
    encoder = [key for key in theirs if key.startswith("encoder.")]
    assert encoder and all(torch.equal(ours[key], theirs[key]) for key in encoder)
    assert not torch.equal(*(m["decoder.layers.0.fc1.weight"] for m in (ours, theirs)))
    state = load(shared / "checkpoint.pt")
    assert state["cfg"]["task"]["companions"] == ""  # no path is left in it
    lines = [line.split() for line in read_lines(binarised.with_name("valid.en"))]
    verifier = trained / "checkpoint.pt"
    companions = {"tiny": verifier}
    system = load_system([shared / "checkpoint.pt"], binarised, "cpu", "fp64", None, companions)
    greedy = load_system([verifier], binarised, "cpu", "fp64").decoder(
        "autoregressive", {"beam": 1, "engine": "fastdecode"}, " ".join
    )
    row = {"engine": "fastdecode", "encoders": "shared"}
    found = system.decoder("aggressive", row, " ".join)(lines)
    assert [t.tokens for t in found] == [t.tokens for t in greedy(lines)]


def test_a_killed_training_ends_like_an_undisturbed_one(
    make: MakeJob, shared: Path, tmp_path: Path
) -> None:
    kill_and_resume(make({"encoder": "shared"}, **SHARED), tmp_path, appears("checkpoint4.pt"))
    assert_same(tmp_path, shared)


def test_validation_is_by_the_drafter_alone(shared: Path) -> None:
    rows = list(csv.DictReader((shared / "curve.csv").open()))
    assert len(rows) == 8
    losses = [float(row["valid_loss"]) for row in rows]
    assert losses[-1] < losses[0]
    assert any(float(row["valid_bleu"]) > 0 for row in rows)


def test_a_blockwise_model_learns_to_look_ahead(
    make: MakeJob, binarised: Path, tmp_path: Path
) -> None:
    options = {"kind": "blockwise", "verifier": None}
    train(make(options, max_epochs=8, batch_tokens=256, lr=5e-3), tmp_path, {})
    system = load_system([tmp_path / "checkpoint.pt"], binarised, "cpu")
    sources, targets = (
        [line.split() for line in read_lines(binarised.with_name(f"valid.{language}"))]
        for language in ("en", "de")
    )
    for engine in ("eager", "fastdecode"):
        row = {"mode": "blockwise", "engine": engine}
        found = system.decoder("aggressive", row, " ".join)(sources)
        assert sum(t.passes for t in found) < 0.8 * sum(len(t.tokens) + 1 for t in found)
    losses = [cross_entropies(system, *pair) for pair in zip(sources, targets, strict=True)]
    for head in zip(*losses, strict=True):
        values = torch.cat(head)
        assert len(values) > 12
        assert values.mean() < math.log(len(system.target)) - 0.6  # 3.18 of any word alike


def cross_entropies(system: System, source: list[str], target: list[str]) -> list[Tensor]:
    """Return those of every head at each place that it looks ahead to."""
    (model,), eos = system.models, system.target.eos()
    ids = torch.tensor([[*map(system.source.index, source), eos]])
    words = torch.tensor([*map(system.target.index, target), eos])
    with torch.inference_mode():
        heads = model(ids, torch.tensor([ids.shape[1]]), words.roll(1)[None])
    pairs = [(logits[0, : max(0, len(words) - i)], words[i:]) for i, logits in enumerate(heads)]
    return [cross_entropy(logits, ahead, reduction="none") for logits, ahead in pairs]
