"""The table of systems: size and scores of every decoder, and its time, each tier by itself."""

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

import pandas as pd

from fastdecode.errors import UserError
from fastdecode.report.artifacts.cells import devices_of
from fastdecode.report.speed_numbers import COLUMNS as TIMED
from fastdecode.report.speed_numbers import KEY, precision_of, speed_rows
from fastdecode.report.speed_words import marks, over, ratio_marks
from fastdecode.report.tables import (
    NOT_MEASURED,
    NOT_RUN,
    Table,
    millions,
    notes,
    only,
    only_known,
    seeds_of,
)

Key = tuple[str, str, str]  # target, system, decoder: what a row is about
SCORES = {"bleu": "BLEU", "chrf": "chrF", "tokenised_bleu": "tokenised BLEU"}
COLUMNS = [
    "system",
    "target",
    "decoder",
    "layers",
    "parameters",
    "seeds",
    *SCORES.values(),
    "tier",
    "ms per sentence",
    "speed-up",
]


def systems_table(
    tidy: pd.DataFrame,
    dataset: str,
    split: str,
    speedup_over: Mapping[str, str | None],
    rows: Sequence[Key] | None = None,
    others: int = 0,
) -> Table:
    """Compare systems with their decoders on one split of a dataset.

    Scores are means over seeds, with their standard deviation where there are several. Times are
    medians of one sentence at a time with the fewest threads, and speed-ups, over the denominator
    of the tier, those of fastdecode.report.speed_numbers. `rows` are those that the table is to
    have, and one without any measurement says so; by default it has all that were measured.
    `others` counts the systems that the run leaves out: the caption says so. Where the denominator
    of a tier is not even known to be None, nothing is said of it.

    Raises UserError if nothing was measured, if scores have different signatures, if a value stands
    twice, and where times cannot be compared: see fastdecode.report.speed_numbers.
    """
    tidy = tidy[(tidy["dataset"] == dataset) & (tidy["split"] == split)]
    if tidy.empty:
        raise UserError(f"nothing was measured on the split {split!r} of {dataset!r}")
    measured: dict[Key, pd.DataFrame] = {
        (str(target), str(system), str(decoder)): group
        for (target, system, decoder), group in tidy.groupby(list(KEY), sort=False)
    }
    speeds = _speeds(tidy, dataset, split, speedup_over)
    timed = {
        (row["target"], row["system"], row["decoder"]): row for row in speeds.to_dict("records")
    }
    own = "" if speeds.empty else precision_of(speeds)
    lines = [_line(key, measured.get(key), timed.get(key), own) for key in rows or measured]
    frame = pd.DataFrame(lines, columns=COLUMNS, dtype=str).fillna("")
    caption = [
        f"{dataset}, {split}: what was trained, its quality and its time.",
        *_timing(tidy, speeds, own, speedup_over),
        *_signatures(tidy),
        *([f"Further systems of this project, {NOT_RUN}: {others}."] if others else []),
        *notes(frame),
    ]
    return Table(frame, caption)


def _speeds(
    tidy: pd.DataFrame, dataset: str, split: str, speedup_over: Mapping[str, str | None]
) -> pd.DataFrame:
    """Return the rows of speed_rows that the table is made of; none if nothing was timed."""
    if "latency_median" not in set(tidy.loc[tidy["scenario"] == "S1", "metric"]):
        return pd.DataFrame(columns=TIMED)
    rows = speed_rows(tidy, dataset, split, "S1", speedup_over)
    fewest = min(rows["threads"], key=int)
    chosen: pd.DataFrame = rows[rows["threads"] == fewest]
    return chosen


def _line(
    key: Key, group: pd.DataFrame | None, timed: dict[Any, Any] | None, precision: str
) -> dict[str, str]:
    target, system, decoder = key
    names = {"system": system, "target": target, "decoder": decoder}
    if group is None:
        return {**names, "BLEU": NOT_RUN}
    line = {
        **names,
        "layers": only(group, "layers"),
        "parameters": millions(only_known(group, "parameters")),
        "seeds": str(group["seed"].nunique()),
        **{name: _mean(_by_seed(group, metric)) for metric, name in SCORES.items()},
    }
    if timed is None:
        return line | dict.fromkeys(("tier", "ms per sentence", "speed-up"), NOT_MEASURED)
    ratio, coarse = timed["speedup"], timed["precision"] != precision
    return {
        **line,
        "tier": timed["tier"] + (f", {timed['precision']}" if coarse else ""),
        "ms per sentence": f"{timed['latency_median']:.2f}{marks(timed)}",
        "speed-up": NOT_MEASURED if pd.isna(ratio) else f"×{ratio:.2f}{ratio_marks(timed)}",
    }


def _timing(
    tidy: pd.DataFrame,
    speeds: pd.DataFrame,
    precision: str,
    speedup_over: Mapping[str, str | None],
) -> list[str]:
    """Say what times and speed-ups are of, and which seeds were timed where they are not all."""
    if speeds.empty:
        return []
    device, threads, seeds = (only(speeds, name) for name in ("device", "threads", "seeds"))
    seed = "" if seeds == seeds_of(tidy["seed"]) else f", seed {seeds}"
    known = [tier for tier in speeds["tier"].unique() if tier in speedup_over]
    return [
        f"Median times: scenario S1, {device}, threads {threads}, {precision}{seed}.",
        *(over(tier, speeds[speeds["tier"] == tier]) for tier in known),
    ]


def _signatures(tidy: pd.DataFrame) -> list[str]:
    """Say how every score was computed, and where what it is of was written."""
    scores = {name: tidy[tidy["metric"] == metric] for metric, name in SCORES.items()}
    said = [f"{name}: {only(of, 'signature')}." for name, of in scores.items() if not of.empty]
    devices = devices_of(tidy.loc[tidy["metric"].isin(SCORES), "device"])
    return [*([f"Scores are of translations by {devices}."] if devices else []), *said]


def _by_seed(group: pd.DataFrame, metric: str) -> list[float]:
    """Return the values of a metric, one a seed."""
    values = group[group["metric"] == metric]
    if values["seed"].duplicated().any():
        raise UserError(f"{metric} of {values['system'].iloc[0]} stands twice for one seed")
    return [float(value) for value in values["value"]]


def _mean(values: Sequence[float]) -> str:
    if not values:
        return NOT_MEASURED
    spread = f" ± {stdev(values):.2f}" if len(values) > 1 else ""
    return f"{fmean(values):.2f}{spread}"
