"""Verdicts on the cells of tables."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fastdecode.config.base import check
from fastdecode.config.claims import Claim
from fastdecode.errors import UserError
from fastdecode.files import write_csv
from fastdecode.report.claims.clocked import Clocked
from fastdecode.report.claims.evidence import Cell, Resamples
from fastdecode.report.claims.findings import BY_ZERO, FAILS, HOLDS, UNKNOWN
from fastdecode.report.claims.judge import SO_FAR, judge
from fastdecode.report.claims.printed import VERDICTS, printed, verdicts
from tests.report.claims.cases import ARTIFACTS, cells_of, judged, line, samples, verdict


def sizes(folder: Path) -> dict[str, list[Cell]]:
    values = {"slow": 10.0, "quick": 2.0, "other": 4.0}
    return {"table1": cells_of(folder, *(line(r, "memory", v) for r, v in values.items()))}


def test_an_order_of_numbers_without_intervals(tmp_path: Path) -> None:
    found = sizes(tmp_path)
    order = ["quick.memory", "other.memory", "slow.memory"]
    assert verdict(found, {"rising": order}) == HOLDS
    assert verdict(found, {"rising": order[::-1]}) == FAILS
    assert verdict(found, {"rising": [order[0], order[2], order[1]]}) == FAILS
    assert verdict(found, {"equal": [order[0], order[0]]}) == HOLDS
    assert verdict(found, {"equal": order}) == FAILS
    assert verdict(found, {"rising": order}, {"rising": order[::-1]}) == FAILS


def test_bounds_of_numbers_made_of_cells(tmp_path: Path) -> None:
    found = sizes(tmp_path)
    ratio = {"ratio": ["slow.memory", "quick.memory"]}  # 5
    assert verdict(found, {"value": ratio, "above": 4.9}) == HOLDS
    assert verdict(found, {"value": ratio, "above": 4.9, "below": 5}) == FAILS
    total = {"sum": ["quick.memory", "other.memory"]}  # 6
    assert verdict(found, {"value": {"minus": ["slow.memory", total]}, "below": 4.1}) == HOLDS
    mean = {"mean": ["quick.memory", "other.memory"]}  # 3
    assert verdict(found, {"value": mean, "above": 3}) == FAILS


def test_what_was_not_measured_cannot_be_told(tmp_path: Path) -> None:
    found = sizes(tmp_path)
    (one,) = judged(found, {"rising": ["quick.memory", "slow.bleu"]})
    assert (one.verdict, one.findings[0].why) == (UNKNOWN, "not measured: slow.bleu")
    (one,) = judged(found, {"rising": ["quick.bleu", "slow.bleu"]})
    assert (one.place, one.verdict, one.why) == ("", UNKNOWN, "not measured in this run")
    missing = {"rising": ["quick.bleu", "slow.memory"]}
    assert verdict(found, missing, {"rising": ["slow.memory", "quick.memory"]}) == FAILS
    (one,) = judged(found, {"rising": ["quick.memory", "slow.memory"]}, datasets=["news"])
    assert one.verdict == UNKNOWN and one.why.endswith("it is about news")


def test_that_what_was_measured_holds_is_said(tmp_path: Path) -> None:
    order = ["quick.memory", "slow.memory"]
    missing = {"rising": ["slow.memory", "slow.bleu"]}
    row = {"statement": "s", "artifacts": ["table1"]}
    told = "cannot be told; what was measured of it holds"
    for checks, wanted in (
        ([{"rising": order}, missing], told),
        ([missing], UNKNOWN),
        ([{"rising": order[::-1]}, missing], FAILS),
        ([{"rising": order}], HOLDS),
    ):
        claims = {"mine": check(Claim, {**row, "check": checks}, "mine")}
        frame = verdicts(claims, judge(claims, ARTIFACTS, sizes(tmp_path), Resamples()))
        assert printed("mine", frame).frame["verdict"].tolist() == [wanted]


def test_a_claim_on_two_tables_does_not_hold_by_one_alone(tmp_path: Path) -> None:
    """Such as on models of two sizes. Tables of other data, or without the row, do not count."""
    found, both = sizes(tmp_path), ["table1", "table2"]
    order = {"rising": ["quick.memory", "slow.memory"]}
    (one,) = judged(found, order, artifacts=both)
    assert (one.verdict, one.why) == (UNKNOWN, SO_FAR)
    assert [(f.verdict, f.artifact) for f in one.findings] == [
        (HOLDS, "table1"),
        (UNKNOWN, "table2"),
    ]
    assert verdict(found, {**order, "artifacts": ["table1"]}, artifacts=both) == HOLDS
    assert verdict(found, {"rising": order["rising"][::-1]}, artifacts=both) == FAILS
    table = ARTIFACTS["table2"]
    rows = {name: row for name, row in table.rows.items() if name != "quick"}
    columns = {name: metric for name, metric in table.measured.items() if name != "memory"}
    claim = {"statement": "s", "artifacts": both, "check": [order]}
    for change in ({"datasets": ("news",)}, {"rows": rows}, {"measured": columns}):
        artifacts = {**ARTIFACTS, "table2": table.model_copy(update=change)}
        claims = {"mine": check(Claim, claim, "mine")}
        (one,) = judge(claims, artifacts, found, Resamples())
        assert one.verdict == HOLDS


def test_the_interval_of_a_difference_in_bleu_decides(tmp_path: Path) -> None:
    lines = [line("slow", "bleu", 30.0), line("quick", "bleu", 31.0), line("other", "bleu", 30.1)]
    found = {"table1": cells_of(tmp_path, *lines)}
    noise = np.random.default_rng(1).normal(size=1000)
    own = np.random.default_rng(2).normal(size=1000)
    drawn = {"raw/slow/beam5": 30 + noise, "raw/quick/beam5": 31 + noise}
    resamples = Resamples(
        {("toy", "test", "bleu"): pd.DataFrame({**drawn, "raw/other/beam5": 30.1 + own})}
    )
    up = {"rising": ["slow.bleu", "quick.bleu"]}  # noise of both is the same: paired
    (one,) = judged(found, up, resamples=resamples)
    assert one.verdict == HOLDS and one.findings[0].low == pytest.approx(1)
    down = {"rising": ["quick.bleu", "slow.bleu"]}
    assert verdict(found, down, resamples=resamples) == FAILS
    apart = {"rising": ["slow.bleu", "other.bleu"]}
    (one,) = judged(found, apart, resamples=resamples)
    assert one.verdict == UNKNOWN and one.findings[0].low < 0 < one.findings[0].high
    # scores that happen to be equal, of lines that are not
    same = {"table1": cells_of(tmp_path, lines[0], {**lines[2], "value": 30.0})}
    assert verdict(same, {"equal": ["slow.bleu", "other.bleu"]}) == UNKNOWN
    assert verdict(same, {"equal": ["slow.bleu", "other.bleu"]}, resamples=resamples) == FAILS


def test_a_score_without_an_interval_cannot_be_told(tmp_path: Path) -> None:
    lines = [line("slow", "bleu", 30.0), line("quick", "bleu", 40.0), line("quick", "memory", 2.0)]
    found = {"table1": cells_of(tmp_path, *lines)}
    known = {"raw/quick/beam5": np.full(1000, 40.0)}
    half = Resamples({("toy", "test", "bleu"): pd.DataFrame(known)})
    gain = {"minus": ["quick.bleu", "slow.bleu"]}
    for resamples in (Resamples(), half):  # of both, and of one of the two
        for condition in ({"value": gain, "above": 1}, {"value": gain, "below": 1}):
            (one,) = judged(found, condition, resamples=resamples)
            (finding,) = one.findings
            assert (one.verdict, finding.why) == (UNKNOWN, "no interval is known")
            assert finding.value == 10 and np.isnan(finding.low)
    assert verdict(found, {"value": "quick.memory", "below": 3}) == HOLDS  # no score


def test_whatever_other_lines_would_move_needs_an_interval(tmp_path: Path) -> None:
    lines = [line("slow", "passes", 9.0), line("quick", "passes", 4.0)]
    lines += [line("slow", "memory", 9.0), line("quick", "memory", 4.0)]
    lines += [line("slow", "ms", 9.0), line("quick", "ms", 4.0)]
    found = {"table1": cells_of(tmp_path, *lines)}
    drawn = {"raw/slow/beam5": np.full(1000, 9.0), "raw/quick/beam5": np.full(1000, 4.0)}
    known = Resamples({("toy", "test", "passes"): pd.DataFrame(drawn)})
    wide = Resamples({("toy", "test", "passes"): pd.DataFrame(drawn) + 9 * np.eye(1000, 2)})
    for column, resamples, expected in (
        ("passes", Resamples(), UNKNOWN),
        ("passes", known, HOLDS),
        ("passes", wide, HOLDS),  # in one of 1,000
        ("ms", known, UNKNOWN),
        ("memory", Resamples(), HOLDS),
    ):
        order = {"rising": [f"quick.{column}", f"slow.{column}"]}
        assert verdict(found, order, resamples=resamples) == expected


def test_resamples_of_shares_are_in_percent_as_cells_are(tmp_path: Path) -> None:
    found = {"table1": cells_of(tmp_path, line("quick", "repeated", 2.0))}
    drawn = {"raw/quick/beam5": np.linspace(0.01, 0.03, 1000)}
    resamples = Resamples({("toy", "test", "repetition_rate"): pd.DataFrame(drawn)})
    (one,) = judged(found, {"value": "quick.repeated", "above": 0.5}, resamples=resamples)
    (finding,) = one.findings
    assert (one.verdict, finding.value) == (HOLDS, 2.0)
    assert (finding.low, finding.high) == pytest.approx((1.05, 2.95), abs=0.01)


def test_the_gain_of_an_end_has_the_interval_of_its_difference(tmp_path: Path) -> None:
    more = {"over": "raw/slow/beam5", "part": "precision1_last5"}
    cells = [line("quick", "ends", 2.0, **more)]
    found = {"table1": cells_of(tmp_path, *cells)}
    noise = np.random.default_rng(1).normal(size=1000)
    drawn = {
        "raw/slow/beam5/precision1_last5": 60 + 9 * noise,
        "raw/quick/beam5/precision1_last5": 62 + 8 * noise,  # the same lines
        "raw/quick/beam5/precision1_first5": 50 + noise,
    }
    resamples = Resamples({("toy", "test", "end_precision"): pd.DataFrame(drawn)})
    (one,) = judged(found, {"value": "quick.ends", "above": 0.5}, resamples=resamples)
    (finding,) = one.findings
    assert (one.verdict, finding.value) == (UNKNOWN, 2.0)
    assert finding.low == pytest.approx(0, abs=0.2) and finding.high == pytest.approx(4, abs=0.2)
    gain = {"value": "quick.ends", "above": -1}
    assert verdict(found, gain, resamples=resamples) == HOLDS
    assert verdict(found, gain) == UNKNOWN


def test_equal_scores_need_an_interval_too(tmp_path: Path) -> None:
    lines = [line("slow", "bleu", 40.0), line("quick", "bleu", 40.0)]
    found = {"table1": cells_of(tmp_path, *lines)}
    same = {"equal": ["quick.bleu", "slow.bleu"]}
    drawn = np.full(1000, 40.0)
    few = np.where(np.arange(1000) < 3, np.nan, drawn)
    once = drawn + (np.arange(1000) == 3)
    others = ((drawn, HOLDS), (once, FAILS), (drawn + 1, FAILS), (few, UNKNOWN), (None, UNKNOWN))
    for other, expected in others:
        columns = {"raw/quick/beam5": drawn}
        columns |= {} if other is None else {"raw/slow/beam5": other}
        scores = Resamples({("toy", "test", "bleu"): pd.DataFrame(columns)})
        assert judged(found, same, resamples=scores)[0].verdict == expected


def test_the_interval_of_a_speed_up_is_that_of_paired_lines(tmp_path: Path) -> None:
    same = {"tier": "reference", "scenario": "S1", "batch": "1"}
    over = {"over": "raw/slow/beam5"}
    lines = [
        line("slow", "ms", 9.0, **same),
        line("quick", "ms", 4.5, **same),
        line("quick", "speedup", 2.0, **same, **over),
    ]
    found = {"table1": cells_of(tmp_path, *lines)}
    times = Clocked({("toy", "test", "reference", "S1"): samples(tmp_path, "s.csv", 2.0)})
    fast = {"value": "quick.speedup", "above": 1.9, "below": 2.1}
    (one,) = judged(found, fast, resamples=Resamples(times=times))
    finding = one.findings[0]
    assert (one.tier, one.verdict) == ("reference", HOLDS)
    assert finding.low == pytest.approx(2) and finding.high == pytest.approx(2)
    (one,) = judged(found, {"rising": ["quick.ms", "slow.ms"]}, resamples=Resamples(times=times))
    assert one.findings[0].low < one.findings[0].high  # lines differ in length


def test_the_interval_of_a_ratio_is_of_each_sides_own_batch(tmp_path: Path) -> None:
    same = {"tier": "reference", "scenario": "Smax", "over": "raw/slow/beam5"}
    times = Clocked(
        {("toy", "test", "reference", "Smax"): samples(tmp_path, "s.csv", 2.0, slow_alone=5.0)}
    )
    # the one is fastest one by one, the other in batches of 32; older files have one size for both
    for batches, ratio in (({"batch": "1", "over_batch": "32"}, 2.0), ({"batch": "1"}, 10.0)):
        (cell,) = cells_of(tmp_path, line("quick", "tokens", ratio, **same, **batches))
        drawn = Resamples(times=times).of(cell)
        assert drawn is not None and drawn.tolist() == pytest.approx([ratio] * 1000)


def test_a_time_of_who_writes_something_else_tells_nothing(tmp_path: Path) -> None:
    """Its memory does, and what a figure's point says of its BLEU."""
    for column in ("ms", "memory"):
        marked = line("quick", column, 2.0, marks="≠", tier="reference")
        lines = [line("slow", column, 10.0, tier="reference"), marked]
        found = {"table1": cells_of(tmp_path, *lines)}
        (one,) = judged(found, {"rising": [f"quick.{column}", f"slow.{column}"]})
        why = one.findings[0].why
        assert (why == "a decoder does not write what it has to") == (column == "ms")
        assert one.verdict == (UNKNOWN if column == "ms" else HOLDS)


