"""What is trained: blocks that begin anywhere, drawn for each sentence and update."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from fastdecode.config.models import Architecture
from fastdecode.corpus.align import align
from fastdecode.families.lattice.criterion import MarkovCriterion
from fastdecode.families.lattice.model import LatticeModel
from fastdecode.families.lattice.rows import System as Row
from fastdecode.families.lattice.tables import build
from fastdecode.files import write_lines
from fastdecode.measure.untrained import untrained_system
from fastdecode.train.job import Job
from fastdecode.train.run import train
from tests.train.trainings import appears, assert_same, kill_and_resume

EOS = 2
IDS = torch.arange(40)
SOURCE = torch.tensor([[5, 9, 4, 7, EOS]]).repeat(len(IDS), 1)
TARGET = torch.tensor([[6, 8, 5, EOS]]).repeat(len(IDS), 1)
SAMPLE: dict[str, Any] = {
    "id": IDS,
    "ntokens": TARGET.numel(),
    "net_input": {
        "src_tokens": SOURCE,
        "src_lengths": torch.full((len(IDS),), 5),
        "prev_output_tokens": TARGET.roll(1, 1),
    },
    "target": TARGET,
}


@pytest.fixture
def model() -> Any:
    size = Architecture(8, 12, 2, 1, 1)
    (found,) = untrained_system(size, 20, kind=LatticeModel, orders=3).models
    return found


def offsets_of(model: Any, update: int, rows: Tensor = IDS) -> Tensor:
    """Return where the criterion lets the blocks of these sentences begin."""
    seen: list[Tensor] = []

    def note(_: Any, __: Any, named: dict[str, Any]) -> None:
        seen.append(named["offsets"])

    hook = model.register_forward_pre_hook(note, with_kwargs=True)
    words = untrained_system(Architecture(8, 12, 2, 1, 1), 20).target
    task = SimpleNamespace(target_dictionary=words)
    loss = MarkovCriterion(task, False, 0.1, 0, False, seed=1)
    model.set_num_updates(update)
    net_input = {name: value[rows] for name, value in SAMPLE["net_input"].items()}
    targets = SAMPLE["target"][rows]
    sample = {"id": rows, "ntokens": targets.numel(), "net_input": net_input, "target": targets}
    assert loss(model, sample)[0].isfinite()
    hook.remove()
    (found,) = seen
    return found


def test_blocks_begin_anywhere_in_training(model: Any) -> None:
    model.training = True
    first, second = offsets_of(model, 0), offsets_of(model, 1)
    assert set(first.tolist()) == set(second.tolist()) == {0, 1, 2}
    assert not torch.equal(first, second)
    assert torch.equal(offsets_of(model, 0), first)  # as in a training that is resumed
    some = torch.tensor([7, 3, 20])
    assert torch.equal(offsets_of(model, 0, some), first[some])  # whatever the batch


def test_blocks_begin_at_the_start_in_validation(model: Any) -> None:
    model.training = False
    assert not offsets_of(model, 5).any()


def test_a_training_is_validated_with_its_tables_and_resumed(
    tiny_job: Callable[..., Job], binarised: Path, tmp_path: Path
) -> None:
    """There are fewer words than the 64 candidates of the paper."""
    text = binarised.with_name("train.en"), binarised.with_name("train.de")
    align(*text, tmp_path / "align")
    links = tmp_path / "align" / "symmetrised.gz"
    dictionaries = binarised / "dict.en.txt", binarised / "dict.de.txt"
    build(*text, links, dictionaries, tmp_path / "counts", {})
    row, assets = Row().model_dump(), tmp_path / "counts"
    job = replace(tiny_job(max_epochs=2), family="lattice", options=row, assets=assets)
    train(job, tmp_path / "out", {})
    with (tmp_path / "out" / "curve.csv").open() as file:
        first, last = csv.DictReader(file)
    assert float(last["valid_loss"]) < float(first["valid_loss"])
    assert float(last["valid_bleu"]) > 0
    kill_and_resume(job, tmp_path / "killed", appears("checkpoint1.pt"))
    assert_same(tmp_path / "killed", tmp_path / "out")


def test_the_command_says_what_is_trained(tiny_job: Callable[..., Job]) -> None:
    job = replace(tiny_job(max_epochs=1), family="lattice", options=Row().model_dump())
    words = job.arguments()
    for option, value in {
        "--arch": "fastdecode_lattice",
        "--task": "fastdecode",
        "--family": "lattice",
        "--criterion": "fastdecode_markov",
        "--orders": "3",
        "--eval-bleu-args": '{"k": 20, "delta": 3}',  # as many as there are
    }.items():
        assert words[words.index(option) + 1] == value


def test_a_large_dictionary_is_validated_as_in_the_paper(
    tiny_job: Callable[..., Job], tmp_path: Path
) -> None:
    write_lines(tmp_path / "dict.de.txt", (f"w{number} 1" for number in range(65)))
    job = replace(tiny_job(tmp_path, max_epochs=1), family="lattice", options=Row().model_dump())
    assert '{"k": 64, "delta": 3}' in job.arguments()
