"""What is trained, and that it learns."""

import csv
from collections.abc import Callable
from pathlib import Path

import torch

from fastdecode.decode import load_system
from fastdecode.train.job import Job
from fastdecode.train.run import train
from tests.families.template.conftest import untrained


def test_the_model_sees_nothing_of_its_target() -> None:
    (model,) = untrained().models
    sources, lengths = torch.tensor([[5, 6, 2], [7, 2, 1]]), torch.tensor([3, 2])
    targets = torch.tensor([[2, 8, 9, 10], [2, 11, 1, 1]])
    others = torch.tensor([[2, 12, 4, 4], [2, 5, 1, 1]])  # as long
    one, other = (model(sources, lengths, seen)[0] for seen in (targets, others))
    assert torch.equal(one, other)
    assert not torch.equal(one[0, 0], one[0, 1])  # but where a slot stands


def test_a_training_learns_and_is_validated(
    blind_job: Callable[..., Job], tmp_path: Path, binarised: Path
) -> None:
    train(blind_job(max_epochs=6, lr=1e-2), tmp_path, {"system": "template"})
    with (tmp_path / "curve.csv").open() as file:
        first, *_, last = csv.DictReader(file)
    assert float(last["valid_loss"]) < float(first["valid_loss"]) - 0.1
    assert float(last["valid_bleu"]) >= 0
    system = load_system([tmp_path / "checkpoint.pt"], binarised, "cpu")
    assert len(system.decoder("template", {}, " ".join)([["one", "two"]])) == 1
