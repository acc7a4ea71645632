"""Glancing (Qian et al. 2021): a model in training is shown some of what it got wrong.

A first pass without gradients counts what a model gets wrong; a second, which learns, sees a part
of the answers, the more the more was wrong. What counts as wrong, what may be shown and what is
learned differ from family to family; here is what they share:

    with dropout_of(ids, seed, update), torch.no_grad():
        wrong = ...                                      # (B), after a pass that sees nothing
    counts = to_reveal(wrong, task.glancing_ratio(update))
    shown = reveal(counts, candidates, ids, seed, update)  # (B, T)
    with dropout_of(ids, seed, update):
        loss = ...                                       # of a pass that sees what is shown

Nothing is drawn from the global random state: a resumed training glances at the same words.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from typing import Any

import torch
from omegaconf import II
from torch import Tensor

from fastdecode.train.draws import keyed_seed, keyed_uniforms
from fastdecode.train.task import DecodingConfig


@dataclass(frozen=True)
class Schedule:
    """A ratio that goes in a line from `start` to `end` and stays there."""

    start: float
    end: float
    over: float = 1.0
    """The part of the training in which it gets there."""

    def at(self, progress: float) -> float:
        """Return the ratio when `progress`, 0 to 1, of the training is done."""
        way = min(progress / self.over, 1.0)
        return self.start + (self.end - self.start) * way


def to_reveal(wrong: Tensor, ratio: float, plus: float = 0.0) -> Tensor:
    """Return how many to reveal (B) where `wrong` (B) are: int(wrong · ratio + plus)."""
    return (wrong.double() * ratio + plus).long()


def reveal(counts: Tensor, candidates: Tensor, ids: Tensor, seed: int, update: int) -> Tensor:
    """Draw `counts[b]` of the places where `candidates` (B, T) is true; all if they are fewer.

    Returns (B, T), true where something is revealed. The draw depends on seed, update and the
    sentence's id in `ids` (B) alone: not on the batch, and not on padding behind the sentence.
    """
    draws = keyed_uniforms(ids, candidates.shape[1], seed, update)
    return lowest(draws, candidates, counts)


def lowest(values: Tensor, candidates: Tensor, counts: Tensor) -> Tensor:
    """Return (B, T), true at the `counts[b]` lowest of `values` (B, T) where `candidates` is true.

    Those are all of them if they are fewer; of equal values the first ones.
    """
    order = values.masked_fill(~candidates, inf).argsort(dim=1, stable=True)
    return (order.argsort(dim=1) < counts[:, None]) & candidates


@contextmanager
def dropout_of(ids: Tensor, seed: int, update: int) -> Iterator[None]:
    """Run with the random state of (seed, update, first of the sentences `ids`).

    Two passes over one batch, each within this, drop the same units out, if they draw in the same
    order. The state outside goes on as if nothing had been drawn.
    """
    devices = [ids.device] if ids.is_cuda else []
    with torch.random.fork_rng(devices):
        torch.manual_seed(keyed_seed(int(ids[0]), seed, update))
        yield


@dataclass
class GlancingConfig(DecodingConfig):
    """Options of a task that glances; the ratio is a schedule's."""

    glance_from: float = field(default=0.0, metadata={"help": "ratio revealed at the beginning"})
    glance_to: float = field(default=0.0, metadata={"help": "ratio revealed in the end"})
    glance_over: float = field(default=1.0, metadata={"help": "part of the training in between"})
    seed: int = II("common.seed")
    max_update: int = II("optimization.max_update")
    max_epoch: int = II("optimization.max_epoch")
    update_freq: list[int] = II("optimization.update_freq")  # noqa: RUF009


class Glances:
    """What a task inherits, before fairseq's, to know the ratio at any update.

    The end of a training that counts epochs is known once its batches are: an epoch has as many of
    them as any other, since they are filled in the order of their lengths. Where a training may
    also end after some updates, the earlier end counts. Early stopping does not: the schedule is
    that of the training as planned.
    """

    cfg: Any
    datasets: dict[str, Any]
    _updates_per_epoch: int | None = None

    def get_batch_iterator(self, dataset: Any, *arguments: Any, **named: Any) -> Any:
        """See fairseq; the batches of the training set are counted."""
        iterator = super().get_batch_iterator(dataset, *arguments, **named)  # type: ignore[misc]
        if dataset is self.datasets.get(self.cfg.train_subset):
            self._updates_per_epoch = -(-len(iterator) // self.cfg.update_freq[0])
        return iterator

    @property
    def glances(self) -> bool:
        """Whether anything is ever revealed."""
        return bool(self.cfg.glance_from or self.cfg.glance_to)

    @property
    def total_updates(self) -> int:
        """How many updates the training has as planned. Raises ValueError if it does not train."""
        ends: list[int] = [self.cfg.max_update] if self.cfg.max_update else []
        if self.cfg.max_epoch and self._updates_per_epoch:
            ends.append(self.cfg.max_epoch * self._updates_per_epoch)
        if not ends:
            raise ValueError("no end of the training is known: there are no batches yet")
        return min(ends)

    def glancing_ratio(self, update: int) -> float:
        """Return the ratio when `update` updates are done."""
        schedule = Schedule(self.cfg.glance_from, self.cfg.glance_to, self.cfg.glance_over)
        return schedule.at(update / self.total_updates)
