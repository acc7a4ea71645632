"""The pictures of a run that belong to no paper, each drawn from its CSV file alone.

What such a file is called says what it is drawn as: `stages.toy.test.reference.threads1.csv`.
"""

from collections.abc import Callable
from pathlib import Path

from fastdecode.errors import UserError
from fastdecode.report.canvas import FORMATS
from fastdecode.report.latency_figures import draw_by_length, draw_speedups, draw_stages
from fastdecode.report.latency_numbers import SETTINGS
from fastdecode.report.learning_curves import ORIGIN, draw_learning_curves
from fastdecode.report.pareto import draw_pareto
from fastdecode.report.sheet import AGAIN, read_csv
from fastdecode.report.speed_numbers import SPEEDS

SPEED = "speed"  # one such table gives a picture of every tier
DRAWN: dict[str, Callable[..., None]] = {
    "learning_curves": draw_learning_curves,
    "latency_by_length": draw_by_length,
    "speedup_distribution": draw_speedups,
    "stages": draw_stages,
}
NAMES = (*DRAWN, SPEED)  # what names of such files begin with
TEXTS = {*ORIGIN, *SETTINGS} - {"latency_disturbed", "differs"}


def draw(csv: Path, *pictures: Path) -> None:
    """Draw such a CSV, but one of speeds, into `pictures`.

    Raises UserError if it is missing or empty, or lacks a column.
    """
    columns = dict.fromkeys(TEXTS, str)
    numbers = read_csv(csv, dtype=columns, na_values=[""], keep_default_na=False)
    if numbers.empty:
        raise UserError(f"{csv}: it has no rows: {AGAIN}")
    try:
        DRAWN[_kind(csv)](numbers.fillna(dict.fromkeys(columns, "")), *pictures)
    except KeyError as error:
        raise UserError(f"{csv}: it has no column {error}: {AGAIN}") from None


def redraw(csv: Path, out: Path) -> list[Path]:
    """Draw such a CSV into `out` in all formats, one of speeds for every tier that has BLEU.

    Returns the pictures.

    Raises UserError as `draw` does.
    """
    if _kind(csv) != SPEED:
        files = _files(out, csv.stem)
        draw(csv, *files)
        return list(files)
    rows = SPEEDS.read(csv)
    place, _, scenario = csv.stem.removeprefix(f"{SPEED}.").rpartition(".")
    tiers = rows.loc[rows["bleu"].notna(), "tier"].unique()
    pictures = {tier: _files(out, f"pareto.{place}.{tier}.{scenario}") for tier in tiers}
    for tier, files in pictures.items():
        draw_pareto(rows, tier, *files)
    return [file for files in pictures.values() for file in files]


def _kind(csv: Path) -> str:
    return csv.name.partition(".")[0]


def _files(out: Path, name: str) -> tuple[Path, ...]:
    return tuple(out / f"{name}.{kind}" for kind in FORMATS)
