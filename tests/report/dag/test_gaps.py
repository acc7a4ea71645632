import pandas as pd
import pytest

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.dag.gaps import cells, printed
from tests.report.conftest import DEVICE, value

ARTIFACT = Artifact(
    title="quality",
    kind="table",
    function="dag.gaps",
    labels={"model": "model"},
    published={"gap_raw": "gap, raw", "gap_kd": "gap, distilled"},
    measured={"raw": "bleu@raw", "kd": "bleu@kd"},
    over="slow",
    rows={
        "slow": {"model": "AR", "gap_raw": 0, "ours": {"raw": "raw/base/a", "kd": "big/small/a"}},
        "graph": {"model": "graph", "ours": {"raw": "raw/base/b", "kd": "big/small/b"}},
        "half": {"model": "half", "ours": {"raw": "raw/base/c", "kd": "big/small/c"}},
        "theirs": {"model": "theirs", "gap_raw": 3.0},
    },
)
NAMES = {"slow": "a", "graph": "b", "half": "c"}
ENTRIES = {
    f"{row}@{which}": {"reference": f"{model}/{decoder}"}
    for row, decoder in NAMES.items()
    for which, model in (("raw", "raw/base"), ("kd", "big/small"))
}


def made() -> pd.DataFrame:
    scores = {
        "toy": {"raw/base/a": 30, "raw/base/b": 28, "raw/base/c": 20, "big/small/a": 31,
                "big/small/b": 32},
        "real": {"raw/base/a": 40, "raw/base/b": 39, "big/small/a": 41, "big/small/b": 40.5},
    }  # fmt: skip
    rows = [
        value(name, "bleu", bleu, dataset=dataset)
        for dataset, several in scores.items()
        for name, bleu in several.items()
    ]
    return pd.DataFrame(rows)


def test_gaps_are_means_over_the_datasets_on_the_same_targets() -> None:
    parts = {name: Part("test", "test", ENTRIES) for name in ("toy", "real")}
    found = cells(Evidence(ARTIFACT, made(), parts))
    of_ours = found[(found["source"] == "ours")].set_index(["row", "column"])
    ours = of_ours["value"]
    assert ours["graph", "gap_raw"] == pytest.approx((2 + 1) / 2)
    whose = of_ours.loc[("graph", "gap_raw")]
    assert dict(whose[["dataset", "split", "seeds", "what", "over", "device", "commit"]]) == {
        "dataset": "toy real",
        "split": "test",
        "seeds": "1",
        "what": "raw/base/b",
        "over": "slow",
        "device": DEVICE,
        "commit": "c0ffee",
    }
    assert ours["graph", "gap_kd"] == pytest.approx((-1 + 0.5) / 2)
    assert ours["slow", "gap_raw"] == 0
    assert ours["half", "gap_raw"] == pytest.approx(10)  # of the one dataset that it was run on
    assert ("half", "gap_kd") not in ours.index
    later = made()
    later.loc[later["decoder"] == "b", "commit"] = "1ater"
    gaps = cells(Evidence(ARTIFACT, later, parts)).set_index(["row", "column"])["commit"]
    assert gaps["graph", "gap_raw"] == "1ater c0ffee"
    table = printed("dag.table1", ARTIFACT, found)
    frame = table.frame.set_index("model")
    assert frame["our gap, raw"].to_dict() == {
        "AR": "0.00",
        "graph": "1.50",
        "half": "10.00",
        "theirs": "",
    }
    assert frame.loc["graph", "our gap, distilled"] == "−0.25"
    assert frame.loc["theirs", "published gap, raw"] == "3"
    assert "to the row AR, means over those of real and toy that a row has." in table.caption


def test_nothing_of_it_was_run() -> None:
    found = cells(Evidence(ARTIFACT, made(), {"toy": Part("test", "test", {})}))
    table = printed("dag.table1", ARTIFACT, found)
    assert "Nothing of it was run here." in table.caption
    assert "our gap, raw" not in table.frame


def test_a_gap_is_no_median() -> None:
    scores = {"toy": (30, 28), "real": (40, 39), "news": (50, 41)}
    rows = [
        value(name, "bleu", bleu, dataset=dataset)
        for dataset, several in scores.items()
        for name, bleu in zip(("raw/base/a", "raw/base/b"), several, strict=True)
    ]
    parts = {name: Part("test", "test", ENTRIES) for name in scores}
    found = cells(Evidence(ARTIFACT, pd.DataFrame(rows), parts))
    ours = found[found["source"] == "ours"].set_index(["row", "column"])["value"]
    assert ours["graph", "gap_raw"] == pytest.approx((2 + 1 + 9) / 3)
