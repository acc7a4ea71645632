"""All measurements of a run in one table, one value a row, from which tables and figures come."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from fastdecode.errors import UserError
from fastdecode.files import read_json
from fastdecode.measure.agreement import apart
from fastdecode.report.sheet import Sheet

MODEL = ("dataset", "target", "system", "seed")  # what names one trained model
SHAPE = ("family", "layers", "parameters")  # what its train.json says about it
SETTING = ("tier", "scenario", "batch", "device", "threads", "precision")  # how speed was measured
TIMED = ("tier", "scenario", "device", "threads")  # those of them that a file of times has one of
COLUMNS = [
    "run",  # name of the configuration
    "dataset",
    "target",
    "system",
    *SHAPE,
    "seed",
    "decoder",
    "split",
    "metric",
    "value",
    "unit",
    *SETTING,
    "signature",
    "commit",
]
TIDY = Sheet(tuple(COLUMNS), ("value",))
TRAINING_UNITS = {"updates": "updates", "epochs": "epochs", "seconds": "s"}
LATENCY_UNITS = {  # a batch is one line in S1
    **dict.fromkeys(("mean", "median", "p90", "p99", "sd"), "ms/batch"),
    "n": "samples",
    "tokens": "tokens/line",
    "passes": "passes/batch",
    "disturbed": "1 if so",
    "stages_disturbed": "1 if so",
    "bytes_per_pass": "bytes",
    "floor_fraction": "of the mean",
    "serial_layers": "layers/batch",
}
STAGE = "latency_stage_"  # what names of metrics of stages begin with
STAGE_UNIT = "ms/line"
THROUGHPUT_UNITS = {"sentences": "sentences/s", "tokens": "tokens/s"}
LATER = ("serial_layers", "stages_disturbed")  # what older latency files lack
DIFFERS = "differs"  # a decoder does not write what it has to: fastdecode.measure.agreement
LEFT_OUT = "latency_left_out"  # a batch did not fit into memory
MEMORY = "memory_"  # what names of metrics of memory begin with
MEMORY_KEYS = {"memory_peak": "peak", "memory_allocator_peak": "allocator_peak"}
MEGABYTE = 1e6  # the unit of memory, MB

Row = dict[str, Any]


def gather(
    run: str,
    training: Iterable[Path],
    quality: Iterable[Path],
    latency: Iterable[Path],
    memory: Iterable[Path],
    agreement: Iterable[Path] = (),
) -> pd.DataFrame:
    """Read train.json, quality.json, latency, memory and agreement files into one with COLUMNS.

    The values are floats; all else is text, and empty where it means nothing: the decoder of a
    training time, the tier of a BLEU. Metrics are named `train_…`, as in quality.json, `latency_…`,
    `latency_stage_…`, `throughput_…` and `memory_…`; `differs` is 1 of a decoder that does not
    write what it has to (fastdecode.measure.agreement), else 0. The batch size is 1 in scenario S1;
    memory at batch size 1 is of S1, all other of Smax. Family, layers and parameters come from the
    train.json of the same dataset, target, system and seed.

    Where `all` threads are as many as a number that was timed, too, that number's file counts: the
    machine that times need not be the one that chose what to time.

    Raises UserError where that is missing, where a file lacks a key, and where two files give the
    same value.
    """
    shapes: dict[tuple[str, ...], Row] = {}
    rows: list[tuple[Path, Row]] = []
    for path in training:
        for row in _rows(path, _training_rows):
            shapes[_pick(row, MODEL)] = {key: row[key] for key in SHAPE}
            if row["value"] is not None:  # as where a model was trained elsewhere
                rows.append((path, row))
    rows += [(path, row) for path in quality for row in _rows(path, _quality_rows)]
    latency = sorted(latency, key=_of_all_threads)
    timed: dict[tuple[str, ...], bool] = {}  # a file's settings → whether all threads
    for path in latency:
        of_all = _of_all_threads(path)
        for row in _rows(path, _latency_rows):
            if timed.setdefault(_pick(row, ("dataset", "split", *TIMED)), of_all) == of_all:
                rows.append((path, row))
    rows += [(path, row) for path in memory for row in _rows(path, _memory_rows)]
    rows += [(path, row) for path in agreement for row in _rows(path, _agreement_rows)]

    seen: dict[tuple[str, ...], Path] = {}
    cells = []
    for path, row in rows:
        model = _pick(row, MODEL)
        if model not in shapes:
            raise UserError(
                f"{path}: no train.json for {' '.join(model)}: "
                "pass the train.json of every system that was measured"
            )
        row |= {"run": run, **shapes[model]}
        key = _pick(row, (*MODEL, "decoder", "split", "metric", *SETTING))
        if key in seen:
            raise UserError(
                f"{seen[key]} and {path} both give {' '.join(filter(None, key))}: "
                "pass only one of them"
            )
        seen[key] = path
        cells.append(_pick(row, COLUMNS))
    return pd.DataFrame(cells, columns=COLUMNS, dtype=str).astype({"value": float})


def _of_all_threads(path: Path) -> bool:
    return ".threadsall." in path.name


def _training_rows(document: Row) -> Iterator[Row]:
    for metric, unit in TRAINING_UNITS.items():
        yield {
            **_origin(document["provenance"]),
            **{key: document[key] for key in SHAPE},
            "metric": f"train_{metric}",
            "value": document[metric],
            "unit": unit,
        }


def _quality_rows(document: Row) -> Iterator[Row]:
    origin = document["provenance"]
    for metric, measured in document["metrics"].items():
        yield {
            **_origin(origin),
            "decoder": origin["decoder"],
            "split": origin["split"],
            "metric": metric,
            **{key: measured[key] for key in ("value", "unit", "signature")},
        }


def _latency_rows(document: Row) -> Iterator[Row]:
    for timed in document["rows"]:
        every = {**document["provenance"], **timed}
        for metric, unit in LATENCY_UNITS.items():
            if metric in LATER and metric not in timed:
                continue
            yield _speed(every, f"latency_{metric}", timed[metric], unit)
        for stage, value in timed["stages"].items():
            yield _speed(every, f"{STAGE}{stage}", value, STAGE_UNIT)
        if every["scenario"] == "Smax":
            for counted, unit in THROUGHPUT_UNITS.items():
                yield _speed(every, f"throughput_{counted}", timed[f"{counted}_per_second"], unit)

    for missing in document.get("left_out", ()):
        if missing.get("decoder"):  # others stand for all decoders, or were written without labels
            yield _speed({**document["provenance"], **missing}, LEFT_OUT, 1.0, "1 if so")


def _memory_rows(document: Row) -> Iterator[Row]:
    for measured in document["rows"]:
        alone = measured["batch"] == 1
        every = {**document["provenance"], **measured, "scenario": "S1" if alone else "Smax"}
        if alone:
            yield _speed(every, "memory_loaded", measured["loaded"] / MEGABYTE, "MB")
        for metric, key in MEMORY_KEYS.items():
            if key in measured:  # no peak where it did not fit, no allocator's on a CPU
                yield _speed(every, metric, measured[key] / MEGABYTE, "MB")


def _agreement_rows(document: Row) -> Iterator[Row]:
    origin, found = document["provenance"], document["rows"]
    fallen = apart(found)
    named = {tuple(row[key] for key in (*MODEL[1:], "decoder")): row for row in found}
    for row in named.values():  # a decoder may have two that it has to agree with
        yield {
            **_origin({**origin, **row}),
            "decoder": row["decoder"],
            "split": origin["split"],
            "metric": DIFFERS,
            "value": float((row["target"], row["system"], row["decoder"]) in fallen),
            "unit": "1 if so",
        }


def _speed(every: Row, metric: str, value: float, unit: str) -> Row:
    return {
        **_origin(every),
        **{key: every[key] for key in ("decoder", "split", *SETTING)},
        "metric": metric,
        "value": float(value),
        "unit": unit,
    }


def _origin(provenance: Row) -> Row:
    return {key: provenance[key] for key in (*MODEL, "device", "commit")}


def _rows(path: Path, extract: Callable[[Row], Iterator[Row]]) -> list[Row]:
    document = read_json(path)
    try:
        return list(extract(document))
    except KeyError as error:
        raise UserError(f"{path}: it has no {error}: delete it and run again") from None


def _pick(row: Row, keys: Iterable[str]) -> tuple[str, ...]:
    """Return cells as text, with nothing for None and for what the row does not have."""
    return tuple("" if row.get(key) is None else str(row[key]) for key in keys)
