"""Checkpoints keep the CPU time of the process that saved them."""

import time
from typing import Any

import pytest

from fastdecode.train import cpu_time
from fastdecode.train.cpu_time import keep_cpu_time


class Trainer:
    """What fairseq's saves, as far as it counts here."""

    def state_dict(self) -> dict[str, Any]:
        return {"extra_state": {"previous_training_time": 2.0}}


@pytest.fixture
def trainer() -> Any:
    return type("Trainer", (Trainer,), {})


def test_a_process_keeps_its_own_time(trainer: Any) -> None:
    keep_cpu_time(trainer)
    began = time.process_time()
    while time.process_time() < began + 0.02:
        pass
    first, second = (trainer().state_dict()["extra_state"] for _ in range(2))
    assert first["previous_training_time"] == 2.0
    assert 0.02 <= first["cpu_seconds"] <= second["cpu_seconds"] < 10
    assert first["process"] == second["process"] == pytest.approx(time.time(), abs=60)


def test_sleep_is_no_cpu_time(trainer: Any) -> None:
    keep_cpu_time(trainer)
    time.sleep(0.1)
    assert trainer().state_dict()["extra_state"]["cpu_seconds"] < 0.05


def test_one_of_several_processes_keeps_none(trainer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_time, "get_global_world_size", lambda: 2)
    keep_cpu_time(trainer)
    assert trainer().state_dict()["extra_state"].keys() == {"previous_training_time"}
