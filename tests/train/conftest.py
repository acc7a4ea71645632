"""Checkpoints as fairseq saves them, and programs in its place: without fairseq."""

import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from fastdecode.train import command
from fastdecode.train.checkpoints import save

State = dict[str, Any]


def fairseq_state(updates: int, valid: float = 0.0, weight: float = 1.0) -> State:
    """A checkpoint of a model with two tied matrices and a bias, all of the value `weight`."""
    matrix = torch.full((2, 3), weight)
    model = {"encoder.weight": matrix, "decoder.weight": matrix, "bias": torch.full((2,), weight)}
    meters = {
        "loss": {"sum": torch.tensor(30.0 * updates), "count": 10},
        "wps": {"n": 400.0},
        "infeasible": {"sum": 3},
        "train_wall": {"sum": 8.0},
        "lr": {"val": 0.25},
    }
    history = {"num_updates": updates, "lr_scheduler_state": {"best": valid}}
    return {
        "args": None,
        "cfg": {
            "checkpoint": {"save_dir": "/a/path", "keep": 1},
            "task": {"data": "/a/path", "source_lang": "en"},
            "common": {"user_dir": "/a/path", "log_file": None},
            "model": Namespace(save_dir="/a/path", arch="transformer"),
        },
        "model": {**model, "encoder.version": torch.tensor([3.0])},
        "optimizer_history": [{"num_updates": 1}] * updates + [history],
        "last_optimizer_state": {"state": torch.zeros(1000)},
        "extra_state": {
            "metrics": {"train": [(10, key, "Meter", meter) for key, meter in meters.items()]},
            "previous_training_time": 1.5 * updates,
            "train_iterator": {"epoch": 2, "iterations_in_epoch": 0},
            "val_loss": valid,
        },
    }


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., Path]:
    """Saves such a checkpoint in `tmp_path`."""

    def save_state(name: str, *values: Any, **named: Any) -> Path:
        save(fairseq_state(*values, **named), tmp_path / name)
        return tmp_path / name

    return save_state


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a Python program in the place of fairseq-train; `work` is where it saves."""

    def put(program: str) -> None:
        def words(_arguments: object, *folders: object) -> list[str]:
            setup = "import os, sys, time; from pathlib import Path; work = Path(sys.argv[1])"
            return [sys.executable, "-c", f"{setup}\n{program}", str(folders[-1])]

        monkeypatch.setattr(command, "fairseq_train", words)

    return put
