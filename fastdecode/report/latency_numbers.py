"""What the figures of latency show, as tables: by output length, line by line, stage by stage.

All are about one sentence at a time in one tier with one number of threads.
"""

from collections.abc import Set
from pathlib import Path

import numpy as np
import pandas as pd

from fastdecode.errors import UserError
from fastdecode.report.sheet import read_rows
from fastdecode.report.speed_numbers import KEY
from fastdecode.report.tables import seeds_of
from fastdecode.report.tidy import DIFFERS, MEMORY, STAGE

SAMPLES = frozenset(
    {"decoder", "repeat", "line", "milliseconds", "tokens"}
)  # columns that are needed
BUCKETS = 10  # at most
WHOLE = "whole"  # mean time as it was clocked around all stages
SETTINGS = (  # how a decoder was timed, beside its numbers in every table
    "dataset",
    "split",
    "seeds",
    "tier",
    "scenario",
    "threads",
    "precision",
    "device",
    "over",
    "latency_disturbed",
    "differs",
)


def read_samples(path: Path, columns: Set[str] = SAMPLES) -> pd.DataFrame:
    """Read the raw samples of a timing, or another file of it with other `columns`.

    Raises UserError if the file is missing or empty, lacks a column or has no rows.
    """
    return read_rows(path, sorted(columns), "delete it and run again", dtype={"decoder": str})


def measured_so(
    tidy: pd.DataFrame, dataset: str, split: str, tier: str, threads: str
) -> pd.DataFrame:
    """Return what was timed of one sentence at a time with that many threads.

    "all" threads are the most that were timed. A column more, `differs`, is above zero where a
    decoder does not write what it has to, in any tier.

    Raises UserError if there are none.
    """
    here = tidy[(tidy["dataset"] == dataset) & (tidy["split"] == split)]
    differs = here[here["metric"] == DIFFERS].groupby(list(KEY))["value"].max()
    rows = here.join(differs.rename("differs"), on=list(KEY))
    rows = rows[(rows["tier"] == tier) & (rows["scenario"] == "S1")]
    rows = rows[~rows["metric"].str.startswith(MEMORY)]  # its job may have had fewer cores
    most = max(map(int, rows["threads"]), default=0)
    rows = rows[rows["threads"] == (str(most) if threads == "all" else threads)]
    if rows.empty:
        raise UserError(
            f"no time of one sentence was measured on {split!r} of {dataset!r} "
            f"in the {tier} tier, threads {threads}"
        )
    return rows


def numbers_of(figure: str, rows: pd.DataFrame, samples: Path, denominator: str) -> pd.DataFrame:
    """Return the table that one of LATENCY_FIGURES is drawn from, SETTINGS beside its numbers.

    `rows` are of measured_so, `samples` the raw ones of the same timing; `denominator` is what
    speed-ups are over.

    Raises UserError if the figure has nothing to show.
    """
    match figure:
        case "latency_by_length":
            return with_settings(by_length(read_samples(samples)), rows)
        case "speedup_distribution":
            table = speedups(read_samples(samples), denominator)
            return with_settings(table, rows, denominator)
        case "stages":
            return with_settings(by_stage(rows), rows, stages=True)
    raise ValueError(figure)


def with_settings(
    table: pd.DataFrame, rows: pd.DataFrame, over: str = "", stages: bool = False
) -> pd.DataFrame:
    """Return a table of these decoders with SETTINGS beside its numbers, from which it is drawn.

    `rows` are of measured_so; `over` is what speed-ups are over. `latency_disturbed` is above zero
    where a time was disturbed, or one of the `stages`, whose repeats are others on a GPU; `differs`
    where a decoder does not write what it has to. Both are of either, where it is over another.
    """
    named = rows.assign(decoder=_named(rows), seeds=seeds_of(rows["seed"]), over=over)
    settings = named.drop_duplicates("decoder").set_index("decoder")
    metrics = ["latency_disturbed", *(["latency_stages_disturbed"] if stages else [])]
    busy = named[named["metric"].isin(metrics)].groupby("decoder")["value"].max()
    settings["latency_disturbed"] = busy.reindex(settings.index)
    if over:
        for name in ("latency_disturbed", "differs"):
            settings[name] = np.fmax(settings[name], settings[name][over])
    return table.join(settings[list(SETTINGS)], on="decoder", validate="many_to_one")