def test_times_are_resampled_on_the_split_that_they_are_of(tmp_path: Path) -> None:
    origin = {"tier": "reference", "scenario": "S1", "over": "raw/slow/beam5"}
    splits = {"valid": 2.0, "test": 0.5}
    times = Clocked(
        {
            ("toy", name, "reference", "S1"): samples(tmp_path, name, of)
            for name, of in splits.items()
        }
    )
    for split, ratio in splits.items():
        found = {
            "table1": cells_of(tmp_path, line("quick", "speedup", ratio, split=split, **origin))
        }
        (one,) = judged(
            found, {"value": "quick.speedup", "above": 1}, resamples=Resamples(times=times)
        )
        assert one.verdict == (HOLDS if split == "valid" else FAILS)


def test_tiers_are_judged_apart(tmp_path: Path) -> None:
    lines = [
        line("quick", "speedup", value, tier=tier, scenario="S1", over="raw/slow/beam5")
        for tier, value in (("reference", 2.0), ("optimised", 0.5))
    ]
    found = {"table1": cells_of(tmp_path, *lines, line("quick", "memory", 3.0))}
    checks = [{"value": "quick.speedup", "above": 1}, {"value": "quick.memory", "above": 1}]
    times = Clocked(
        {
            ("toy", "test", cell["tier"], "S1"): samples(tmp_path, cell["tier"], cell["value"])
            for cell in lines
        }
    )
    one, other = judged(found, *checks, resamples=Resamples(times=times))
    assert (one.tier, one.verdict) == ("reference", HOLDS)
    assert (other.tier, other.verdict) == ("optimised", FAILS)


