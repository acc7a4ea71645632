"""What the decoder sees in training: masks, slots and what glancing shows."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq.criterions.nat_loss import LabelSmoothedDualImitationCriterion
from torch import Tensor

from fastdecode.families.parallel.criterion import CtcCriterion
from fastdecode.families.parallel.task import ParallelConfig, ParallelTask
from fastdecode.glancing import dropout_of, to_reveal
from tests.families.parallel.conftest import untrained

BOS, PAD, EOS, UNK = range(4)


def task_of(binarised: Path, **options: Any) -> ParallelTask:
    config = ParallelConfig(data=str(binarised), source_lang="en", target_lang="de")
    config.dataset_impl, config.eval_bleu, config.seed = None, False, 1
    config.max_update, config.max_epoch = 100, 0
    for key, value in options.items():
        setattr(config, key, value)
    found = ParallelTask.setup_task(config)
    found.load_dataset("valid")
    return found


def batch_of(task: ParallelTask, numbers: list[int]) -> dict[str, Any]:
    data = task.dataset("valid")
    sample: dict[str, Any] = data.collater([data[i] for i in numbers])
    return sample


class Seen:
    """A criterion that keeps what it is given."""

    def __call__(self, model: Any, sample: dict[str, Any]) -> Any:
        self.slots: Tensor = sample["prev_target"]
        self.drawn = torch.rand(3)
        return self.drawn.sum(), 1, {}


class NoOptimizer:
    """Takes a loss and does nothing."""

    def backward(self, loss: Tensor) -> None:
        """See fairseq."""


class KeepsLoss:
    """An optimizer that learns nothing."""

    def backward(self, loss: Tensor) -> None:
        """See fairseq."""
        loss.backward()  # type: ignore[no-untyped-call]
        self.loss = float(loss.detach())


# Masks


def test_a_training_draws_anew_at_every_update_and_a_validation_never(binarised: Path) -> None:
    task = task_of(binarised, noise="random_mask")
    (model,) = untrained("cmlm").models
    batch = batch_of(task, list(range(8)))
    first, again, later = (task.slots(batch, model, update) for update in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, later)
    seen = Seen()
    task.valid_step(batch, model, seen)
    assert torch.equal(seen.slots, task.slots(batch, model, 0))


# Glancing


@dataclass(frozen=True)
class Training:
    """What glances: a task, a model whose dropout is on, its loss, and a batch."""

    task: ParallelTask
    model: Any
    loss: Any
    batch: dict[str, Any]


@pytest.fixture(params=["glat", "ctc"])
def training(
    request: pytest.FixtureRequest, binarised: Path, monkeypatch: pytest.MonkeyPatch
) -> Training:
    noise = {"glat": "full_mask", "ctc": "no_target"}[request.param]
    task = task_of(binarised, noise=noise, glance_from=0.5, glance_to=0.3)
    losses = {"glat": LabelSmoothedDualImitationCriterion(task, 0.1), "ctc": CtcCriterion(task)}
    model = in_training(request.param, monkeypatch)
    return Training(task, model, losses[request.param], batch_of(task, list(range(12))))


def in_training(kind: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A model whose dropout is on."""
    monkeypatch.setattr("fastdecode.measure.untrained.prepare", lambda *_: None)
    (model,) = untrained(kind, dropout=0.2).models
    return model


def test_a_part_of_what_is_wrong_is_shown(training: Training) -> None:
    task, model, batch = training.task, training.model, training.batch
    model.eval()  # no dropout: what is wrong is known
    batch["prev_target"] = blank = task.slots(batch, model, 50)
    inputs, target = batch["net_input"], batch["target"]
    answers, said = model.look(inputs["src_tokens"], inputs["src_lengths"], blank, target)
    wrong = ((said != answers) & (blank == UNK)).sum(1)
    assert wrong.min() > 1
    slots = task._glance(batch, model, 50, 0.4)
    shown = slots != blank
    assert shown.sum(1).tolist() == to_reveal(wrong, 0.4).tolist()
    assert torch.equal(slots[shown], answers[shown])
    assert not torch.equal(slots, task._glance(batch, model, 51, 0.4))


def test_a_glancing_step_repeats_whatever_the_random_state_is(training: Training) -> None:
    seen, steps = Seen(), []
    for state, update in ((1, 10), (2, 10), (3, 11)):
        torch.manual_seed(state)
        training.task.train_step(training.batch, training.model, seen, NoOptimizer(), update)
        steps.append((seen.slots, seen.drawn))
    first, again, later = steps
    assert torch.equal(first[0], again[0]) and torch.equal(first[1], again[1])
    assert not torch.equal(first[0], later[0]) and not torch.equal(first[1], later[1])
    assert training.task.glancing_ratio(50) == pytest.approx(0.4)


def test_the_ratio_and_the_dropout_of_both_passes_are_the_updates(
    training: Training, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, model = training.task, training.model
    glance, ratios, encoded = task._glance, [], []
    monkeypatch.setattr(task, "_glance", lambda *given: ratios.append(given[-1]) or glance(*given))
    model.encoder.register_forward_hook(lambda *call: encoded.append(call[-1]["encoder_out"][0]))
    for update in (10, 60):
        task.train_step(training.batch, model, training.loss, KeepsLoss(), update)
    first, second, other, _ = encoded
    assert ratios == [pytest.approx(0.48), pytest.approx(0.38)]
    assert torch.equal(first, second)
    assert not torch.equal(first, other)  # there is dropout


def test_a_glancing_step_learns_with_what_is_shown(training: Training) -> None:
    task, model, batch, optimizer = training.task, training.model, training.batch, KeepsLoss()
    _, size, _ = task.train_step(batch, model, training.loss, optimizer, 10)
    assert all(w.grad.isfinite().all() for w in model.parameters() if w.grad is not None)
    assert any(w.grad.any() for w in model.parameters() if w.grad is not None)
    with dropout_of(batch["id"], 1, 10):
        loss, again, _ = training.loss(model, batch)  # of the slots as they were shown
    assert optimizer.loss == pytest.approx(float(loss.detach()))
    assert size == again > 0
    batch["prev_target"] = task.slots(batch, model, 10)
    with dropout_of(batch["id"], 1, 10):
        assert training.loss(model, batch)[0] != loss


def test_without_a_ratio_nothing_is_shown(binarised: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task, seen = task_of(binarised, noise="no_target"), Seen()
    model = in_training("ctc", monkeypatch)
    task.train_step(batch_of(task, [1, 2]), model, seen, NoOptimizer(), 10)
    assert set(seen.slots.flatten().tolist()) <= {UNK, PAD}
