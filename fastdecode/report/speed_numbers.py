"""Tables of speed, as numbers: each ratio within one tier and setting, with its two times.

`speed_rows` makes them, and they are written as CSV; the printed table (speed_table), and the
figures of quality against speed, are made of these rows alone.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

import pandas as pd

from fastdecode.config.rows import Tier
from fastdecode.errors import UserError
from fastdecode.provenance import processor
from fastdecode.report.sheet import Sheet
from fastdecode.report.tables import only, seeds_of
from fastdecode.report.tidy import DIFFERS, LEFT_OUT, MEMORY

KEY = ("target", "system", "decoder")
GROUP = ("tier", "threads", "precision")  # with the device: what the times of a ratio share
TIERS = get_args(Tier)
COARSE = ("int8", "bf16")  # of single decoders, in a run of another precision
SPEED = {"S1": "latency_median", "Smax": "throughput_sentences"}  # what ratios are made of
METRICS = [
    *(f"latency_{name}" for name in ("median", "mean", "p90", "p99", "disturbed", "n")),
    *(f"latency_{name}" for name in ("tokens", "passes", "serial_layers")),
    *(f"latency_{name}" for name in ("bytes_per_pass", "floor_fraction")),
    "throughput_sentences",
    "throughput_tokens",
    "memory_peak",
    "memory_allocator_peak",
]
TEXTS = [
    "dataset",
    "split",
    "scenario",
    "seeds",
    "device",
    *GROUP,
    *KEY,
    "family",
    "layers",
    "parameters",
    "batch",
    "over",  # the denominator
    "over_precision",
    "signature",  # of BLEU
]
NUMBERS = ("bleu", "speedup", "over_disturbed", "differs", "over_differs", *METRICS)
COLUMNS = [*TEXTS, *NUMBERS]
# columns that older files lack
LATER = ("family", "over_disturbed", "differs", "over_differs", "latency_serial_layers")
SPEEDS = Sheet(tuple(COLUMNS), NUMBERS, LATER)

Row = dict[str, Any]


def speed_rows(
    tidy: pd.DataFrame,
    dataset: str,
    split: str,
    scenario: str,
    speedup_over: Mapping[str, str | None],
) -> pd.DataFrame:
    """Return one row for every decoder, setting by setting, with COLUMNS.

    All is text but BLEU, the speed-up and METRICS, which are NaN where they were not measured. In
    Smax a row is about the batch size with the most sentences a second. BLEU is of the seeds that
    were timed; of several seeds all numbers are means. Memory stands beside the fewest threads.
    `over_disturbed` is above zero if the denominator's time was disturbed, `differs` if a decoder
    writes something else than it has to, and `over_differs` if the denominator does.

    `speedup_over` names the denominator of each tier as target/system/decoder, or None. It counts
    for the times of its tier, number of threads and precision; decoders that choose 8 or 16 bits
    for themselves are compared with it in the precision that it was timed in (`over_precision`).

    Raises UserError if no speed was measured, if speeds come from several devices or scores have
    several signatures, if a value stands twice, and if the denominator was timed, but not so as a
    row that it is to be compared with.
    """
    here = tidy[(tidy["dataset"] == dataset) & (tidy["split"] == split)]
    speeds = here[(here["scenario"] == scenario) & here["metric"].isin(METRICS)]
    if SPEED[scenario] not in set(speeds["metric"]):
        raise UserError(f"no speed in {scenario} was measured on {split!r} of {dataset!r}")
    speeds = _memory_beside_fewest_threads(speeds)
    scores = here[(here["metric"] == "bleu") & _models(here).isin(_models(speeds))]
    same = {
        "dataset": dataset,
        "split": split,
        "scenario": scenario,
        "seeds": seeds_of(speeds["seed"]),
        "device": _device(speeds),
        "over": "",
        "over_precision": "",
        "signature": "" if scores.empty else only(scores, "signature"),
    }
    wide = _means(speeds, scores, scenario)
    differs = here[here["metric"] == DIFFERS].groupby(list(KEY))["value"].max()
    wide = wide.join(differs.rename("differs"), on=list(KEY))
    rows = sorted(({**same, **row} for row in records(wide)), key=_place(speeds))
    for row in rows:
        base = _denominator(rows, row, speedup_over.get(row["tier"]))
        if base:
            row |= _ratio(row, base, scenario)
    return pd.DataFrame(rows, columns=COLUMNS)


def _memory_beside_fewest_threads(speeds: pd.DataFrame) -> pd.DataFrame:
    memory = speeds["metric"].str.startswith(MEMORY)
    fewest = min(speeds.loc[~memory, "threads"], key=int)
    return speeds.assign(threads=speeds["threads"].mask(memory, fewest))


def _device(speeds: pd.DataFrame) -> str:
    """Return the device of the times, with the cores that they had.

    Of memory the processor alone counts: a cluster may give the job that measures it fewer cores.
    Raises UserError if the processors differ, or the cores of times.
    """
    only(speeds.assign(device=speeds["device"].map(processor)), "device")
    return only(speeds[~speeds["metric"].str.startswith(MEMORY)], "device")


def _means(speeds: pd.DataFrame, scores: pd.DataFrame, scenario: str) -> pd.DataFrame:
    """Return a line for every decoder in every setting, with METRICS and BLEU, means over seeds.

    In Smax a line is about the batch size with the most sentences a second.
    Raises UserError if a value stands twice.
    """
    index = [*GROUP, *KEY, "family", "layers", "parameters", "batch"]
    twice = speeds[speeds.duplicated([*index, "seed", "metric"])]
    if not twice.empty:
        raise UserError(f"{twice['metric'].iloc[0]} of {name_of(twice.iloc[0])} stands twice")
    wide = speeds.pivot_table("value", index, "metric", sort=False).reindex(columns=METRICS)
    wide = wide.dropna(subset=SPEED[scenario]).reset_index()  # memory may stand alone
    wide = wide.join(scores.groupby(list(KEY))["value"].mean().rename("bleu"), on=list(KEY))
    if scenario == "Smax":
        wide = wide.loc[wide.groupby([*GROUP, *KEY], sort=False)[SPEED[scenario]].idxmax()]
    return wide


def _place(speeds: pd.DataFrame) -> Callable[[Row], tuple[int, int, bool, int]]:
    """Return what rows are sorted by: their setting, and within it as they were timed."""
    names = list(dict.fromkeys(map(name_of, records(speeds[list(KEY)]))))

    def place(row: Row) -> tuple[int, int, bool, int]:
        tier, threads = TIERS.index(row["tier"]), int(row["threads"])
        return tier, threads, _coarse(row), names.index(name_of(row))

    return place


def _denominator(rows: Sequence[Row], row: Row, name: str | None) -> Row | None:
    """Return what the time of `row` is compared with; None if that was not timed at all."""
    timed = [other for other in rows if name_of(other) == name]
    alike = [other for other in timed if all(other[k] == row[k] for k in ("tier", "threads"))]
    fitting = [other for other in alike if other["precision"] == row["precision"]]
    if _coarse(row):
        fitting += alike
    if timed and not fitting:
        raise UserError(
            f"{name} was not timed as {name_of(row)} was ({row['tier']} tier, threads "
            f"{row['threads']}, {row['precision']}): a ratio never mixes these, so time it in the "
            f"same way or name another in speedup_over.{row['tier']}"
        )
    return fitting[0] if fitting else None


def _ratio(row: Row, base: Row, scenario: str) -> Row:
    """Return what a row says of its speed-up over `base`."""
    ratio = base[SPEED[scenario]] / row[SPEED[scenario]]
    return {
        "speedup": ratio if scenario == "S1" else 1 / ratio,
        "over": name_of(base),
        "over_precision": base["precision"],
        "over_disturbed": base["latency_disturbed"],
        "over_differs": base["differs"],
    }


def _models(rows: pd.DataFrame) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(rows[[*KEY, "seed"]])


def records(frame: pd.DataFrame) -> list[Row]:
    """Return the lines of a frame by their columns."""
    return [dict(zip(frame.columns, cells, strict=True)) for cells in frame.itertuples(index=False)]


def name_of(row: Any) -> str:
    """Return target/system/decoder of a row."""
    return "/".join(str(row[part]) for part in KEY)


def _coarse(row: Row) -> bool:
    return row["precision"] in COARSE


def precision_of(rows: pd.DataFrame) -> str:
    """Return the precision of the run: the finest, as single decoders choose coarser ones alone.

    Raises UserError if rows differ in it.
    """
    for coarse in (COARSE, ("int8",), ()):
        own = rows[~rows["precision"].isin(coarse)]
        if not own.empty:
            return only(own, "precision")
    raise UserError("nothing was timed")


def did_not_fit(tidy: pd.DataFrame, dataset: str, split: str, scenario: str) -> list[str]:
    """Return which decoders ran out of memory, each with its smallest such batch."""
    here = tidy[(tidy["dataset"] == dataset) & (tidy["split"] == split)]
    here = here[(here["scenario"] == scenario) & (here["metric"] == LEFT_OUT)]
    return [
        f"{system} ({target}) with {decoder} from {min(map(int, group['batch']))} on"
        for (target, system, decoder), group in here.groupby(list(KEY), sort=False)
    ]