def test_an_artifact_may_be_named_and_equal_findings_come_once(tmp_path: Path) -> None:
    found = sizes(tmp_path)
    found["table2"] = cells_of(tmp_path, line("quick", "memory", 3.0), name="table2")
    up = {"rising": ["table1.quick.memory", "table2.quick.memory"]}
    assert verdict(found, up) == HOLDS
    (one,) = judged(found, {"value": "quick.memory", "above": 1})
    assert [finding.value for finding in one.findings] == [2.0, 3.0]
    (one,) = judged(found, {"value": "quick.memory", "above": 1, "artifacts": ["table2"]})
    assert [finding.value for finding in one.findings] == [3.0]
    found["table2"] = found["table1"]
    (one,) = judged(found, {"value": "quick.memory", "above": 1})
    assert len(one.findings) == 1


def test_two_tables_with_the_same_difference_of_other_systems_are_told_apart(
    tmp_path: Path,
) -> None:
    """Scores that are the same in both, as every resample is in one table alone."""
    rng = np.random.default_rng(1)
    drawn = {name: 30 + rng.normal(size=1000) for name in ("slow", "big")}
    entries = {"raw/slow/beam5": "slow", "raw/quick/beam5": "slow", "raw/big/beam5": "big"}
    resamples = Resamples(
        {("toy", "test", "bleu"): pd.DataFrame({e: drawn[n] for e, n in entries.items()})}
    )
    alike = [line("slow", "bleu", 30.0), line("quick", "bleu", 30.0)]
    other = [line("slow", "bleu", 30.0), line("quick", "bleu", 30.0) | {"what": "raw/big/beam5"}]
    found = {
        "table1": cells_of(tmp_path, *alike),
        "table2": cells_of(tmp_path, *other, name="table2"),
    }
    check_ = {"equal": ["slow.bleu", "quick.bleu"]}
    for tables in (found, dict(reversed(found.items()))):
        (one,) = judged(tables, check_, resamples=resamples)
        assert sorted(finding.verdict for finding in one.findings) == [FAILS, HOLDS]
        assert one.verdict == FAILS


