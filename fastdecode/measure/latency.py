"""How long translations take: the clock, which knows no device and no model.

What makes two timings comparable is here: all decoders in one process, interleaved, after a
warm-up, on the same lines; every raw sample is kept.
"""

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, cycle
from typing import NamedTuple

from fastdecode.errors import UserError
from fastdecode.measure.disturbance import Usage, read_usage
from fastdecode.progress import say, track
from fastdecode.translation import Translation

Decode = Callable[[Sequence[str]], list[Translation]]  # raw lines, translated as one batch


class DoesNotFit(Exception):
    """A batch needs more memory than there is; the message says what failed."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a timing early; of what was measured these are the repeats that all have."""

    def __init__(self, measured: "list[Series]"):
        """Take the series, without any where there is no whole repeat."""
        super().__init__()
        self.measured = measured


class Sample(NamedTuple):
    """One timed batch."""

    decoder: str
    batch: int  # sentences a batch; the last one may have fewer
    repeat: int
    line: int  # the first line of the batch, an index into the timed lines
    milliseconds: float
    sentences: int
    tokens: int  # produced, in BPE tokens
    passes: int  # of the decoder, for the whole batch


@dataclass
class Series:
    """What was measured of one decoder at one batch size."""

    decoder: str
    batch: int
    samples: list[Sample] = field(default_factory=list)
    laps: list[Counter[str]] = field(default_factory=list)  # seconds by stage, of every sample
    turns: list[tuple[Usage, Usage]] = field(default_factory=list)  # the machine at both ends
    stopped: str | None = None  # why this size does not fit; then the samples are incomplete

    @property
    def stages(self) -> Counter[str]:
        """Seconds by stage, summed over all samples; empty if no stages were timed."""
        total = Counter[str]()
        for laps in self.laps:
            total.update(laps)
        return total

    def first(self, repeats: int) -> "Series":
        """Return the same without what came after so many repeats."""
        kept = [i for i, sample in enumerate(self.samples) if sample.repeat < repeats]
        return Series(
            self.decoder,
            self.batch,
            [self.samples[i] for i in kept],
            [self.laps[i] for i in kept],
            self.turns[:repeats],
            self.stopped,
        )


def measure(
    decoders: Mapping[str, Decode],
    workload: Mapping[int, Sequence[Sequence[str]]],
    warmup: int,
    repeats: int,
    synchronise: Callable[[], None],
    clock: Callable[[], int] = time.perf_counter_ns,
    usage: Callable[[], Usage] = read_usage,
) -> list[Series]:
    """Time every decoder on every batch, `repeats` times, from the raw lines to the texts.

    `workload` has, by batch size, the same lines in batches; smaller sizes come first. At each size
    each decoder first translates at least `warmup` sentences untimed. Then a repeat gives each
    decoder in turn all the batches (A B C, A B C, …), so that a drift of the machine hits all
    alike; they do not take turns batch by batch, because each would find its weights driven out of
    the caches by the others, which no user would meet. For the same reason a turn begins with one
    untimed line. `synchronise` waits for the device and is called before every reading of `clock`
    (nanoseconds).

    A decoder that raises DoesNotFit is not given larger batches; what it did is kept.

    Raises UserError if there is nothing to time, and Interrupted, with what was measured, at
    Ctrl-C.
    """
    if not (decoders and workload and all(workload.values()) and repeats > 0):
        raise UserError(
            f"nothing to time: {len(decoders)} decoders, "
            f"{min(map(len, workload.values()), default=0)} batches, {repeats} repeats: "
            "each must be at least 1"
        )
    measured: list[Series] = []
    for size, batches in sorted(workload.items()):
        stopped = {series.decoder for series in measured if series.stopped}
        running = [Series(name, size) for name in decoders if name not in stopped]
        timed = chain.from_iterable(
            _turn(series, repeat, decoders[series.decoder], batches, synchronise, clock, usage)
            for repeat in range(repeats)
            for series in running
        )
        total = len(running) * repeats * len(batches)
        try:
            for series in running:
                with _stopping(series):
                    _warm_up(decoders[series.decoder], batches, warmup)
            with _collector_off():
                # `track` prints after the loop's body, that is, outside of the clock
                for _ in track(timed, f"latency, batch {size}", "batches", total):
                    pass
        except KeyboardInterrupt:
            raise Interrupted(measured + _whole_repeats(running)) from None
        measured += running
    return measured


def _whole_repeats(running: Sequence[Series]) -> list[Series]:
    """Return what was measured of each, as far as all are; nothing if that is not a repeat."""
    whole = min((len(series.turns) for series in running if not series.stopped), default=0)
    return [series.first(whole) for series in running] if whole else []


def _turn(
    series: Series,
    repeat: int,
    decode: Decode,
    batches: Sequence[Sequence[str]],
    synchronise: Callable[[], None],
    clock: Callable[[], int],
    usage: Callable[[], Usage],
) -> Iterator[Sample]:
    """Time all batches once; put the samples into the series and yield them.

    Garbage is collected before every batch, which bounds the memory. What is alive when the turn
    begins is frozen: a collection that walks through the models, or through thousands of samples,
    drives what a fast decoder needs out of the caches, and the more the longer a run has lasted.
    """
    if series.stopped:
        return
    with _stopping(series):
        gc.collect()
        gc.freeze()
        decode(batches[0][:1])
        before, line = usage(), 0
        for batch in batches:
            gc.collect()
            synchronise()
            start = clock()
            translations = decode(batch)
            synchronise()
            stop = clock()
            sample = Sample(
                decoder=series.decoder,
                batch=series.batch,
                repeat=repeat,
                line=line,
                milliseconds=(stop - start) / 1e6,
                sentences=len(batch),
                tokens=sum(len(translation.tokens) for translation in translations),
                passes=max(translation.passes for translation in translations),
            )
            series.samples.append(sample)
            series.laps.append(Counter())
            for translation in translations:
                series.laps[-1].update(translation.stages)
            line += len(batch)
            yield sample
        series.turns.append((before, usage()))


def _warm_up(decode: Decode, batches: Sequence[Sequence[str]], sentences: int) -> None:
    """Translate batches, beginning with the first, until there were so many sentences."""
    for batch in cycle(batches):
        if sentences <= 0:
            return
        decode(batch)
        sentences -= len(batch)


@contextmanager
def _stopping(series: Series) -> Iterator[None]:
    """Keep in `series` that its batches do not fit, if they do not."""
    try:
        yield
    except DoesNotFit as error:
        series.stopped = str(error)
        say("latency", f"{series.decoder}: no batches of {series.batch} and more: {error}")


@contextmanager
def _collector_off() -> Iterator[None]:
    """Keep the garbage collector out of timed code, and unfreeze what turns froze.

    A collection falls on whatever batch comes next and walks through the objects of all the models
    in the process, so that one decoder would pay for another's garbage.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()
