"""What is trained, on what, and how it is validated."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq import checkpoint_utils

from fastdecode.decode import load_system
from fastdecode.families.dag.rows import System as Row
from fastdecode.train.job import Job
from fastdecode.train.run import train
from tests.families.dag.learners import begun
from tests.train.trainings import appears, assert_same, kill_and_resume

SETTINGS: dict[str, Any] = {"max_epochs": 6, "lr": 1e-2}


@pytest.fixture(scope="session")
def graph_job(tiny_job: Callable[..., Job]) -> Callable[..., Job]:
    """Makes jobs that train a tiny model of this family."""

    def make(options: dict[str, Any] | None = None, **settings: Any) -> Job:
        row = Row(factor=3, **(options or {})).model_dump()
        return replace(tiny_job(**settings), label="tiny-dag", family="dag", options=row)

    return make


@pytest.fixture(scope="module")
def trained_graphs(graph_job: Callable[..., Job], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dag")
    train(graph_job(**SETTINGS), out, {"system": "dag"})
    return out


@pytest.mark.parametrize("links", ["softmax", "gated"])
def test_wide_models_begin_as_bert_but_for_the_positions_of_vertices(
    graph_job: Callable[..., Job], links: str
) -> None:
    job = graph_job(max_epochs=1)
    assert "--apply-bert-init" not in job.arguments()
    wide = replace(job, architecture=replace(job.architecture, width=512))
    assert "--apply-bert-init" in wide.arguments()
    plain, as_bert = (begun(links, choice) for choice in (False, True))
    for side in ("encoder", "decoder"):
        weight = getattr(as_bert, side).layers[0].fc1.weight
        assert float(weight.std()) == pytest.approx(0.02, rel=0.2)
        assert not getattr(as_bert, side).layers[0].fc1.bias.any()
        assert getattr(plain, side).layers[0].fc1.weight.std() > 0.1
    for kernel in (one for one in as_bert.decoder.links.parameters() if one.dim() == 2):
        assert float(kernel.std()) == pytest.approx(0.02, rel=0.3)
    positions = [model.decoder.embed_positions.weight for model in (plain, as_bert)]
    assert torch.equal(*positions) and positions[0].std() > 0.5


def test_the_command_says_what_is_trained(graph_job: Callable[..., Job]) -> None:
    words = graph_job(max_epochs=1).arguments()
    for option, value in {
        "--arch": "fastdecode_dag",
        "--task": "fastdecode_dag",
        "--criterion": "fastdecode_dag",
        "--family": "dag",
        "--graph-factor": "3.0",
        "--links": "softmax",
        "--marginalise": "sum",
        "--glancing": "adaptive",
        "--glance-from": "0.5",
        "--glance-to": "0.1",
        "--glance-over": str(200_000 / 300_000),
        "--eval-bleu-args": '{"search": "lookahead", "engine": "fastdecode"}',
    }.items():
        assert words[words.index(option) + 1] == value
    assert not {"--force-emission", "--divide-by-length"} & set(words)
    other = graph_job({"force_emission": True, "divide_by_length": True}, max_epochs=1).arguments()
    assert {"--force-emission", "--divide-by-length"} <= set(other)


def test_a_training_learns_and_is_validated(trained_graphs: Path, binarised: Path) -> None:
    with (trained_graphs / "curve.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    for column in ("valid_loss", "valid_nll_loss", "train_loss"):
        assert float(rows[-1][column]) < float(rows[0][column])
    assert float(rows[-1]["valid_bleu"]) > 0
    assert {(row["train_infeasible"], row["train_recomputed"]) for row in rows} == {("0", "0")}
    system = load_system([trained_graphs / "checkpoint.pt"], binarised, "cpu")
    (translation,) = system.decoder("dag", {}, " ".join)([["one", "two", "three"]])
    assert translation.tokens


def test_a_killed_training_ends_like_an_undisturbed_one(
    graph_job: Callable[..., Job], trained_graphs: Path, tmp_path: Path
) -> None:
    kill_and_resume(graph_job(**SETTINGS), tmp_path, appears("checkpoint3.pt"))
    assert_same(tmp_path, trained_graphs)


def test_two_processes_validate_graphs(graph_job: Callable[..., Job], tmp_path: Path) -> None:
    train(graph_job(max_epochs=1, gpus=2), tmp_path, {})  # the model is wrapped
    assert (tmp_path / "checkpoint.pt").exists()


def test_a_checkpoint_is_the_model_that_was_trained(trained_graphs: Path, binarised: Path) -> None:
    (model,), config, _ = checkpoint_utils.load_model_ensemble_and_task(
        [str(trained_graphs / "checkpoint.pt")], arg_overrides={"data": str(binarised)}
    )
    assert model.decoder.factor == 3
    assert config.model.activation_fn == "gelu"
    assert model.decoder.layers[0].activation_fn.__name__ == "gelu"
    assert isinstance(model.decoder.embed_positions, torch.nn.Embedding)  # learned