def test_rows_that_are_datasets_of_a_corpus_are_judged_as_one(tmp_path: Path) -> None:
    lines = []
    for row, dataset, value in (("slow", "toy.4k", 1.0), ("quick", "toy.8k", 2.0)):
        lines.append(line(row, "memory", value, dataset=dataset))
        lines.append(line(row, "corpus", float("nan"), dataset=dataset, text="toy"))
    found = {"table1": cells_of(tmp_path, *lines)}
    (one,) = judged(found, {"rising": ["slow.memory", "quick.memory"]})
    assert (one.place, one.verdict) == ("toy", HOLDS)


def test_what_is_over_zero_cannot_be_told_and_the_rest_can(tmp_path: Path) -> None:
    found = {"table1": cells_of(tmp_path, line("slow", "memory", 0.0))}
    ratio = {"ratio": ["slow.memory", "slow.memory"]}
    for value in (ratio, {"minus": [ratio, "slow.memory"]}):
        checks = {"value": value, "above": 1}, {"value": "slow.memory", "above": -1}
        (one,) = judged(found, *checks)
        assert one.verdict == UNKNOWN
        assert [finding.why for finding in one.findings] == [BY_ZERO, ""]


def test_a_condition_that_two_tables_tell_of_names_them(tmp_path: Path) -> None:
    check_ = {"rising": ["quick.memory", "slow.memory"]}
    claim = {"statement": "s", "artifacts": list(ARTIFACTS), "check": [check_]}
    claims = {"order": check(Claim, claim, "x")}
    quick = line("quick", "memory", 2.0)
    found = {
        name: cells_of(tmp_path, quick, line("slow", "memory", slow), name=name)
        for name, slow in (("table1", 10.0), ("table2", 1.0))
    }
    frame = verdicts(claims, judge(claims, ARTIFACTS, found, Resamples()))
    assert printed("mine", frame).frame["numbers"].tolist() == [
        "table1: quick.memory < slow.memory: +8; "
        "table2: quick.memory < slow.memory: -1 (does not hold)"
    ]
    older = frame.drop(columns="artifact")
    older.to_csv(tmp_path / "claims.csv", index=False)
    assert set(VERDICTS.read(tmp_path / "claims.csv")["artifact"]) == {""}


