"""Speed tables: each ratio within one tier and setting, beside the times that it is made of.

`speed_rows` makes the numbers, which are written as CSV; the printed table, and the figures of
quality against speed, are made of these rows alone.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from fastdecode.config.rows import UNTRAINED
from fastdecode.errors import UserError
from fastdecode.provenance import is_cpu, processor
from fastdecode.report.sheet import Sheet
from fastdecode.report.tables import (
    APART,
    DISTURBED,
    NOT_MEASURED,
    RANDOM,
    Table,
    millions,
    notes,
    of_both,
    only,
    seeds_of,
)
from fastdecode.report.tidy import LEFT_OUT, MEMORY

KEY = ("target", "system", "decoder")
GROUP = ("tier", "threads", "precision")  # with the device: what the times of a ratio share
TIERS = ("reference", "optimised")
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
    "layers",
    "parameters",
    "batch",
    "over",  # the denominator
    "over_precision",
    "signature",  # of BLEU
]
NUMBERS = ("bleu", "speedup", "over_disturbed", *METRICS)
COLUMNS = [*TEXTS, *NUMBERS]
LATER = ("over_disturbed", "latency_serial_layers")  # columns that older files lack
SPEEDS = Sheet(tuple(COLUMNS), NUMBERS, LATER)

SCENARIOS = {
    "S1": "one sentence at a time, times in ms a sentence",
    "Smax": "in batches, of the sizes measured the one with the most sentences a second",
}
CELLS = {  # heading: how it is printed, of which column
    "S1": {
        "median ms": ("{:.2f}", "latency_median"),
        "mean ms": ("{:.2f}", "latency_mean"),
        "p90 ms": ("{:.2f}", "latency_p90"),
        "p99 ms": ("{:.2f}", "latency_p99"),
        "speed-up": ("×{:.2f}", "speedup"),
        "tokens": ("{:.1f}", "latency_tokens"),
        "passes": ("{:.1f}", "latency_passes"),
        "layers in turn": ("{:.0f}", "latency_serial_layers"),
        "MB a pass": ("{:.2f}", "latency_bytes_per_pass"),
        "floor": ("{:.1%}", "latency_floor_fraction"),
        "peak MB": ("{:.0f}", "memory_peak"),
    },
    "Smax": {
        "batch": ("{}", "batch"),
        "sentences/s": ("{:.1f}", "throughput_sentences"),
        "tokens/s": ("{:.0f}", "throughput_tokens"),
        "speed-up": ("×{:.2f}", "speedup"),
        "ms a batch": ("{:.2f}", "latency_median"),
        "peak MB": ("{:.0f}", "memory_peak"),
    },
}
EXPLAINED = {
    "layers in turn": "Layers in turn: those of the encoder and of all passes, which wait for one "
    "another on any machine.",
    "floor": "Floor: the time in which memory could deliver the weights of all passes, as a share "
    "of the mean; it is above 100% where weights stay in the caches.",
    "peak MB": "Peak MB: the most memory that a process took which translated with this system "
    "alone, with one thread; on a GPU the memory of its tensors, where PyTorch holds them.",
}

Row = dict[str, Any]
Key = tuple[str, str, str]  # target, system, decoder


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
    `over_disturbed` is above zero if the denominator's time was disturbed.

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
    timed = _models(here).isin(_models(speeds))
    scores = here[(here["metric"] == "bleu") & timed]
    memory = speeds["metric"].str.startswith(MEMORY)
    fewest = min(speeds.loc[~memory, "threads"], key=int)
    speeds = speeds.assign(threads=speeds["threads"].mask(memory, fewest))
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
    index = [*GROUP, *KEY, "layers", "parameters", "batch"]
    twice = speeds[speeds.duplicated([*index, "seed", "metric"])]
    if not twice.empty:
        raise UserError(f"{twice['metric'].iloc[0]} of {_name(twice.iloc[0])} stands twice")

    wide = speeds.pivot_table("value", index, "metric", sort=False).reindex(columns=METRICS)
    wide = wide.dropna(subset=SPEED[scenario]).reset_index()  # memory may stand alone
    wide = wide.join(scores.groupby(list(KEY))["value"].mean().rename("bleu"), on=list(KEY))
    if scenario == "Smax":
        wide = wide.loc[wide.groupby([*GROUP, *KEY], sort=False)[SPEED[scenario]].idxmax()]
    rows: list[Row] = [{**same, **row} for row in _records(wide)]
    names = list(dict.fromkeys(map(_name, _records(speeds[list(KEY)]))))
    rows.sort(
        key=lambda row: (
            TIERS.index(row["tier"]),
            int(row["threads"]),
            _coarse(row),
            names.index(_name(row)),  # as they were timed
        )
    )
    for row in rows:
        base = _denominator(rows, row, speedup_over.get(row["tier"]))
        if base:
            ratio = base[SPEED[scenario]] / row[SPEED[scenario]]
            row["speedup"] = ratio if scenario == "S1" else 1 / ratio
            row["over"], row["over_precision"] = _name(base), base["precision"]
            row["over_disturbed"] = base["latency_disturbed"]
    return pd.DataFrame(rows, columns=COLUMNS)


def marks(row: Row) -> str:
    """Return what the time of a row of speed_rows is marked with."""
    return _marks(row["latency_disturbed"], row["target"])


def ratio_marks(row: Row) -> str:
    """Return what the speed-up of a row of speed_rows is marked with, which is of two times."""
    return of_both(marks(row), _marks(row["over_disturbed"], row["over"].partition("/")[0]))


def _marks(disturbed: float, target: str) -> str:
    return (DISTURBED if disturbed > 0 else "") + (RANDOM if target == UNTRAINED else "")


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


def speed_table(
    rows: pd.DataFrame, left_out: Sequence[str] = (), apart: Collection[Key] = ()
) -> Table:
    """Return the rows of speed_rows as they are printed, with the caption that explains them.

    `left_out` is what did_not_fit returns; `apart` are the decoders that write something else than
    they have to (fastdecode.measure.agreement.apart), which are marked.
    """
    scenario = only(rows, "scenario")
    rows = rows.assign(
        latency_bytes_per_pass=rows["latency_bytes_per_pass"] / 1e6,  # MB
        memory_peak=rows["memory_peak"].where(
            rows["device"].map(is_cpu), rows["memory_allocator_peak"]
        ),
    )
    printed = pd.DataFrame([_cells(row, scenario) for row in _records(rows)], dtype=str)
    differs = [tuple(row[part] for part in KEY) in apart for row in _records(rows)]
    printed["decoder"] += [APART if one else "" for one in differs]
    where = [only(rows, name) for name in ("dataset", "split", "seeds", "device", "signature")]
    dataset, split, seeds, device, signature = where
    caption = [
        f"{dataset}, {split}, seed {seeds}, {scenario}: {SCENARIOS[scenario]}, on {device}.",
        *(over(tier, rows[rows["tier"] == tier]) for tier in rows["tier"].unique()),
        "Ratios are of " + ("medians" if scenario == "S1" else "sentences a second") + ", both with"
        " the same number of threads and, but where the table says otherwise, precision.",
        *_samples(rows["latency_n"].dropna(), "lines" if scenario == "S1" else "batches"),
        *(note for heading, note in EXPLAINED.items() if heading in printed),
        *([f"Memory did not suffice: {'; '.join(left_out)}."] if left_out else []),
        *([f"BLEU: {signature}."] if signature else []),
        *notes(printed),
    ]
    return Table(printed, caption)


def _samples(counts: "pd.Series[float]", what: str) -> list[str]:
    """Say how many samples a time is of."""
    if counts.empty:
        return []
    numbers = " to ".join(f"{count:.0f}" for count in sorted({counts.min(), counts.max()}))
    return [f"Every time is of {numbers} samples, {what} by repeats."]


def described(rows: pd.DataFrame) -> str:
    """Return two lines for the head of a figure: what was measured, and on which device.

    `rows` are of speed_rows, or have such columns. † says that times of some of them were
    disturbed.

    Raises UserError if that differs between the rows.
    """
    names = ("dataset", "split", "seeds", "tier", "scenario", "device")
    dataset, split, seeds, tier, scenario, device = (only(rows, name) for name in names)
    precision = " and ".join(rows["precision"].unique())
    what = f"{dataset}, {split}, seed {seeds}: {tier} tier, {scenario}, {precision}"
    busy = f", {DISTURBED} on a busy machine" if (rows["latency_disturbed"] > 0).any() else ""
    return f"{what}\n{device}{busy}"


def threads_of(number: str) -> str:
    """Return a number of threads as a figure says it."""
    return f"{number} thread" + ("" if number == "1" else "s")


def _device(speeds: pd.DataFrame) -> str:
    """Return the device of the times, with the cores that they had.

    Of memory the processor alone counts: a cluster may give the job that measures it fewer cores.
    Raises UserError if the processors differ, or the cores of times.
    """
    only(speeds.assign(device=speeds["device"].map(processor)), "device")
    return only(speeds[~speeds["metric"].str.startswith(MEMORY)], "device")


def _models(rows: pd.DataFrame) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(rows[[*KEY, "seed"]])


def _records(frame: pd.DataFrame) -> list[Row]:
    return [dict(zip(frame.columns, cells, strict=True)) for cells in frame.itertuples(index=False)]


def _name(row: Any) -> str:
    return "/".join(str(row[part]) for part in KEY)


def _coarse(row: Row) -> bool:
    return row["precision"] in COARSE


def _denominator(rows: Sequence[Row], row: Row, name: str | None) -> Row | None:
    """Return what the time of `row` is compared with; None if that was not timed at all."""
    timed = [other for other in rows if _name(other) == name]
    alike = [other for other in timed if all(other[k] == row[k] for k in ("tier", "threads"))]
    fitting = [other for other in alike if other["precision"] == row["precision"]]
    if _coarse(row):
        fitting += alike
    if timed and not fitting:
        raise UserError(
            f"{name} was not timed as {_name(row)} was ({row['tier']} tier, threads "
            f"{row['threads']}, {row['precision']}): a ratio never mixes these, so time it in the "
            f"same way or name another in speedup_over.{row['tier']}"
        )
    return fitting[0] if fitting else None


def _cells(row: Row, scenario: str) -> dict[str, str]:
    """Return the cells of a printed row by their headings."""
    precision, over = row["precision"], row["over_precision"]
    cells = {
        "tier": row["tier"],
        "threads": row["threads"],
        "precision": precision if over in ("", precision) else f"{precision} over {over}",
        "system": row["system"],
        "target": row["target"],
        "decoder": row["decoder"],
        "layers": row["layers"],
        "parameters": millions(row["parameters"]),
        "BLEU": _printed("{:.2f}", row["bleu"]),
    }
    for heading, (form, column) in CELLS[scenario].items():
        cells[heading] = _printed(form, row[column])
        if column == SPEED[scenario]:
            cells[heading] += marks(row)
        if column == "speedup" and not pd.isna(row[column]):
            cells[heading] += ratio_marks(row)
    return cells


def _printed(form: str, value: Any) -> str:
    return NOT_MEASURED if pd.isna(value) else form.format(value)


def over(tier: str, rows: pd.DataFrame) -> str:
    """Say what the speed-ups of a tier are over."""
    name = next((over for over in rows["over"] if over), "")
    if not name:
        return f"In the {tier} tier nothing was timed that speed-ups could be over."
    target, system, decoder = name.split("/")
    return f"Speed-ups in the {tier} tier are over {system} ({target}) with {decoder}."
