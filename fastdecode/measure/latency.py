"""How long a translation takes, one sentence at a time: the pure part, which knows no device.

What makes two timings comparable is here: all decoders in one process, interleaved, after a
warm-up, on the same lines; every raw sample is kept.
"""

import csv
import gc
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean, median, pstdev
from typing import Any, NamedTuple

import numpy as np

from fastdecode.errors import UserError
from fastdecode.files import open_to_write, write_json
from fastdecode.progress import track
from fastdecode.translation import Translation

DISTURBED = 0.1  # the share by which the medians of repeats may differ on a quiet machine


class Sample(NamedTuple):
    """One timed translation."""

    decoder: str
    repeat: int
    line: int  # index into the timed lines
    milliseconds: float
    tokens: int  # produced, in BPE tokens
    passes: int


def measure(
    decoders: Mapping[str, Callable[[str], Translation]],
    lines: Sequence[str],
    warmup: int,
    repeats: int,
    synchronise: Callable[[], None],
    clock: Callable[[], int] = time.perf_counter_ns,
) -> list[Sample]:
    """Time every decoder on every line, `repeats` times, from the raw line to the text.

    First each decoder translates `warmup` lines untimed. Then a repeat gives each decoder in turn
    all the lines (A B C, A B C, …), so that a drift of the machine hits all alike; they do not take
    turns line by line, because each would find its weights driven out of the caches by the others,
    which no user would meet. For the same reason a turn begins with one untimed line.
    `synchronise` waits for the device and is called before every reading of `clock` (nanoseconds).

    Raises UserError if there is nothing to time.
    """
    if not (decoders and lines and repeats > 0):
        raise UserError(
            f"nothing to time: {len(decoders)} decoders, {len(lines)} lines, {repeats} repeats: "
            "each must be at least 1"
        )
    for decode in decoders.values():
        for number in range(warmup):
            decode(lines[number % len(lines)])

    schedule = [
        (repeat, name, index)
        for repeat in range(repeats)
        for name in decoders
        for index in range(len(lines))
    ]
    samples = []
    with _collecting_between() as collect:
        # `track` prints after the loop's body, that is, outside of the clock
        for repeat, name, index in track(schedule, "latency", "sentences", len(schedule)):
            decode = decoders[name]
            if index == 0:
                decode(lines[0])
            collect()
            synchronise()
            start = clock()
            translation = decode(lines[index])
            synchronise()
            stop = clock()
            samples.append(
                Sample(
                    decoder=name,
                    repeat=repeat,
                    line=index,
                    milliseconds=(stop - start) / 1e6,
                    tokens=len(translation.tokens),
                    passes=translation.passes,
                )
            )
    return samples


def summarise(samples: Sequence[float]) -> dict[str, float]:
    """Return mean, median, p90, p99, sd (in the unit of `samples`) and n.

    Percentiles are interpolated; sd is the population's, so that one sample has 0.
    """
    if not samples:
        raise UserError("no timings to summarise")
    p90, p99 = np.percentile(samples, [90, 99])
    return {
        "mean": fmean(samples),
        "median": median(samples),
        "p90": float(p90),
        "p99": float(p99),
        "sd": pstdev(samples),
        "n": len(samples),
    }


def summarise_decoder(samples: Sequence[Sample]) -> dict[str, Any]:
    """Return the summary of one decoder's samples, times in milliseconds.

    Beside those of `summarise` it has "tokens" and "passes" (means a sentence), "repeat_medians",
    and "disturbed": whether these medians differ by more than 10%, so that something else than the
    decoder was at work on the machine.
    """
    by_repeat: dict[int, list[float]] = defaultdict(list)
    for sample in samples:
        by_repeat[sample.repeat].append(sample.milliseconds)
    medians = [median(by_repeat[repeat]) for repeat in sorted(by_repeat)]
    return {
        **summarise([sample.milliseconds for sample in samples]),
        "tokens": fmean(sample.tokens for sample in samples),
        "passes": fmean(sample.passes for sample in samples),
        "repeat_medians": medians,
        "disturbed": max(medians) > (1 + DISTURBED) * min(medians),
    }


def write_latency(
    path: Path,
    samples_path: Path,
    provenance: Mapping[str, Any],
    timed: Mapping[str, Mapping[str, Any]],
    samples: Sequence[Sample],
) -> None:
    """Write the summaries as JSON to `path` and every raw sample as CSV to `samples_path`.

    `timed` says what stands behind each decoder name of the samples: system, target, decoder, seed.
    The JSON is `{"provenance": {…}, "samples": file name, "rows": [{name, system, target, decoder,
    seed, and what summarise_decoder returns}]}`; the columns of the CSV are the fields of Sample.
    """
    rows = [
        {
            "name": name,
            **labels,
            **summarise_decoder([sample for sample in samples if sample.decoder == name]),
        }
        for name, labels in timed.items()
    ]
    with open_to_write(samples_path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Sample._fields)
        writer.writerows(samples)
    write_json(path, {"provenance": provenance, "samples": samples_path.name, "rows": rows})


def stratified_sample(lengths: Sequence[int], count: int) -> list[int]:
    """Choose `count` lines whose lengths are spread as those of all lines; return their indices.

    The lines, sorted by length, are cut into `count` parts of equal size, and each part gives its
    middle line: no chance is involved. All lines are chosen if there are no more than `count`.
    """
    if count < 1:
        raise UserError(f"a sample of {count} lines: at least one is needed")
    if not lengths:
        raise UserError("no lines to take a sample of: the test set is empty")
    order = sorted(range(len(lengths)), key=lambda index: (lengths[index], index))
    count = min(count, len(order))
    return sorted(order[(2 * part + 1) * len(order) // (2 * count)] for part in range(count))


@contextmanager
def _collecting_between() -> Iterator[Callable[[], Any]]:
    """Keep the garbage collector out of timed code; yield a call that collects between sentences.

    A collection falls on whatever sentence comes next and walks through the objects of all the
    models in the process, so that one decoder would pay for another's garbage. What is alive now
    is frozen, which makes the collections in between short, and they bound the memory.
    """
    enabled = gc.isenabled()
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield gc.collect
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()