def by_length(samples: pd.DataFrame) -> pd.DataFrame:
    """Return the time of every decoder for short and for long outputs.

    Columns: decoder; shortest and longest, in tokens, of a bucket of output lengths; lines, how
    many of the decoder's outputs are in it; milliseconds, the median of these lines.
    """
    lines = _per_line(samples)
    table = lines.assign(**bucket_of(lines["tokens"]))
    groups = table.groupby(["decoder", "shortest", "longest"], sort=False)["milliseconds"]
    table = groups.agg(lines="size", milliseconds="median").reset_index()
    rank = {decoder: number for number, decoder in enumerate(lines["decoder"].unique())}
    order = table["decoder"].map(rank)
    return table.assign(rank=order).sort_values(["rank", "shortest"]).drop(columns="rank")


def bucket_of(tokens: "pd.Series[int]") -> dict[str, "pd.Series[int]"]:
    """Return the shortest and longest length of the bucket that each output is in."""
    width = _width(int(tokens.max()))
    bucket = (tokens.clip(lower=1) - 1) // width
    return {"shortest": bucket * width + 1, "longest": (bucket + 1) * width}


def speedups(samples: pd.DataFrame, denominator: str) -> pd.DataFrame:
    """Return how much faster than the denominator every decoder is at each line.

    Columns: decoder, line, speedup: the quotient of the two medians over repeats. The denominator
    itself is among the decoders.

    Raises UserError if it was not timed here.
    """
    lines = _per_line(samples)
    base = lines[lines["decoder"] == denominator].set_index("line")["milliseconds"]
    if base.empty:
        raise UserError(
            f"{denominator} is not among the decoders timed here, which are "
            f"{', '.join(samples['decoder'].unique())}: there is no speed-up over it"
        )
    lines["speedup"] = lines["line"].map(base) / lines["milliseconds"]
    return lines[["decoder", "line", "speedup"]]


def by_stage(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the milliseconds a sentence that every decoder spends in every stage, as means.

    Columns: decoder, the stages in their order, and WHOLE, the mean as it was clocked around all of
    them. A stage that a decoder does not have is NaN.

    Raises UserError if no stages were timed.
    """
    rows = rows.assign(decoder=_named(rows))
    stages: list[str] = []
    for _, group in rows.groupby("decoder", sort=False):
        place = 0
        for metric in group["metric"].unique():
            if metric.startswith(STAGE):
                if metric not in stages:
                    stages.insert(place, metric)  # after the stage that it follows
                place = stages.index(metric) + 1
    if not stages:
        raise UserError("no stages were timed: nothing to draw")
    table = rows.pivot_table("value", "decoder", "metric", sort=False)
    table = table.reindex(columns=[*stages, "latency_mean"]).reset_index()
    names = [stage.removeprefix(STAGE) for stage in stages]
    return table.set_axis(["decoder", *names, WHOLE], axis="columns")


def _named(rows: pd.DataFrame) -> "pd.Series[str]":
    """Return target/system/decoder, as samples call a decoder."""
    return rows["target"] + "/" + rows["system"] + "/" + rows["decoder"]


def _per_line(samples: pd.DataFrame) -> pd.DataFrame:
    """Return the median time and the output length of each line: decoder, line, …"""
    lines = samples.groupby(["decoder", "line"], sort=False)
    return lines.agg(
        milliseconds=("milliseconds", "median"), tokens=("tokens", "first")
    ).reset_index()


def _width(longest: int) -> int:
    """Return the round width at which a few buckets reach the longest output."""
    width, steps = 1, (2, 5, 10)
    while longest > BUCKETS * width:
        decade = 10 ** (len(str(width)) - 1)
        width = decade * next(step for step in steps if decade * step > width)
    return width
