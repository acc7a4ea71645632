from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest

from fastdecode.errors import UserError
from fastdecode.files import read_json, write_json
from fastdecode.measure.significance import Comparison
from fastdecode.report.latex import to_latex
from fastdecode.report.significance import (
    COLUMNS,
    ORIGIN,
    SYSTEM,
    read_comparisons,
    significance_table,
)
from fastdecode.report.tables import to_markdown

FOUND = Comparison(
    bleu=36.8145,
    low=35.2,
    high=38.36,
    difference=-1.5215,
    baseline_bleu=38.336,
    baseline_low=36.8,
    baseline_high=39.8,
    p_randomisation=0.0002,
    p_bootstrap=0.001,
    lines=1000,
    changed=600,
    shuffles=10_000,
    resamples=1_000,
    signature_randomisation="nrefs:1|ar",
    signature_bootstrap="nrefs:1|bs",
)


def document(folder: Path, **changes: Any) -> Path:
    """Write what the rule compare_quality writes: one row, with `changes`."""
    names = {"target": "big", "system": "base", "decoder": "greedy", "seed": 1}
    origin = {"dataset": "toy", "split": "test", "seed": None}
    row = {**names, "baseline": "raw/base/beam5", **asdict(FOUND), **changes}
    write_json(folder / "x.json", {"provenance": origin, "rows": [row]})
    return folder / "x.json"


def cells(folder: Path, **changes: Any) -> dict[str, str]:
    frame = significance_table(read_comparisons(document(folder, **changes))).frame
    return {str(key): str(value) for key, value in frame.iloc[0].items()}


def test_the_columns_are_all_that_a_comparison_has() -> None:
    names = (field.name for field in fields(Comparison))
    assert [*ORIGIN, "baseline", *SYSTEM, *names] == COLUMNS


def test_the_csv_has_every_digit(tmp_path: Path) -> None:
    frame = read_comparisons(document(tmp_path, p_bootstrap=0.1 + 0.2))
    assert frame["p_bootstrap"].tolist() == [0.1 + 0.2]
    assert frame["seed"].tolist() == [1]
    assert str(0.1 + 0.2) in frame.to_csv(index=False)


def test_cells(tmp_path: Path) -> None:
    assert cells(tmp_path) == {
        "system": "base",
        "target": "big",
        "decoder": "greedy",
        "seed": "1",
        "BLEU": "36.81",
        "95% interval": "35.20–38.36",
        "baseline BLEU": "38.34",
        "difference": "−1.52",
        "p (randomisation)": "0.0002",
        "p (bootstrap)": "0.0010",
        "marks": "**",
    }


@pytest.mark.parametrize(
    ("p", "mark"), [(0.0, "**"), (0.0099, "**"), (0.01, "*"), (0.049, "*"), (0.05, ""), (1.0, "")]
)
def test_marks_follow_the_randomisation(tmp_path: Path, p: float, mark: str) -> None:
    assert cells(tmp_path, p_randomisation=p)["marks"] == mark
    assert cells(tmp_path, p_randomisation=1.0, p_bootstrap=p)["marks"] == ""


@pytest.mark.parametrize(
    ("difference", "cell"), [(1.5, "+1.50"), (0.0, "0.00"), (-0.001, "0.00"), (-10.0, "−10.00")]
)
def test_signs(tmp_path: Path, difference: float, cell: str) -> None:
    assert cells(tmp_path, difference=difference)["difference"] == cell


def test_the_caption_says_what_was_tested_and_how(tmp_path: Path) -> None:
    caption = significance_table(read_comparisons(document(tmp_path))).caption
    assert caption.startswith("toy, test: paired tests of BLEU against base (raw) with beam5, same")
    assert "10,000 shuffles, nrefs:1|ar." in caption
    assert "1,000 resamples, nrefs:1|bs." in caption


def test_numbers_are_aligned_and_printed_as_numbers(tmp_path: Path) -> None:
    table = significance_table(read_comparisons(document(tmp_path)))
    rule = to_markdown(table.frame, table.caption).splitlines()[3]
    assert rule.count("---:") == 7  # seed to p (bootstrap)
    assert "$-$1.52" in to_latex(table, "tab:x")
    assert r"35.20\textendash{}38.36" in to_latex(table, "tab:x")


@pytest.mark.parametrize("key", ["baseline", "changed"])
def test_a_file_that_lacks_a_key_is_named(tmp_path: Path, key: str) -> None:
    path = document(tmp_path)
    text = read_json(path)
    text["provenance"].pop(key, None)
    text["rows"][0].pop(key, None)
    write_json(path, text)
    with pytest.raises(UserError, match=rf"x.json: it has no '{key}'"):
        read_comparisons(path)
