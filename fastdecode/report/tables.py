"""Tables for people, made of the tidy measurements, as Markdown and as LaTeX."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import pandas as pd

from fastdecode.errors import UserError
from fastdecode.measure.disturbance import DRIFT, OTHERS
from fastdecode.report.tidy import MEMORY

SETTING = ("tier", "scenario", "device", "threads", "precision")  # of all times in a table
NOT_RUN = "not run in this configuration"
NOT_MEASURED = "–"
SCORES = {"bleu": "BLEU", "chrf": "chrF", "tokenised_bleu": "tokenised BLEU"}
COLUMNS = [
    *("system", "target", "decoder", "layers", "parameters", "seeds"),
    *SCORES.values(),
    *("ms per sentence", "speed-up"),
]
NOTES = {
    "±": "±: standard deviation over seeds.",
    "†": f"†: the machine was disturbed: medians of repeats differ by more than {DRIFT:.0%}, or "
    f"other processes used more than {OTHERS} cores.",
    "‡": "‡: random weights, every translation as long as its reference.",
    NOT_MEASURED: f"{NOT_MEASURED}: not measured.",
}
ESCAPES = str.maketrans(
    {
        **{character: rf"\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "|": r"\textbar{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "×": r"$\times$",
        "±": r"$\pm$",
        "†": r"$^\dagger$",
        "‡": r"$^\ddagger$",
        "ᵃ": r"$^a$",
        "ᵇ": r"$^b$",
        "ᶜ": r"$^c$",
        "ᵈ": r"$^d$",
        "–": "--",
        "−": "$-$",
    }
)

Key = tuple[str, str, str]  # target, system, decoder: what a row of a table is about


@dataclass(frozen=True)
class Table:
    """A table as it is printed: every cell is text."""

    frame: pd.DataFrame
    caption: str


def systems_table(
    tidy: pd.DataFrame,
    dataset: str,
    split: str,
    denominator: Key,
    rows: Sequence[Key] | None = None,
    others: int = 0,
) -> Table:
    """Compare systems with their decoders on one split of a dataset.

    Scores and median times are means over seeds, with their standard deviation where there are
    several; a speed-up is the quotient of two times as they stand in the table. `rows` are those
    that the table is to have, and one without any measurement says so; by default it has all that
    were measured. `others` counts the systems that the run leaves out: the caption says so.

    Raises UserError if nothing was measured, and if speeds come from different tiers, scenarios,
    devices, numbers of threads or precisions, or scores have different signatures: one table
    compares like with like, so leave the others out of `tidy` first.
    """
    tidy = tidy[(tidy["dataset"] == dataset) & (tidy["split"] == split)]
    if tidy.empty:
        raise UserError(f"nothing was measured on the split {split!r} of {dataset!r}")
    comparison = _comparison(tidy)
    measured: dict[Key, pd.DataFrame] = {
        (str(target), str(system), str(decoder)): group
        for (target, system, decoder), group in tidy.groupby(
            ["target", "system", "decoder"], sort=False
        )
    }
    base = _by_seed(measured.get(denominator, tidy.iloc[:0]), "latency_median")
    lines = [_line(key, measured.get(key), base) for key in rows or measured]
    frame = pd.DataFrame(lines, columns=COLUMNS, dtype=str).fillna("")
    caption = [
        f"{dataset}, {split}.",
        f"Speed-up over {named(denominator)}" + ("." if base else ", which was not timed here."),
        *comparison,
        *([f"Systems of config/systems that are {NOT_RUN}: {others}."] if others else []),
        *notes(frame),
    ]
    return Table(frame, " ".join(caption))


def plainest_speeds(tidy: pd.DataFrame) -> pd.DataFrame:
    """Leave out all speeds but those of the reference tier, a sentence at a time, fewest threads.

    What is no speed stays. systems_table can compare what is left.
    """
    plain = (tidy["tier"] == "reference") & (tidy["scenario"] == "S1")
    timed = tidy[plain & (tidy["metric"] == "latency_median")]  # memory has a number of threads too
    fewest = min(map(int, timed["threads"]), default=0)
    return tidy[(tidy["tier"] == "") | (plain & (tidy["threads"] == str(fewest)))]


def named(key: Key) -> str:
    """Return how a caption calls a row."""
    target, system, decoder = key
    return f"{system} ({target}) with {decoder}"


def notes(frame: pd.DataFrame) -> list[str]:
    """Return what a caption says about the marks in the table."""
    text = "".join(frame.to_numpy().ravel())
    return [note for mark, note in NOTES.items() if mark in text]


def millions(count: str) -> str:
    """Return a number of parameters as it is printed; it is empty of given translations."""
    return f"{int(count) / 1e6:.2f} M" if count else NOT_MEASURED


def seeds_of(tidy: pd.DataFrame) -> str:
    """Return the seeds of tidy measurements, as captions and figures say them."""
    return ", ".join(sorted(tidy["seed"].unique(), key=int))


def only(rows: pd.DataFrame, column: str) -> str:
    """Return the one value of a column; raise UserError if it has several."""
    values = rows[column].unique().tolist()
    if len(values) > 1:
        raise UserError(
            f"one table cannot hold different values of {column} "
            f"({' and '.join(map(str, sorted(values)))}): make a table of each"
        )
    return str(values[0])


def to_markdown(frame: pd.DataFrame, caption: str) -> str:
    """Return the caption and below it the table, columns of numbers aligned to the right."""

    def line(cells: Sequence[str]) -> str:
        escaped = (cell.replace("|", r"\|").replace("<", r"\<") for cell in cells)
        return "| " + " | ".join(escaped) + " |"

    rule = ["---:" if _numeric(frame[column]) else "---" for column in frame.columns]
    lines = [line(list(frame.columns)), line(rule), *map(line, frame.to_numpy().tolist())]
    return caption + "\n\n" + "\n".join(lines) + "\n"


def to_latex(frame: pd.DataFrame, caption: str, label: str) -> str:
    """Return a `table` environment for the package booktabs, all text escaped."""

    def line(cells: Sequence[str]) -> str:
        return "    " + " & ".join(cell.translate(ESCAPES) for cell in cells) + r" \\"

    alignment = "".join("r" if _numeric(frame[column]) else "l" for column in frame.columns)
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{caption.translate(ESCAPES)}}}",
        rf"  \label{{{label}}}",
        rf"  \begin{{tabular}}{{{alignment}}}",
        r"    \toprule",
        line(list(frame.columns)),
        r"    \midrule",
        *map(line, frame.to_numpy().tolist()),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _line(key: Key, group: pd.DataFrame | None, base_times: Sequence[float]) -> dict[str, str]:
    target, system, decoder = key
    names = {"system": system, "target": target, "decoder": decoder}
    if group is None:
        return {**names, "BLEU": NOT_RUN}
    times = _by_seed(group, "latency_median")
    disturbed = any(_by_seed(group, "latency_disturbed"))
    speed_up = f"×{fmean(base_times) / fmean(times):.2f}" if base_times and times else NOT_MEASURED
    return {
        **names,
        "layers": only(group, "layers"),
        "parameters": millions(only(group, "parameters")),
        "seeds": str(group["seed"].nunique()),
        **{name: _mean(_by_seed(group, metric)) for metric, name in SCORES.items()},
        "ms per sentence": _mean(times) + ("†" if disturbed else ""),
        "speed-up": speed_up,
    }


def _comparison(tidy: pd.DataFrame) -> list[str]:
    """Say what all rows have in common; raise UserError if they do not."""
    parts = []
    speeds = tidy[(tidy["tier"] != "") & ~tidy["metric"].str.startswith(MEMORY)]
    if not speeds.empty:
        tier, scenario, device, threads, precision = (only(speeds, name) for name in SETTING)
        parts.append(
            f"Median times: {tier} tier, scenario {scenario}, {device}, threads {threads}, "
            f"{precision}{_seeds(tidy, speeds)}."
        )
    for metric, name in SCORES.items():
        scores = tidy[tidy["metric"] == metric]
        if not scores.empty:
            parts.append(f"{name}: {only(scores, 'signature')}.")
    return parts


def _seeds(scored: pd.DataFrame, timed: pd.DataFrame) -> str:
    """Say which seeds were timed, where they are not all."""
    seeds = seeds_of(timed)
    return "" if seeds == seeds_of(scored) else f", seed {seeds}"


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


def _numeric(cells: "pd.Series[str]") -> bool:
    """Whether every cell is a number, but for those that say that there is none."""
    return all(
        cell.lstrip("+−×")[:1].isdigit() or cell in ("", NOT_RUN, NOT_MEASURED) for cell in cells
    )
