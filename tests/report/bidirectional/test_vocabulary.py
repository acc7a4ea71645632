from typing import Any

import pandas as pd
import pytest

from fastdecode.config.papers import Artifact
from fastdecode.errors import UserError
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.bidirectional.vocabulary import cells, printed
from fastdecode.report.tidy import COLUMNS

ARTIFACT = Artifact(
    title="sizes",
    kind="table",
    function="bidirectional.vocabulary",
    setting="WMT14",
    labels={"vocabulary": "vocabulary"},
    published={"len": "length", "ratio": "ratio"},
    tiers=("reference", "optimised"),
    batch=32,
    systems={"single_l2r": "untrained/one/slow", "double_bidir": "untrained/two/slow"},
    rows={
        "v4k": {"vocabulary": 4000, "len": 58.1, "ratio": 162},
        "v8k": {"vocabulary": 8000, "len": 41.33, "ratio": 144},
    },
)
ENTRIES = {
    "single_l2r": {"reference": "untrained/one/slow", "optimised": "untrained/one/fast"},
    "double_bidir": {"reference": "untrained/two/slow", "optimised": "untrained/two/fast"},
}


def part(merges: int, corpus: str = "news", entries: Any = ENTRIES) -> Part:
    counted = {
        "provenance": {"dataset": "any", "corpus": corpus, "commit": "abc"},
        "merges_asked": merges,
        "languages": {"source": "en", "target": "de"},
        "vocabulary": {"source": merges + 5, "target": merges + 90},
        "mean_length": {"source": 30.125, "target": 33.875},
    }
    return Part("test", "test", entries, subwords=counted)


def value(dataset: str, name: str, metric: str, number: float, **more: str) -> dict[str, Any]:
    target, system, decoder = name.split("/")
    row = {"dataset": dataset, "target": target, "system": system, "decoder": decoder}
    row |= {"tier": "reference", "threads": "1", "precision": "fp32", "device": "cpu: X"}
    return (
        dict.fromkeys(COLUMNS, "")
        | row
        | more
        | {
            "seed": "1",
            "split": "test",
            "layers": "6-6",
            "metric": metric,
            "value": number,
        }
    )


def timed(dataset: str, single: str = "untrained/one/slow", **more: str) -> list[dict[str, Any]]:
    batches = {"scenario": "Smax", **more}
    alone = {"scenario": "S1", "batch": "1", **more}
    pairs = "untrained/two/slow"
    return [
        value(dataset, single, "throughput_tokens", 999.0, **batches, batch="8"),
        value(dataset, single, "throughput_tokens", 100.0, **batches, batch="32"),
        value(dataset, pairs, "throughput_tokens", 150.0, **batches, batch="32"),
        value(dataset, pairs, "latency_disturbed", 1.0, **batches, batch="32"),
        value(dataset, single, "latency_median", 30.0, **alone),
        value(dataset, pairs, "latency_median", 24.0, **alone),
    ]


def test_a_row_is_the_dataset_with_as_many_merges() -> None:
    tidy = pd.DataFrame([*timed("b"), *timed("a")])
    parts = {"a": part(8000), "b": part(4000), "c": part(5000)}
    found = cells(Evidence(ARTIFACT, tidy, parts))
    ours = found[found["source"] == "ours"].set_index(["row", "column"])
    assert set(zip(ours.index.get_level_values("row"), ours["dataset"], strict=True)) == {
        ("v8k", "a"),
        ("v4k", "b"),
    }
    assert ours.loc[("v8k", "tokens_per_s_single_l2r"), "value"] == 100
    assert ours.loc[("v8k", "tokens_per_s_ratio"), "value"] == 1.5
    assert ours.loc[("v8k", "tokens_per_s_ratio"), "over_batch"] == "32"
    assert ours.loc[("v8k", "latency_ms_ratio"), "value"] == 1.25
    assert ours.loc[("v8k", "vocabulary"), "value"] == 8090
    table = printed("x", ARTIFACT, found)
    assert table.frame.to_dict("list") == {
        "vocabulary": ["4000", "8000"],
        "published length": ["58.1", "41.33"],
        "published ratio": ["162", "144"],
        "news vocabulary reached": ["4,090", "8,090"],
        "news en length": ["30.12", "30.12"],
        "news de length": ["33.88", "33.88"],
        "news single tokens/s (reference)": ["100‡", "100‡"],
        "news pairs tokens/s (reference)": ["150†‡", "150†‡"],
        "news tokens/s ratio (reference)": ["×1.50†‡", "×1.50†‡"],
        "news single ms (reference)": ["30.00‡", "30.00‡"],
        "news pairs ms (reference)": ["24.00‡", "24.00‡"],
        "news speed-up (reference)": ["×1.25‡", "×1.25‡"],
    }
    assert "Ours: untrained/one/slow and untrained/two/slow, 6-6 layers; a and b." in table.caption
    assert "Smax, 32 a batch, reference tier, threads 1" in table.caption
    assert "‡: random weights" in table.caption and "†: the machine was disturbed" in table.caption


def test_two_corpora_have_columns_of_their_own() -> None:
    evidence = Evidence(ARTIFACT, pd.DataFrame(timed("a")), {"a": part(4000), "b": part(8000, "x")})
    frame = printed("x", ARTIFACT, cells(evidence)).frame
    assert frame["news vocabulary reached"].tolist() == ["4,090", ""]
    assert frame["x vocabulary reached"].tolist() == ["", "8,090"]
    assert not [name for name in frame if name.startswith("x ") and "tokens/s" in name]


def test_trained_systems_bear_no_mark() -> None:
    entries = {**ENTRIES, "single_l2r": {"reference": "raw/one/slow"}}
    tidy = pd.DataFrame(timed("a", single="raw/one/slow"))
    found = cells(Evidence(ARTIFACT, tidy, {"a": part(4000, entries=entries)})).set_index("column")
    assert found.loc["tokens_per_s_single_l2r", "marks"] == ""
    assert found.loc["tokens_per_s_double_bidir", "marks"] == "†‡"


def test_nothing_run() -> None:
    found = cells(Evidence(ARTIFACT, pd.DataFrame(timed("a")), {"a": part(5000)}))
    table = printed("x", ARTIFACT, found)
    assert list(table.frame) == ["vocabulary", "published length", "published ratio"]
    assert table.caption.endswith("Nothing of it was run here.")


def test_a_ratio_has_the_commits_of_both_times() -> None:
    tidy = pd.DataFrame(timed("a", commit="c0ffee"))
    tidy.loc[tidy["system"] == "two", "commit"] = "1ater"
    found = cells(Evidence(ARTIFACT, tidy, {"a": part(4000)}))
    assert set(found.loc[found["over"] != "", "commit"]) == {"1ater c0ffee"}


def test_two_devices_are_refused() -> None:
    rows = timed("a")
    rows[2]["device"] = "cpu: Y"
    with pytest.raises(UserError, match="untrained/two/slow: on different devices"):
        cells(Evidence(ARTIFACT, pd.DataFrame(rows), {"a": part(4000)}))


def test_a_ratio_has_the_marks_of_both_times() -> None:
    alone = {"scenario": "S1", "batch": "1"}
    rows = [*timed("a"), value("a", "untrained/one/slow", "latency_disturbed", 1.0, **alone)]
    found = cells(Evidence(ARTIFACT, pd.DataFrame(rows), {"a": part(4000)})).set_index("column")
    assert found.loc["latency_ms_double_bidir", "marks"] == "‡"
    assert found.loc["latency_ms_ratio", "marks"] == "†‡"
