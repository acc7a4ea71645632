"""What the raw samples of a timing come to, and the files in which both are kept."""

import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median, pstdev
from typing import Any

import numpy as np

from fastdecode.errors import UserError
from fastdecode.files import open_to_write, write_json
from fastdecode.measure.disturbance import cores_of_others, disturbances
from fastdecode.measure.latency import Sample, Series
from fastdecode.transformer.weights import Layers

UNACCOUNTED = "unaccounted"  # what stages leave over of the whole
STAGE_KEYS = ("decoder", "batch", "repeat", "line", "tokens")  # of a sample
NOTES = {
    "times": f"milliseconds of a batch; stages: milliseconds a sentence, '{UNACCOUNTED}' being "
    "what they leave over of the whole",
    "floor_fraction": "the time in which memory could deliver the weights of all passes, as a "
    "share of the mean: above 1 where weights stay in the caches",
    "serial_layers": "layers that wait for one another, of the encoder and all passes",
}


@dataclass(frozen=True)
class Timings:
    """Several decoders timed side by side."""

    lines: list[int]  # of the test set, in the order in which they were timed
    warmup: int  # sentences that each decoder translated before
    left_out: list[int]  # batch sizes that so few lines do not fill
    labels: dict[str, dict[str, Any]]  # by decoder: target, …, and its costs
    measured: list[Series]
    staged: list[Series]  # where the stages come from: may be `measured` itself
    interrupted: bool = False  # by Ctrl-C: not all repeats, or not all sizes, are there


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


def summarise_series(series: Series, warmup: int) -> dict[str, Any]:
    """Return the summary of one decoder at one batch size, times in milliseconds a batch.

    Beside those of `summarise` it has "tokens" (mean a sentence), "passes" (mean a batch),
    "repeat_medians", "others" (cores that other processes used meanwhile; None where the machine
    does not tell), and "disturbed" with "disturbances", the reasons.
    """
    samples = series.samples
    medians = [median(s.milliseconds for s in repeat) for repeat in _by_repeat(samples)]
    summary = summarise([sample.milliseconds for sample in samples])
    others = cores_of_others(series.turns)
    found = disturbances(medians, others, warmup)
    return {
        **summary,
        "tokens": sum(s.tokens for s in samples) / sum(s.sentences for s in samples),
        "passes": fmean(sample.passes for sample in samples),
        "repeat_medians": medians,
        "others": others,
        "disturbed": bool(found),
        "disturbances": found,
    }


def throughput(samples: Sequence[Sample]) -> dict[str, float]:
    """Return sentences and tokens a second: the median over repeats, each as a whole."""
    repeats = _by_repeat(samples)
    seconds = [sum(sample.milliseconds for sample in repeat) / 1e3 for repeat in repeats]
    return {
        f"{unit}_per_second": median(
            sum(getattr(sample, unit) for sample in repeat) / time
            for repeat, time in zip(repeats, seconds, strict=True)
        )
        for unit in ("sentences", "tokens")
    }


def stage_times(series: Series) -> dict[str, float]:
    """Return mean milliseconds a sentence by stage; with "unaccounted" they sum to the whole.

    Empty if no stages were timed.
    """
    stages = series.stages
    if not stages:
        return {}
    sentences = sum(sample.sentences for sample in series.samples)
    times = {stage: 1e3 * time / sentences for stage, time in stages.items()}
    whole = sum(sample.milliseconds for sample in series.samples) / sentences
    return {**times, UNACCOUNTED: whole - sum(times.values())}


def write_latency(
    path: Path,
    samples_path: Path,
    stages_path: Path,
    provenance: Mapping[str, Any],
    timings: Timings,
    bandwidth: float,
) -> dict[str, Any]:
    """Write and return latency_document as JSON, and the raw samples and stages as CSV.

    The columns of `samples_path` are the fields of Sample; `stages_path` has the milliseconds that
    each timed batch spent in each stage, and those that they leave over.
    """
    document = latency_document(provenance, timings, bandwidth, samples_path.name)
    with open_to_write(samples_path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Sample._fields)
        writer.writerows(sample for series in timings.measured for sample in series.samples)
    _write_stages(stages_path, timings.staged)
    write_json(path, document)
    return document


def latency_document(
    provenance: Mapping[str, Any], timings: Timings, bandwidth: float, samples: str
) -> dict[str, Any]:
    """Return the summaries of timings; `bandwidth` is that of the device's memory in GB/s.

    It is `{"provenance", "notes", "bandwidth", "samples": name of their file, "rows": [{name, its
    labels, what summarise_series returns, floor_fraction, serial_layers, in Smax what throughput
    returns, stages, and stages_disturbed, of the repeats in which they were timed}], "left_out":
    [{name, batch, reason, its labels}]}`, where a name of null, without labels, stands for all
    decoders.
    """
    staged = {(series.decoder, series.batch): series for series in timings.staged}
    rows: list[dict[str, Any]] = []
    left_out: list[dict[str, Any]] = [
        {"name": None, "batch": size, "reason": "the lines do not fill it"}
        for size in timings.left_out
    ]
    for series in timings.measured:
        key: dict[str, Any] = {"name": series.decoder, "batch": series.batch}
        if series.stopped:
            labels = timings.labels[series.decoder]
            left_out.append({**key, **labels, "reason": series.stopped})
            continue
        row = {**key, **timings.labels[series.decoder], **summarise_series(series, timings.warmup)}
        row["floor_fraction"] = floor(row, bandwidth) / row["mean"]  # passes are a mean, too
        layers = Layers(row["layers_once"], row["layers_per_pass"])
        row["serial_layers"] = layers.of(row["passes"])
        if provenance["scenario"] == "Smax":
            row |= throughput(series.samples)
        rows.append({**row, **_stages(staged.get((series.decoder, series.batch)), timings.warmup)})
    return {
        "provenance": provenance,
        "notes": NOTES,
        "bandwidth": bandwidth,
        "samples": samples,
        "rows": rows,
        "left_out": left_out,
    }


def _stages(staged: Series | None, warmup: int) -> dict[str, Any]:
    times = stage_times(staged) if staged else {}
    disturbed = summarise_series(staged, warmup)["disturbed"] if staged and times else False
    return {"stages": times, "stages_disturbed": disturbed}


def _write_stages(path: Path, staged: Sequence[Series]) -> None:
    with open_to_write(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*STAGE_KEYS, "stage", "milliseconds"])
        for series in staged:
            for sample, laps in zip(series.samples, series.laps, strict=True):
                key = [getattr(sample, name) for name in STAGE_KEYS]
                times = {stage: 1e3 * time for stage, time in laps.items()}
                if times:
                    times[UNACCOUNTED] = sample.milliseconds - sum(times.values())
                writer.writerows([*key, *one] for one in times.items())


def floor(row: Mapping[str, Any], bandwidth: float) -> float:
    """Return the milliseconds in which memory (GB/s) delivers the weights of all passes."""
    return float(row["bytes_per_pass"] * row["passes"] / (bandwidth * 1e6))


def _by_repeat(samples: Sequence[Sample]) -> list[list[Sample]]:
    by_repeat: dict[int, list[Sample]] = defaultdict(list)
    for sample in samples:
        by_repeat[sample.repeat].append(sample)
    return [by_repeat[repeat] for repeat in sorted(by_repeat)]
