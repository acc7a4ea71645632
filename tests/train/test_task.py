"""What every task of this package does, whichever of fairseq's it comes from."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from fairseq.data import Dictionary
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


def validating() -> tuple[Any, Any]:
    """A task whose decoder turns sentences round, and that decoder."""
    task: Any = TASKS["fastdecode"].__new__(TASKS["fastdecode"])
    task.src_dict = task.tgt_dict = Dictionary()
    for word in "abc":
        task.src_dict.add_symbol(word)
    decoder = Mock(side_effect=lambda batch: [Mock(tokens=words[::-1]) for words in batch])
    task._decoder = decoder
    return task, decoder


def test_an_empty_source_is_not_decoded() -> None:
    task, decoder = validating()
    pad, eos = task.src_dict.pad(), task.src_dict.eos()
    a, b, c = map(task.src_dict.index, "abc")
    rows = [[pad, pad, pad, eos], [pad, a, b, eos], [pad, pad, c, eos], [pad, pad, pad, eos]]
    found = task.inference_step({}, [], {"net_input": {"src_tokens": torch.tensor(rows)}})
    decoder.assert_called_once_with([["a", "b"], ["c"]])
    assert [[one["tokens"].tolist() for one in many] for many in found] == [
        [[eos]],
        [[b, a, eos]],
        [[c, eos]],
        [[eos]],
    ]
    found = task.inference_step({}, [], {"net_input": {"src_tokens": torch.tensor(rows[:1])}})
    assert found[0][0]["tokens"].tolist() == [eos]
    decoder.assert_called_once()


@pytest.mark.parametrize("name", TASKS)
def test_the_decoder_of_a_validation_does_not_outlive_the_next_update(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = TASKS[name]
    task: Any = kind.__new__(kind)
    task.cfg = SimpleNamespace(seed=1, glance_from=0.0, glance_to=0.0)
    task._decoder = Mock()
    monkeypatch.setattr(kind, "slots", Mock(), raising=False)
    task.train_step({"id": None}, Mock(), Mock(side_effect=lambda *_: (Mock(), 1, {})), Mock(), 1)
    assert task._decoder is None


def test_a_model_is_decoded_without_what_fairseq_wraps_around_it() -> None:
    model = nn.Linear(1, 1)
    wrapped = ModuleProxyWrapper(nn.DataParallel(model))  # as on several GPUs
    assert _bare(wrapped) is _bare(model) is model
