"""Tables whose rows are systems with a decoder: what was measured of each, beside the published."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

import pandas as pd

from fastdecode.config.metrics import METRICS, Metric
from fastdecode.config.papers import AT, Artifact, entry_of, trained
from fastdecode.errors import UserError
from fastdecode.provenance import is_cpu
from fastdecode.report.artifacts.beside import beside
from fastdecode.report.artifacts.cells import (
    CELLS,
    LETTERS,
    commits_of,
    devices_of,
    published_cells,
)
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.sources import OURS
from fastdecode.report.tables import APART, DISTURBED, RANDOM, of_both, only
from fastdecode.report.tidy import DIFFERS

printed = beside
NAMES = ("target", "system", "decoder")
LEVEL = 0.05
SPEED = ("tier", "scenario", "threads", "precision", "batch", "device")


def cells(evidence: Evidence) -> pd.DataFrame:
    """Return the cells of the table, as fastdecode.report.artifacts.cells writes them.

    Quality is the mean over seeds. A speed is that with the fewest threads measured, in batches of
    the size with the most sentences a second; a speed-up is over the artifact's row `over`, in the
    same tier. Raises UserError if two times of a ratio are of different devices.
    """
    artifact = evidence.artifact
    found = published_cells(artifact)
    for dataset, part in evidence.parts.items():
        here = evidence.tidy[evidence.tidy["dataset"] == dataset]
        for row in artifact.rows:
            for column, name in artifact.measured.items():
                found += [
                    {"row": row, "column": column, "source": OURS, "dataset": dataset, **cell}
                    for cell in measured(here, part, row, name, artifact)
                ]
    return CELLS.frame(found)


def measured(
    here: pd.DataFrame, part: Part, row: str, name: str, artifact: Artifact
) -> Iterator[dict[str, Any]]:
    """Yield the cell of each tier in which a row's metric `name` was measured; quality has no tier.

    `here` are the tidy measurements of the part's dataset. A metric bleu@x is of the row's entry x,
    and of its only one where it has no several.
    """
    word, _, which = name.partition(AT)
    metric, entries = METRICS[word], _entries(part, row, which)
    if metric.kind == "quality":
        if entry := entries.get("reference") or next(iter(entries.values()), None):
            tests = [
                baseline if base.partition(AT)[2] in ("", which) else ""
                for base, baseline in zip(artifact.against, part.against, strict=False)
            ]
            yield from _quality(here, part, best_on_valid(here, part, entry), metric, tests)
        return
    for tier in artifact.tiers:
        entry = entries.get(tier)
        cell = entry and speed(here, part.timed, entry, tier, metric, artifact.batch)
        if not (entry and cell):
            continue
        if metric.kind == "speed":
            yield cell
            continue
        base = _entries(part, artifact.base(row) or "", which).get(tier)
        over = base and speed(here, part.timed, base, tier, metric, artifact.batch)
        if base and over:
            if over["device"] != cell["device"]:
                raise UserError(f"{entry} and {base} were timed on different devices")
            ratio = over["value"] / cell["value"]
            yield {
                **cell,
                "value": 1 / ratio if metric.inverse else ratio,
                "over": base,
                "over_batch": over["batch"],
                "marks": of_both(cell["marks"], over["marks"]),
                "commit": commits_of([cell["commit"], over["commit"]]),
            }


def _entries(part: Part, row: str, which: str) -> Mapping[str, str]:
    return part.entries.get(entry_of(row, which)) or part.entries.get(row, {})


def _quality(
    here: pd.DataFrame, part: Part, entry: str, metric: Metric, against: Sequence[str]
) -> Iterator[dict[str, Any]]:
    rows = of_entry(here, part.split, entry)
    rows = rows[rows["metric"] == metric.tidy]
    if rows.empty:
        return
    yield {
        **over_seeds(rows, (metric.scale * rows["value"]).tolist()),
        "what": entry,
        "split": part.split,
        "signature": only(rows, "signature"),
        "marks": significance_marks(part, entry, against) if metric.tidy == "bleu" else "",
    }


def over_seeds(rows: pd.DataFrame, values: Sequence[float]) -> dict[str, Any]:
    """Return the mean of a quality over seeds, its deviation, and where it is from.

    `rows` are the tidy rows of the values, one a seed.
    """
    return {
        "value": fmean(values),
        "sd": stdev(values) if len(values) > 1 else None,
        "n": len(values),
        "seeds": " ".join(rows["seed"]),
        "device": devices_of(rows["device"]),
        "commit": commits_of(rows["commit"]),
    }


def speed(
    here: pd.DataFrame, split: str, entry: str, tier: str, metric: Metric, batch: int | None = None
) -> dict[str, Any] | None:
    """Return the cell of a speed; None if it was not measured.

    In Smax it is of batches of `batch` sentences, by default of the size that is the fastest.
    """
    every = of_entry(here, split, entry)
    rows = every[(every["tier"] == tier) & (every["scenario"] == metric.scenario)]
    name = rows["metric"]
    if metric.on_gpu:  # where a GPU was timed, what a process takes of the host tells nothing
        name = name.mask((name == metric.tidy) & ~rows["device"].map(is_cpu).astype(bool), "")
        name = name.replace(metric.on_gpu, metric.tidy)
    chosen = rows[name == metric.tidy]
    if batch and metric.scenario == "Smax":
        chosen = chosen[chosen["batch"] == str(batch)]
    if chosen.empty:
        return None
    fewest = min(chosen["threads"], key=int)
    chosen = chosen[chosen["threads"] == fewest]
    best = chosen.loc[chosen["value"].idxmax() if metric.scenario == "Smax" else chosen.index[0]]
    same = rows[(rows["threads"] == fewest) & (rows["batch"] == best["batch"])]
    of_time = "" if metric.steady else disturbance(same) + difference(every)
    return {
        "value": float(best["value"]),
        "n": 1,
        "what": entry,
        "split": split,
        "seeds": best["seed"],
        **{name: best[name] for name in SPEED},
        "marks": of_both(of_time, "" if trained(entry) else RANDOM),
        "commit": best["commit"],
    }


def disturbance(rows: pd.DataFrame, stages: bool = False) -> str:
    """Return the mark of times that were disturbed, if any of these was; of `stages` their own.

    Those are of other repeats on a GPU. Older files do not tell: then it is that of the whole.
    """
    metric = "latency_stages_disturbed"
    if not (stages and (rows["metric"] == metric).any()):
        metric = "latency_disturbed"
    return DISTURBED if rows[rows["metric"] == metric]["value"].any() else ""


def difference(measured: pd.DataFrame) -> str:
    """Return the mark of a decoder that does not write what it has to, by all that is measured."""
    return APART if measured.loc[measured["metric"] == DIFFERS, "value"].any() else ""


def best_on_valid(here: pd.DataFrame, part: Part, entry: str) -> str:
    """Return which of an entry's alternatives has the best BLEU on the validation set.

    That is a mean over seeds; of equally good ones the first. Raises UserError if it is missing.
    """
    scores = {}
    for name in part.alternatives.get(entry, ()):
        rows = of_entry(here, part.valid, name)
        values = rows[rows["metric"] == "bleu"]["value"]
        if values.empty:
            raise UserError(f"{name} was not scored on {part.valid}, by which it may be chosen")
        scores[name] = fmean(values)
    return max(scores, key=lambda name: scores[name]) if scores else entry


def clocked(
    tidy: pd.DataFrame, dataset: str, split: str, entry: str, stages: bool = False
) -> dict[str, str]:
    """Return how target/system/decoder was timed, one sentence at a time, with fewest threads.

    The marks are those of the whole, or of its `stages`.
    """
    every = of_entry(tidy[tidy["dataset"] == dataset], split, entry)
    rows = every[every["scenario"] == "S1"]
    timed = rows[rows["metric"] == "latency_median"]
    fewest = min(timed["threads"], key=int)
    timed, rows = timed[timed["threads"] == fewest], rows[rows["threads"] == fewest]
    names = ("tier", "threads", "precision", "device", "commit")
    same = {name: only(timed, name) for name in names} | {"seeds": only(timed, "seed")}
    return {**same, "marks": disturbance(rows, stages) + difference(every)}


def significance_marks(part: Part, entry: str, against: Sequence[str]) -> str:
    """Return a letter for each of `against` that an entry differs from; of "" there is none.

    It does where p < 0.05 (approximate randomisation) with every seed, all in one direction.
    """
    marks = ""
    for letter, baseline in zip(LETTERS, against, strict=False):
        tests = [
            test
            for test in part.comparisons
            if test["baseline"] == baseline and entry == "/".join(test[name] for name in NAMES)
        ]
        sure = all(test["p_randomisation"] < LEVEL for test in tests)
        directions = {test["difference"] > 0 for test in tests}
        if entry != baseline and sure and len(directions) == 1:
            marks += letter
    return marks


def of_entry(here: pd.DataFrame, split: str, entry: str) -> pd.DataFrame:
    """Return the measurements of target/system/decoder on a split."""
    target, system, decoder = entry.split("/")
    keys = {"target": target, "system": system, "decoder": decoder, "split": split}
    for name, value in keys.items():
        here = here[here[name] == value]
    return here
