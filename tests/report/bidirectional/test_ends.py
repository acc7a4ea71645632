import pandas as pd
import pytest

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.bidirectional.ends import cells, printed
from tests.report.conftest import value

ARTIFACT = Artifact(
    title="ends",
    kind="table",
    function="bidirectional.ends",
    setting="WMT14",
    datasets=("toy",),
    labels={"end": "tokens"},
    published={"p1_single_l2r": "1-gram, single", "p1_diff": "1-gram, difference"},
    systems={"single_l2r": "raw/base/beam5", "double_bidir": "big/small/beam5"},
    rows={
        "all": {"end": "all", "p1_single_l2r": 59.8, "p1_diff": 0.1},
        "left5": {"end": "first5", "p1_single_l2r": 53.8, "p1_diff": 0.0},
    },
)
ENTRIES = {
    "single_l2r": {"reference": "raw/base/beam5"},
    "double_bidir": {"reference": "big/small/beam5"},
}


def test_precisions_of_two_systems_and_their_difference() -> None:
    rows = [
        value("raw/base/beam5", "precision1_all/over30", 0.5),
        value("raw/base/beam5", "precision1_all/over30", 0.7, seed="2"),
        value("raw/base/beam5", "precision1_all", 0.9),
        value("big/small/beam5", "precision1_all/over30", 0.625),
        value("raw/base/beam5", "precision1_first5/over30", 0.25),
    ]
    found = cells(Evidence(ARTIFACT, pd.DataFrame(rows), {"toy": Part("test", "test", ENTRIES)}))
    cells_of_ours = found[found["source"] == "ours"].set_index(["row", "column"])
    ours = cells_of_ours["value"]
    assert ours["all", "p1_single_l2r"] == pytest.approx(60)
    assert ours["all", "p1_diff"] == pytest.approx(2.5)
    assert cells_of_ours.loc[("all", "p1_single_l2r"), "seeds"] == "1 2"
    both = cells_of_ours.loc[("all", "p1_diff"), ["what", "over", "commit"]]
    assert both.tolist() == ["big/small/beam5", "raw/base/beam5", "c0ffee"]
    assert set(cells_of_ours.loc["all", "part"]) == {"precision1_all/over30"}
    assert ("left5", "p1_diff") not in ours.index
    table = printed("x", ARTIFACT, found)
    assert table.frame.to_dict("list") == {
        "tokens": ["all", "first5"],
        "published 1-gram, single": ["59.8", "53.8"],
        "published 1-gram, difference": ["0.1", "0.0"],
        "toy 1-gram, single": ["60.0 ± 14.1", "25.0"],
        "toy 1-gram, difference": ["2.5", ""],
    }
    assert "Ours: raw/base/beam5 on toy, test, lines of over 30 words." in table.caption
    assert "Ours: means over up to 2 seeds (1, 2)." in table.caption
    assert "Published: WMT14." in table.caption
    unsaid = printed("x", ARTIFACT.model_copy(update={"setting": ""}), found)
    assert "Published" not in unsaid.caption


def test_all_lines_count_on_another_corpus() -> None:
    rows = [
        value("raw/base/beam5", "precision1_all/over30", 0.5),
        value("raw/base/beam5", "precision1_all", 0.9),
    ]
    elsewhere = ARTIFACT.model_copy(update={"datasets": ("wmt14",)})
    found = cells(Evidence(elsewhere, pd.DataFrame(rows), {"toy": Part("test", "test", ENTRIES)}))
    ours = found[found["source"] == "ours"].set_index(["row", "column"])["value"]
    assert ours["all", "p1_single_l2r"] == pytest.approx(90)
    assert "Ours: raw/base/beam5 on toy, test, all lines." in printed("x", elsewhere, found).caption


def test_ngrams_of_either_order_of_the_dataset_alone_count() -> None:
    rows = [
        value("raw/base/beam5", f"precision{order}_all/over30", share, dataset=dataset)
        for order, share in ((1, 0.5), (4, 0.125))
        for dataset in ("toy", "other")
    ]
    found = pd.DataFrame(rows)
    found.loc[found["dataset"] == "other", "value"] = 1.0
    found = cells(Evidence(ARTIFACT, found, {"toy": Part("test", "test", ENTRIES)}))
    ours = found[found["source"] == "ours"].set_index("column")["value"]
    assert ours.to_dict() == {"p1_single_l2r": 50, "p4_single_l2r": 12.5}


def test_a_difference_has_the_devices_of_both() -> None:
    rows = [
        value("raw/base/beam5", "precision1_all/over30", 0.5, device="cpu: X"),
        value("big/small/beam5", "precision1_all/over30", 0.625, device="cpu: Y"),
    ]
    found = cells(Evidence(ARTIFACT, pd.DataFrame(rows), {"toy": Part("test", "test", ENTRIES)}))
    ours = found[found["source"] == "ours"].set_index("column")
    assert ours.loc["p1_diff", "device"] == "cpu: X and cpu: Y"
