"""What every search that writes from step to step has; its steps, and others, can be recorded.

Of one sentence on a GPU a step takes less than to launch its kernels one by one. So it is recorded
once, as the decoder's passes are, and then repeated.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor

from fastdecode.stepping import Rules, Search
from fastdecode.system import System
from fastdecode.transformer import recording


class Growing(ABC):
    """The translations of B sentences while they grow; see Search.

    What changes from step to step is tensors, attributes each, and the slot. This is one, too,
    where steps are recorded.
    """

    done: Tensor
    """(B), true where a sentence needs no further step."""

    _tokens: Tensor
    """(B, …, T), T slots for each sentence or hypothesis."""

    def __init__(self, rules: Rules, limits: Tensor, recorded: "RecordedStep | None" = None):
        """Begin; `limits` (B) are the longest outputs, without the end.

        `recorded` takes the steps of one sentence, on a GPU; None: they are taken here.
        """
        self._rules, self._limits, self._first_limit = rules, limits, int(limits.min())
        self._recorded = recorded
        self.looks = recorded is None  # whether a step may wait for the device
        longest = int(limits.max()) + rules.size
        self._room = longest if recorded is None else recording.up(longest)  # T
        # the first of the next group
        self._slot: int | Tensor = 0 if recorded is None else limits.new_zeros(1)
        self._passes = torch.zeros_like(limits)
        self.done = torch.zeros_like(limits, dtype=torch.bool)

    @abstractmethod
    def step(self, logits: Tensor) -> tuple[Tensor, ...]:
        """Take one step here; return what the step that is recorded has to return."""

    def take(self, logits: Tensor) -> tuple[Tensor, ...]:
        """Take one step, here or recorded."""
        return self.step(logits) if self._recorded is None else self._recorded(self, logits)

    def forbid(self, logits: Tensor) -> None:
        """Put -inf into `logits` (B, …, size, V) at the tokens that may not come next.

        Those of single tokens may be (B, V).
        """
        if not isinstance(self._slot, int):
            self._rules.forbid_at(logits, self._places(), self._limits)
            return
        limits = self._limits, self._first_limit
        if self._rules.size == 1:  # as the next lines, without their view
            self._rules.forbid(logits, self._slot, *limits)
            return
        for place in range(self._rules.size):
            self._rules.forbid(logits.select(-2, place), self._slot + place, *limits)

    def write(self, tokens: Tensor, into: Tensor) -> None:
        """Put the next groups' `tokens` (…, size) in their place `into` (…, T)."""
        if not isinstance(self._slot, int):
            into.index_copy_(-1, self._places(), tokens)
        else:
            into[..., self._slot : self._slot + self._rules.size] = tokens

    def _places(self) -> Tensor:
        """Return the slots of the next group, (size), where the device alone knows them."""
        return self._slot + torch.arange(self._rules.size, device=self._limits.device)


class Stepping(Protocol):
    """What takes steps and consists of tensors: attributes that `step` changes."""

    @property
    def step(self) -> Callable[..., tuple[Tensor, ...]]:
        """Take one step here, with the tensors given."""


class RecordedStep:
    """The step of searches of one kind and the same rules, recorded once for each size.

    One such search goes on at a time: the next one takes over its tensors.
    """

    _steps: recording.Recorded[tuple[Tensor, ...]] | None = None
    _names: Sequence[str] = ()  # of the tensors that a search consists of

    def __init__(self, name: str = "a step of a search"):
        """Record steps, of which the log speaks by their `name`."""
        self._name = name

    def __call__(self, search: Stepping, *given: Tensor) -> tuple[Tensor, ...]:
        """Do what `search.step(*given)` does."""
        names = [name for name, value in vars(search).items() if torch.is_tensor(value)]
        if self._steps is None:
            self._names = names
            step = partial(_step, copy(search), names)
            self._steps = recording.Recorded(step, self._name)
        assert names == self._names  # in the same order, by which the state is found again
        found = self._steps(*given, *(vars(search)[name] for name in names))
        vars(search).update(zip(names, found, strict=False))
        return found[len(names) :]


def _step(search: Stepping, names: Sequence[str], *tensors: Tensor) -> Any:
    """Take a step of `search` with what is given, from the state behind it that has these `names`.

    Returns the new state, in the same tensors, so that the next step finds it in its place; and
    what the step returns.
    """
    given, state = tensors[: -len(names)], tensors[-len(names) :]
    vars(search).update(zip(names, state, strict=True))
    found = search.step(*given)
    for name, own in zip(names, state, strict=True):
        new = vars(search)[name]
        assert (new.shape, new.dtype) == (own.shape, own.dtype), name
        own.copy_(new)
    return *state, *found


def beginning_search(
    system: System, kind: Callable[..., Search]
) -> Callable[[Rules, Tensor], Search]:
    """Return how searches begin that are `kind` of Growing, with the model of `system`.

    That of one sentence on a GPU is recorded: with several to do a GPU is busy without this.
    """
    (model,) = system.models
    pays = recording.pays(model)

    def begin(rules: Rules, limits: Tensor) -> Search:
        if not pays or len(limits) > 1:
            return kind(rules, limits)
        return kind(rules, limits, system.share(f"steps of {kind} by {rules}", RecordedStep))

    return begin