def test_verdicts_are_written_and_printed(tmp_path: Path) -> None:
    claims = {
        "order": {
            "statement": "few passes",
            "artifacts": ["table1"],
            "reading": "fewer",
            "check": [
                {"rising": ["quick.memory", "slow.memory"]},
                {"rising": ["slow.memory", "other.memory"]},
                {"value": "quick.bleu", "above": 1},
            ],
        },
        "looks": {"statement": "it looks so", "unchecked": "see the figure"},
    }
    rows = {name: check(Claim, row, name) for name, row in claims.items()}
    frame = verdicts(rows, judge(rows, ARTIFACTS, sizes(tmp_path), Resamples()))
    write_csv(tmp_path / "claims.csv", frame)
    pd.testing.assert_frame_equal(VERDICTS.read(tmp_path / "claims.csv"), frame, check_dtype=False)
    table = printed("mine", frame)
    assert table.caption.startswith("Claims of mine: 0 of 2 verdicts")
    first, second = table.frame.to_dict("records")
    assert first["claim"] == "few passes. Read as: fewer"
    assert (first["verdict"], first["where"]) == (FAILS, "toy")
    assert first["numbers"] == (
        "quick.memory < slow.memory: +8; slow.memory < other.memory: -6 (does not hold); "
        "1 < quick.bleu (not measured: quick.bleu)"
    )
    assert (second["verdict"], second["numbers"]) == (UNKNOWN, "see the figure")
    with pytest.raises(UserError, match="make it again"):
        (tmp_path / "other.csv").write_text("claim\n")
        VERDICTS.read(tmp_path / "other.csv")


def test_a_difference_alone_is_printed_with_a_sign(tmp_path: Path) -> None:
    bounds = [{"value": "quick.memory", "above": 0, "below": 9}]
    checks = [*bounds, {"rising": ["quick.memory", "other.memory"]}]
    row = {"statement": "s", "artifacts": ["table1"], "check": checks}
    claims = {"mine": check(Claim, row, "mine")}
    frame = verdicts(claims, judge(claims, ARTIFACTS, sizes(tmp_path), Resamples()))
    assert printed("mine", frame).frame["numbers"].tolist() == [
        "0 < quick.memory < 9: 2; quick.memory < other.memory: +2"
    ]
