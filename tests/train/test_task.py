"""What every task of this package does, whichever of fairseq's it comes from."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from fairseq.distributed import ModuleProxyWrapper
from fairseq.tasks import TASK_REGISTRY
from torch import nn

import fastdecode.plugin  # noqa: F401 - registers the tasks
from fastdecode.train.task import DecodesItself, _bare

TASKS = {name: kind for name, kind in TASK_REGISTRY.items() if name.startswith("fastdecode")}


def test_every_family_has_its_task_among_them() -> None:
    assert {"fastdecode", "fastdecode_dag", "fastdecode_parallel"} < set(TASKS)
    assert all(issubclass(kind, DecodesItself) for kind in TASKS.values())


@pytest.mark.parametrize("name", TASKS)
def test_the_model_is_told_before_every_update_which_it_is(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = TASKS[name]
    task: Any = kind.__new__(kind)
    task.cfg = SimpleNamespace(seed=1, glance_from=0.0, glance_to=0.0)
    monkeypatch.setattr(kind, "slots", Mock(), raising=False)
    told: list[int] = []
    model = Mock(set_num_updates=told.append)
    criterion = Mock(side_effect=lambda *_: (Mock(), 1, {"updates": list(told)}))
    for update in (0, 1, 8):
        log = task.train_step({"id": None}, model, criterion, Mock(), update)[2]
        assert log["updates"][-1] == update


def test_a_model_is_decoded_without_what_fairseq_wraps_around_it() -> None:
    model = nn.Linear(1, 1)
    wrapped = ModuleProxyWrapper(nn.DataParallel(model))  # as on several GPUs
    assert _bare(wrapped) is _bare(model) is model
