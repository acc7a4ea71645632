import pandas as pd
import pytest

from fastdecode.config.papers import Artifact
from fastdecode.report.aggressive.modules import cells, printed
from fastdecode.report.artifacts.evidence import Evidence, Part
from tests.report.conftest import STAGES

ARTIFACT = Artifact(
    title="time by module",
    kind="table",
    function="aggressive.modules",
    labels={"module": "module", "stages": "stages of ours"},
    published={"latency_ms": "ms", "percent": "%"},
    measured={"latency_ms": "module_time", "percent": "module_share"},
    tiers=("reference", "optimised"),
    rows={
        name: {"module": name, "stages": stages, "latency_ms": 5.65, "ours": "raw/base/beam5"}
        for name, stages in (
            ("encoder", "encode"),
            ("decoder", "search"),
            ("second", "encode-drafter"),
            ("others", "all others"),
            ("total", "all"),
        )
    },
)
ENTRIES = {
    name: {"reference": "raw/base/beam5", "optimised": "raw/base/fast"} for name in ARTIFACT.rows
}


def test_a_row_has_its_stages_and_others_the_rest(tidy: pd.DataFrame) -> None:
    tidy = pd.concat([tidy, tidy.assign(dataset="other", value=9 * tidy["value"])])
    found = cells(Evidence(ARTIFACT, tidy, {"toy": Part("test", "test", ENTRIES)}))
    ours = found[(found["source"] == "ours") & (found["tier"] == "reference")]
    times = ours[ours["column"] == "latency_ms"].set_index("row")["value"]
    whole = 1.1 * 15.0  # one thread
    right = {"encoder": STAGES["encode"], "decoder": STAGES["search"], "second": 0.0}
    right |= {"others": STAGES["preprocess"], "total": 1.0}
    assert times.to_dict() == pytest.approx({row: whole * share for row, share in right.items()})
    shares = ours[ours["column"] == "percent"].set_index("row")["value"]
    assert shares.to_dict() == pytest.approx({row: 100 * share for row, share in right.items()})
    parts = ours[ours["column"] == "percent"].set_index("row")["part"].to_dict()
    assert parts.pop("total") == " + ".join(STAGES)
    assert parts == {"encoder": "encode", "decoder": "search", "second": "", "others": "preprocess"}
    assert set(ours["threads"]) == {"1"}
    table = printed("aggressive.table7", ARTIFACT, found)
    assert table.frame["toy ms (reference)"].tolist()[:2] == ["3.30", "11.55"]
    assert table.frame["toy share, % (optimised)"].tolist()[-1] == "100.0"
    assert "1.65" in table.frame["toy ms (reference)"].tolist()
    assert "reference and optimised tier, S1, threads 1" in table.caption


def test_a_time_of_a_busy_machine_is_marked(tidy: pd.DataFrame) -> None:
    busy = tidy.assign(value=tidy["value"].where(tidy["metric"] != "latency_disturbed", 1.0))
    found = cells(Evidence(ARTIFACT, busy, {"toy": Part("test", "test", ENTRIES)}))
    assert set(found.loc[found["source"] == "ours", "marks"]) == {"†"}


def test_a_disturbance_with_other_threads_is_no_mark(tidy: pd.DataFrame) -> None:
    busy = (tidy["metric"] == "latency_disturbed") & (tidy["threads"] == "2")
    elsewhere = tidy.assign(value=tidy["value"].mask(busy, 1.0))
    found = cells(Evidence(ARTIFACT, elsewhere, {"toy": Part("test", "test", ENTRIES)}))
    ours = found[found["source"] == "ours"]
    assert (set(ours["threads"]), set(ours["marks"])) == ({"1"}, {""})


def test_a_time_of_who_does_not_write_what_it_has_to_is_marked(tidy: pd.DataFrame) -> None:
    empty = dict.fromkeys(("tier", "scenario", "threads", "precision", "batch"), "")
    keys = ["target", "system", "decoder"]
    apart = tidy.drop_duplicates(keys).assign(metric="differs", value=1.0, **empty)
    everything = pd.concat([tidy, apart])
    found = cells(Evidence(ARTIFACT, everything, {"toy": Part("test", "test", ENTRIES)}))
    assert set(found.loc[found["source"] == "ours", "marks"]) == {"≠"}


def test_stages_of_other_repeats_have_their_own_mark(tidy: pd.DataFrame) -> None:
    busy = tidy["metric"] == "latency_disturbed"
    whole = tidy.assign(value=tidy["value"].mask(busy, 1.0))
    quiet = tidy[busy].assign(metric="latency_stages_disturbed", value=0.0)
    found = cells(
        Evidence(ARTIFACT, pd.concat([whole, quiet]), {"toy": Part("t", "test", ENTRIES)})
    )
    assert set(found.loc[found["source"] == "ours", "marks"]) == {""}


def test_what_was_not_timed_has_no_cell(tidy: pd.DataFrame) -> None:
    found = cells(Evidence(ARTIFACT, tidy, {"toy": Part("test", "test", {})}))
    assert set(found["source"]) == {"label", "published"}
