"""A table as it is printed: published numbers, and beside them those measured here."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pandas as pd

from fastdecode.config.metrics import METRICS, Metric
from fastdecode.config.papers import AT, Artifact
from fastdecode.report.artifacts.caption import captioned
from fastdecode.report.artifacts.cells import CELLS, LETTERS, published_cells
from fastdecode.report.artifacts.sources import LABEL, OURS, PUBLISHED
from fastdecode.report.tables import NOT_RUN, Table, notes, seeds_of, signed

RUN_HERE = "run here"
# Of a row with several numbers of ours, what which one is of.
WHICH = {"kd": "distilled", "one": "one teacher", "three": "ensemble"}


def beside(name: str, artifact: Artifact, cells: pd.DataFrame) -> Table:
    """Return the printed table of an artifact's cells, its caption with all that they share.

    Rows without anything of ours to stand beside them are reprinted alone: systems of other papers.
    """
    ours = cells[cells["source"] == OURS]
    rows = list(artifact.rows)
    table = published_columns(artifact)
    run = ours.drop_duplicates(["row", "what"]).groupby("row", sort=False)["what"]
    what = {str(row): ", ".join(names) for row, names in run}
    table[RUN_HERE] = [what.get(row, _missing(artifact, row)) for row in rows]
    groups = dict(list(ours.groupby(["dataset", "column", "tier"])))
    for dataset in ours["dataset"].unique():
        for column, measured in artifact.measured.items():
            word, _, which = measured.partition(AT)
            metric = METRICS[word]
            for tier in ("", *artifact.tiers):
                if (dataset, column, tier) in groups:
                    group = groups[dataset, column, tier]
                    head = " ".join(
                        filter(None, [dataset, _which(which), metric.heading, _tier(tier, ours)])
                    )
                    table[head] = column_of(
                        group, rows, column, partial(_measured, form=metric.form)
                    )
    frame = pd.DataFrame(table, index=rows, dtype=str).fillna("")
    frame = frame.loc[:, (frame != "").any()]
    caption = captioned(name, artifact, _said(artifact, ours, frame), run=not ours.empty)
    return Table(frame.reset_index(drop=True), caption)


def column_of(
    cells: pd.DataFrame, rows: list[str], column: str, form: Callable[[Any], str]
) -> list[str]:
    """Return a column of a table: what `form` makes of each row's cell, nothing where none is."""
    found = cells[cells["column"] == column].drop_duplicates("row").set_index("row")
    return [form(found.loc[row]) if row in found.index else "" for row in rows]


def published_number(cell: Mapping[Any, Any]) -> str:
    """Return a published cell as it is printed: words as they are, numbers with their digits."""
    spread = "" if pd.isna(cell["sd"]) else f" ± {cell['sd']:.10g}"
    return cell["text"] or signed(f"{cell['value']:.10g}{spread}")


def published_columns(
    artifact: Artifact, form: Callable[[Any], str] = published_number
) -> dict[str, list[str]]:
    """Return heading → column of an artifact's labels and then of its published numbers.

    They are those of today: a CSV may be older than a row, or than a correction.
    """
    rows, cells = list(artifact.rows), CELLS.frame(published_cells(artifact))
    heads = [(LABEL, column, heading) for column, heading in artifact.labels.items()]
    heads += [
        (PUBLISHED, column, published_heading(heading))
        for column, heading in artifact.published.items()
    ]
    return {
        heading: column_of(cells[cells["source"] == source], rows, column, form)
        for source, column, heading in heads
    }


def published_heading(heading: str) -> str:
    """Return what stands above a column of published numbers."""
    return f"published {heading}"


def _named(artifact: Artifact, row: str) -> str:
    """Return a row by the name of its model or method; which of its numbers is after @."""
    key, _, which = row.partition(AT)
    values = artifact.rows[key]
    name = str(values.get("model") or values.get("method") or key)
    return f"{name}, {_which(which)}" if which else name


def _which(word: str) -> str:
    return WHICH.get(word, word)


def _measured(cell: Mapping[str, Any], form: str) -> str:
    spread = "" if pd.isna(cell["sd"]) else f" ± {form.format(cell['sd']).lstrip('×')}"
    return signed(f"{form.format(cell['value'])}{spread}{cell['marks']}")


def _missing(artifact: Artifact, row: str) -> str:
    return NOT_RUN if artifact.wanted(row) else ""


def _metric(artifact: Artifact, column: str) -> Metric:
    """Return what a column of ours holds."""
    return METRICS[artifact.measured[column].partition(AT)[0]]


def _kind(artifact: Artifact, column: str) -> str:
    metric = _metric(artifact, column)
    if metric.on_gpu:
        return "memory"
    kinds = {"latency_median": "median times", "latency_mean": "mean times"}
    return kinds.get(metric.tidy, "times")


def _tier(tier: object, ours: pd.DataFrame) -> str:
    """Name the tier where the table has several."""
    several = ours.loc[ours["tier"] != "", "tier"].nunique() > 1
    return f"({tier})" if tier and several else ""


def _timed(speeds: pd.DataFrame, scores: pd.DataFrame) -> str:
    """Say of which seeds the times are, where no BLEU says so, or BLEU is of others, too."""
    seeds = seeds_of(speeds["seeds"])
    return "" if len(scores) and seeds_of(scores["seeds"]) == seeds else f", seed {seeds}"


def _said(artifact: Artifact, ours: pd.DataFrame, frame: pd.DataFrame) -> Iterator[str]:
    """Yield what a caption says of ours, and of the marks in the table."""
    scores = ours[ours["signature"] != ""]
    scores = scores.assign(score=[_metric(artifact, column).heading for column in scores["column"]])
    for setting, _ in scores.groupby(
        ["score", "dataset", "split", "device", "signature"], sort=False
    ):
        score, *where = map(str, setting)
        yield f"{score} of ours: {', '.join(filter(None, where))}."
    speeds = ours[ours["tier"] != ""]
    keys = ["dataset", "split", "scenario", "threads", "precision", "device"]
    for setting, group in speeds.groupby(keys, sort=False):
        dataset, split, scenario, threads, precision, device = setting
        tiers = " and ".join(group["tier"].unique())
        sizes = " and ".join(map(str, sorted(map(int, group["batch"].unique()))))
        batches = f", batches of {sizes}" if scenario == "Smax" else ""
        kinds = dict.fromkeys(_kind(artifact, str(column)) for column in group["column"])
        yield (
            f"{' and '.join(kinds).capitalize()} of ours: {dataset}, {split}, {tiers} tier, "
            f"{scenario}{batches}, threads {threads}, {precision}, {device}{_timed(group, scores)}."
        )
    for tier, group in speeds[speeds["over"] != ""].groupby("tier", sort=False):
        over = " and ".join(group["over"].unique())
        yield f"Speed-ups in the {tier} tier are over {over}."
    seeds = ours["n"].max()
    sure = "p < 0.05 with each seed" if seeds > 1 else "p < 0.05"
    for letter in LETTERS:
        if ours["marks"].str.contains(letter).any():
            row = artifact.against[LETTERS.index(letter)]
            other = _named(artifact, row)
            yield f"{letter}: differs from {other}, {sure}, approximate randomisation."
    if seeds > 1:
        what, of = ("Scores", scores) if len(scores) else ("Numbers of ours", ours[ours["n"] > 1])
        yield f"{what}: means over up to {seeds:.0f} seeds ({seeds_of(of['seeds'])})."
    elif len(scores):
        yield f"Seed {seeds_of(scores['seeds'])}."
    yield from notes(frame)
