"""Where the time of a translation goes: a stopwatch that decoders press between their stages."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from fastdecode.translation import Translation


def _nothing() -> None:
    pass


class Stopwatch:
    """Adds up the seconds of named stages, lap by lap, so that they sum to the whole.

    `synchronise` waits for the device and is called before every reading of the clock. Waiting so
    often slows a GPU down, so there the stages are timed apart from the latency; `on=False` makes
    every call return at once.
    """

    def __init__(self, synchronise: Callable[[], None] = _nothing, on: bool = True):
        """Measure nothing yet: `start` comes first."""
        self.seconds: dict[str, float] = {}
        self._synchronise, self._on = synchronise, on
        self._last = 0.0

    def start(self) -> None:
        """Forget all laps and begin the first one."""
        self.seconds = {}
        if self._on:
            self._synchronise()
            self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Give `stage` the time since the last lap or start."""
        if self._on:
            self._synchronise()
            now = time.perf_counter()
            self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
            self._last = now

    def share(self, translations: Sequence[Translation]) -> list[Translation]:
        """Return the translations of one batch with the stages so far, an equal share to each."""
        stages = {stage: time / len(translations) for stage, time in self.seconds.items()}
        return [replace(translation, stages=dict(stages)) for translation in translations]
