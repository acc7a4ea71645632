"""Table 4: how long sentences are, and how fast pairs are written, by the size of the vocabulary.

A row is a vocabulary size; what stands beside it is measured on the run's dataset with as many BPE
merges. Speeds are those of the two systems named in `systems:`, trained ones if the run has them.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from fastdecode.config.functions import SIZE
from fastdecode.config.metrics import METRICS
from fastdecode.config.papers import Artifact
from fastdecode.errors import UserError
from fastdecode.report.artifacts.beside import column_of, published_columns
from fastdecode.report.artifacts.caption import captioned
from fastdecode.report.artifacts.cells import CELLS, commits_of, published_cells
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.rows import of_entry, speed
from fastdecode.report.artifacts.sources import OURS
from fastdecode.report.tables import Table, notes, of_both

SINGLE, DOUBLE, RATIO = "single_l2r", "double_bidir", "ratio"
SPEEDS = {"tokens_per_s": METRICS["tokens_per_second"], "latency_ms": METRICS["latency"]}
RATIOS = {"tokens_per_s": METRICS["tokens_ratio"], "latency_ms": METRICS["speedup"]}
WRITERS = {SINGLE: "single", DOUBLE: "pairs"}


def cells(evidence: Evidence) -> pd.DataFrame:
    """Return the cells: of each dataset the corpus, its vocabulary, lengths, speeds and ratios.

    The corpus is a label, since the columns of two corpora stand beside each other. The vocabulary
    is the one reached on the target side. Speeds in batches are of the artifact's size, in tokens a
    second; alone they are in milliseconds a sentence. A ratio above 1 says that pairs are faster.
    """
    artifact = evidence.artifact
    found = published_cells(artifact)
    for dataset, part in evidence.parts.items():
        here = evidence.tidy[evidence.tidy["dataset"] == dataset]
        row = _row(artifact, part)
        if row is not None:
            same = {"row": row, "source": OURS, "dataset": dataset}
            for cell in (*_subwords(part), *_speeds(here, part, artifact)):
                found.append({**same, **cell})
    return CELLS.frame(found)


def _row(artifact: Artifact, part: Part) -> str | None:
    """Return the row of a dataset; None if the table has none of its size."""
    merges = part.subwords and part.subwords["merges_asked"]
    return next((row for row, cells in artifact.rows.items() if cells[SIZE] == merges), None)


def _subwords(part: Part) -> Iterator[dict[str, Any]]:
    counted = part.subwords or {}
    origin = counted["provenance"]
    same = {"split": part.timed, "commit": origin["commit"]}
    yield {**same, "column": "corpus", "text": origin["corpus"]}
    yield {**same, "column": SIZE, "value": counted[SIZE]["target"]}
    for side, language in counted["languages"].items():
        length = counted["mean_length"][side]
        yield {**same, "column": f"len_{side}", "value": length, "text": language}


def _speeds(here: pd.DataFrame, part: Part, artifact: Artifact) -> Iterator[dict[str, Any]]:
    """Yield both speeds of every tier, and their ratio. Raises UserError on two devices."""
    for tier in artifact.tiers:
        for column, metric in SPEEDS.items():
            timed = {}
            for name in (SINGLE, DOUBLE):
                entry = part.entries.get(name, {}).get(tier)
                cell = entry and speed(here, part.timed, entry, tier, metric, artifact.batch)
                if entry and cell:
                    timed[name] = {**cell, "signature": _size(of_entry(here, part.timed, entry))}
                    yield {**timed[name], "column": f"{column}_{name}"}
            if len(timed) < 2:
                continue
            single, double = timed[SINGLE], timed[DOUBLE]
            if single["device"] != double["device"]:
                raise UserError(f"{single['what']} and {double['what']}: on different devices")
            ratio = double["value"] / single["value"]
            marks = of_both(single["marks"], double["marks"])
            yield {
                **double,
                "marks": marks,
                "over": single["what"],
                "commit": commits_of([double["commit"], single["commit"]]),
                "column": f"{column}_{RATIO}",
                "over_batch": single["batch"],
                "value": ratio if RATIOS[column].inverse else 1 / ratio,
            }


def printed(name: str, artifact: Artifact, cells: pd.DataFrame) -> Table:
    """Return the table as it is printed: the published columns, and the same of each corpus."""
    rows = list(artifact.rows)
    table = published_columns(artifact)
    ours = cells[cells["source"] == OURS]
    corpora = ours[ours["column"] == "corpus"].set_index("dataset")["text"]
    for corpus in corpora.unique():
        here = ours[ours["dataset"].isin(corpora[corpora == corpus].index)]
        table |= _columns(str(corpus), artifact, here, rows)
    frame = pd.DataFrame(table, dtype=str)
    frame = frame.loc[:, (frame != "").any()]
    return Table(frame, captioned(name, artifact, _said(ours, frame), run=not ours.empty))


def _columns(
    corpus: str, artifact: Artifact, here: pd.DataFrame, rows: list[str]
) -> dict[str, list[str]]:
    table = {f"{corpus} {SIZE} reached": _column(here, rows, SIZE, "{:,.0f}")}
    for side in ("source", "target"):
        language = here.loc[here["column"] == f"len_{side}", "text"].iloc[0]
        table[f"{corpus} {language} length"] = _column(here, rows, f"len_{side}", "{:.2f}")
    for tier in artifact.tiers:
        of = here[here["tier"] == tier]
        for column, metric in SPEEDS.items():
            for writer, word in WRITERS.items():
                head = f"{corpus} {word} {metric.heading} ({tier})"
                table[head] = _column(of, rows, f"{column}_{writer}", metric.form)
            head = f"{corpus} {RATIOS[column].heading} ({tier})"
            table[head] = _column(of, rows, f"{column}_{RATIO}", RATIOS[column].form)
    return table


def _column(cells: pd.DataFrame, rows: list[str], column: str, form: str) -> list[str]:
    return column_of(cells, rows, column, lambda cell: form.format(cell["value"]) + cell["marks"])


def _said(ours: pd.DataFrame, frame: pd.DataFrame) -> Iterator[str]:
    speeds = ours[ours["tier"] != ""]
    if not speeds.empty:
        sizes = _words(speeds["signature"])
        yield f"Ours: {_words(speeds['what'])}, {sizes}; {_words(ours['dataset'])}."
    keys = ["split", "scenario", "batch", "threads", "precision", "device"]
    for setting, group in speeds.groupby(keys, sort=False):
        split, scenario, batch, threads, precision, device = setting
        yield (
            f"Times of ours: {split}, {scenario}, {batch} a batch, {_words(group['tier'])} tier, "
            f"threads {threads}, {precision}, {device}."
        )
    if not speeds.empty:
        yield "Ratios are of pairs over single tokens, more is faster."
    yield from notes(frame)


def _words(column: Iterable[Any]) -> str:
    return " and ".join(dict.fromkeys(map(str, column)))


def _size(rows: pd.DataFrame) -> str:
    """Say how large the model of some measurements is."""
    return f"{rows['layers'].iloc[0]} layers"
