"""What the workflow measures of translations, and whether differences are more than chance."""

import json

import pandas as pd
import pytest

from tests.workflow.conftest import SIZES, Workplace


def test_every_metric_reaches_the_measurements(finished: Workplace) -> None:
    measurements = pd.read_csv(finished.path("report/micro/measurements.csv"))
    metrics = set(measurements["metric"])
    assert {"compound_split_bleu", "repetition_rate", "bleu_by_length/1-10"} <= metrics
    assert {"precision1_first5", "precision4_last15"} <= metrics
    lines = measurements[measurements["metric"].str.startswith("lines_by_length/")]
    assert lines["value"].sum() == 4 * SIZES["test"]  # of each decoder


def test_every_decoder_is_tested_against_the_baseline(finished: Workplace) -> None:
    report = finished.path("report/micro")
    found = json.loads((report / "significance/micro.test.json").read_text())
    assert found["provenance"]["baselines"] == ["raw/transformer-big/beam5"]
    assert found["provenance"]["commit"]
    assert len(found["rows"]) == 4
    table = pd.read_csv(report / "significance.micro.test.csv")
    assert table["shuffles"].tolist() == [10_000] * 4
    own = table[(table["system"] == "transformer-big") & (table["decoder"] == "beam5")].iloc[0]
    assert (own["difference"], own["p_randomisation"], own["changed"]) == (0, 1, 0)
    quality = json.loads(
        finished.path("micro/raw/transformer-big/seed1/test.beam5.quality.json").read_text()
    )
    assert own["bleu"] == quality["metrics"]["bleu"]["value"]
    text = (report / "significance.micro.test.md").read_text()
    assert "against transformer-big (raw) with beam5, same seed" in text
    pairs = pd.read_csv(report / "differences.micro.test.csv")
    assert len(pairs) == 6 and (pairs["low"] <= pairs["difference"]).all()
    tested = dict(zip(table["system"] + "/" + table["decoder"], table["difference"], strict=True))
    for row in pairs.to_dict("records"):
        one, other = (tested[row[key].partition("/")[2]] for key in ("system", "other"))
        assert row["difference"] == pytest.approx(one - other, abs=2e-4)
    assert r"\begin{table}" in (report / "significance.micro.test.tex").read_text()
