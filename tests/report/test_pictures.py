"""Pictures from CSV files are those that were drawn from the numbers themselves."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from fastdecode.errors import UserError
from fastdecode.files import write_csv
from fastdecode.report.latency_figures import draw_by_length, draw_speedups, draw_stages
from fastdecode.report.latency_numbers import (
    by_length,
    by_stage,
    measured_so,
    speedups,
    with_settings,
)
from fastdecode.report.learning_curves import draw_learning_curves
from fastdecode.report.pareto import draw_pareto
from fastdecode.report.pictures import draw, redraw
from fastdecode.report.speed_numbers import speed_rows

PLACE = "toy.test.reference.threads1"
BASE = "raw/base/beam5"
CURVE = {"dataset": "NA", "target": "raw", "system": "base", "seed": "1", "device": "X"}
Made = dict[str, tuple[pd.DataFrame, Callable[..., None]]]


@pytest.fixture
def made(tidy: pd.DataFrame, samples: pd.DataFrame) -> Made:
    """Name of a CSV file → its numbers and what draws them."""
    rows = measured_so(tidy, "toy", "test", "reference", "1")
    steps = {"update": [1, 2], "seconds": [60.0, 90.0], "valid_nll_loss": [3.0, 2.0]}
    # a dataset may have a name that pandas takes for nothing at all
    curve = pd.DataFrame({**CURVE, "commit": "abc", **steps, "valid_bleu": [float("nan"), 7 / 3]})
    return {
        f"latency_by_length.{PLACE}": (with_settings(by_length(samples), rows), draw_by_length),
        f"speedup_distribution.{PLACE}": (
            with_settings(speedups(samples, BASE), rows, BASE),
            draw_speedups,
        ),
        f"stages.{PLACE}": (with_settings(by_stage(rows), rows), draw_stages),
        "learning_curves": (curve, draw_learning_curves),
    }


def test_a_picture_is_drawn_again_as_it_was(tmp_path: Path, made: Made) -> None:
    for name, (numbers, paint) in made.items():
        write_csv(tmp_path / f"{name}.csv", numbers)
        paint(numbers, tmp_path / "once.svg")
        redraw(tmp_path / f"{name}.csv", tmp_path / "again")
        assert (tmp_path / "again" / f"{name}.pdf").is_file()
        again = (tmp_path / "again" / f"{name}.svg").read_bytes()
        assert again == (tmp_path / "once.svg").read_bytes(), name


def test_speeds_give_a_picture_of_each_tier_with_bleu(
    tmp_path: Path, tidy: pd.DataFrame, saved: list[Figure]
) -> None:
    rows = speed_rows(tidy, "toy", "test", "Smax", {"reference": BASE, "optimised": None})
    write_csv(tmp_path / "speed.toy.test.Smax.csv", rows)
    redraw(tmp_path / "speed.toy.test.Smax.csv", tmp_path / "again")
    pictures = {path.name for path in (tmp_path / "again").glob("*.svg")}
    assert pictures == {f"pareto.toy.test.{tier}.Smax.svg" for tier in ("reference", "optimised")}
    draw_pareto(rows, "optimised", tmp_path / "once.svg")
    again = tmp_path / "again/pareto.toy.test.optimised.Smax.svg"
    assert again.read_bytes() == (tmp_path / "once.svg").read_bytes()
    rows.loc[rows["tier"] == "optimised", "bleu"] = float("nan")
    write_csv(tmp_path / "speed.toy.test.Smax.csv", rows)
    redraw(tmp_path / "speed.toy.test.Smax.csv", tmp_path / "less")
    assert [path.name for path in (tmp_path / "less").glob("*.svg")] == [
        "pareto.toy.test.reference.Smax.svg"
    ]


def test_numbers_that_lack_something(tmp_path: Path, made: Made) -> None:
    with pytest.raises(UserError, match=r"stages\.x\.csv: no such file"):
        draw(tmp_path / "stages.x.csv", tmp_path / "x.svg")
    for name, (numbers, _) in made.items():
        key = "system" if name == "learning_curves" else "device"
        write_csv(tmp_path / f"{name}.csv", numbers.drop(columns=key))
        with pytest.raises(UserError, match=rf"{name}\.csv: it has no column .*{key}"):
            draw(tmp_path / f"{name}.csv", tmp_path / "x.svg")
        write_csv(tmp_path / f"{name}.csv", numbers.iloc[:0])
        with pytest.raises(UserError, match=rf"{name}\.csv: it has no rows"):
            draw(tmp_path / f"{name}.csv", tmp_path / "x.svg")
    assert not list(tmp_path.glob("*.svg"))
