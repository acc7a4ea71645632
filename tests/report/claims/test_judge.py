from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fastdecode.config.base import check
from fastdecode.config.claims import Claim
from fastdecode.config.papers import Artifact
from fastdecode.errors import UserError
from fastdecode.report.artifacts.cells import CELLS
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.claims.evidence import Cell, Resamples, read_cells
from fastdecode.report.claims.judge import FAILS, HOLDS, UNKNOWN, Judgement, judge
from fastdecode.report.claims.printed import printed, read_verdicts, verdicts, write_verdicts

NAMES = ("slow", "quick", "other")
TABLE = {
    **{"title": "t", "kind": "table", "function": "artifacts.rows", "published": {"bleu": "B"}},
    "measured": {"bleu": "bleu", "ms": "latency", "speedup": "speedup", "passes": "passes"},
    "over": "slow",
    "rows": {name: {"bleu": 30, "ours": f"raw/{name}/beam5"} for name in NAMES},
}
FIGURE = {
    **{"title": "f", "kind": "figure", "function": "artifacts.curves"},
    **{"labels": {"series": "curve", "x": "x"}, "measured": {"y": "tokens_ratio"}},
    **{"tiers": ["reference", "optimised"], "over": "base", "batch": 32},
    "rows": {
        "base": {"series": "base", "x": 1, "ours": "raw/slow/greedy"},
        "one": {"series": "pairs", "x": 1, "ours": "raw/quick/greedy"},
        "two": {"series": "pairs", "x": 2, "over": "base", "ours": "raw/quick/beam2"},
    },
}
ARTIFACTS = {
    "table1": check(Artifact, TABLE, "t"),
    "table2": check(Artifact, TABLE, "t"),
    "figure1": check(Artifact, FIGURE, "f"),
}


def line(row: str, column: str, value: float, **more: str) -> dict[str, Any]:
    same = {"source": "ours", "dataset": "toy", "split": "test", "what": f"raw/{row}/beam5"}
    return {"row": row, "column": column, "value": value, **same, **more}


def cells_of(folder: Path, *lines: dict[str, Any], name: str = "table1") -> list[Cell]:
    path = folder / f"{name}.csv"
    (POINTS if name == "figure1" else CELLS).write(
        path, (POINTS if name == "figure1" else CELLS).frame(list(lines))
    )
    return read_cells(ARTIFACTS[name], path)


def judged(found: dict[str, list[Cell]], *checks: dict[str, Any], **more: Any) -> list[Judgement]:
    resamples = more.pop("resamples", Resamples())
    claim = {"statement": "s", "artifacts": list(ARTIFACTS), "check": checks, **more}
    return judge({"mine": check(Claim, claim, "mine")}, ARTIFACTS, found, resamples)


def verdict(found: dict[str, list[Cell]], *checks: dict[str, Any], **more: Any) -> str:
    (one,) = judged(found, *checks, **more)
    return one.verdict


def passes(folder: Path) -> dict[str, list[Cell]]:
    values = {"slow": 10.0, "quick": 2.0, "other": 4.0}
    return {"table1": cells_of(folder, *(line(r, "passes", v) for r, v in values.items()))}


def test_an_order_of_numbers_without_intervals(tmp_path: Path) -> None:
    found = passes(tmp_path)
    order = ["quick.passes", "other.passes", "slow.passes"]
    assert verdict(found, {"rising": order}) == HOLDS
    assert verdict(found, {"rising": order[::-1]}) == FAILS
    assert verdict(found, {"rising": [order[0], order[2], order[1]]}) == FAILS
    assert verdict(found, {"equal": [order[0], order[0]]}) == HOLDS
    assert verdict(found, {"equal": order}) == FAILS
    assert verdict(found, {"rising": order}, {"rising": order[::-1]}) == FAILS


def test_bounds_of_numbers_made_of_cells(tmp_path: Path) -> None:
    found = passes(tmp_path)
    ratio = {"ratio": ["slow.passes", "quick.passes"]}  # 5
    assert verdict(found, {"value": ratio, "above": 4.9}) == HOLDS
    assert verdict(found, {"value": ratio, "above": 4.9, "below": 5}) == FAILS
    total = {"sum": ["quick.passes", "other.passes"]}  # 6
    assert verdict(found, {"value": {"minus": ["slow.passes", total]}, "below": 4.1}) == HOLDS
    mean = {"mean": ["quick.passes", "other.passes"]}  # 3
    assert verdict(found, {"value": mean, "above": 3}) == FAILS


def test_what_was_not_measured_cannot_be_told(tmp_path: Path) -> None:
    found = passes(tmp_path)
    (one,) = judged(found, {"rising": ["quick.passes", "slow.bleu"]})
    assert (one.verdict, one.findings[0].why) == (UNKNOWN, "not measured: slow.bleu")
    (one,) = judged(found, {"rising": ["quick.bleu", "slow.bleu"]})
    assert (one.place, one.verdict, one.why) == ("", UNKNOWN, "not measured in this run")
    missing = {"rising": ["quick.bleu", "slow.passes"]}
    assert verdict(found, missing, {"rising": ["slow.passes", "quick.passes"]}) == FAILS
    (one,) = judged(found, {"rising": ["quick.passes", "slow.passes"]}, datasets=["news"])
    assert one.verdict == UNKNOWN and one.why.endswith("it is about news")


def test_the_interval_of_a_difference_in_bleu_decides(tmp_path: Path) -> None:
    lines = [line("slow", "bleu", 30.0), line("quick", "bleu", 31.0), line("other", "bleu", 30.1)]
    found = {"table1": cells_of(tmp_path, *lines)}
    noise = np.random.default_rng(1).normal(size=1000)
    own = np.random.default_rng(2).normal(size=1000)
    drawn = {"raw/slow/beam5": 30 + noise, "raw/quick/beam5": 31 + noise}
    resamples = Resamples({("toy", "test"): pd.DataFrame({**drawn, "raw/other/beam5": 30.1 + own})})
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
    assert verdict(same, {"equal": ["slow.bleu", "other.bleu"]}) == HOLDS
    assert verdict(same, {"equal": ["slow.bleu", "other.bleu"]}, resamples=resamples) == FAILS


def samples(folder: Path, name: str, ratio: float, repeats: int = 5) -> Path:
    rows = [
        {"decoder": entry, "batch": batch, "repeat": repeat, "line": number}
        | {"milliseconds": times * (number + 1 + 0.01 * repeat), "tokens": 10, "sentences": 1}
        for entry, times in (("raw/slow/beam5", ratio), ("raw/quick/beam5", 1.0))
        for batch in (1, 32)
        for repeat in range(repeats)
        for number in range(8)
    ]
    path = folder / name
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_the_interval_of_a_speed_up_is_that_of_paired_lines(tmp_path: Path) -> None:
    same = {"tier": "reference", "scenario": "S1", "batch": "1"}
    over = {"over": "raw/slow/beam5"}
    lines = [
        line("slow", "ms", 9.0, **same),
        line("quick", "ms", 4.5, **same),
        line("quick", "speedup", 2.0, **same, **over),
    ]
    found = {"table1": cells_of(tmp_path, *lines)}
    times = {("toy", "reference", "S1"): samples(tmp_path, "s.csv", 2.0)}
    fast = {"value": "quick.speedup", "above": 1.9, "below": 2.1}
    (one,) = judged(found, fast, resamples=Resamples(times=times))
    finding = one.findings[0]
    assert (one.tier, one.verdict) == ("reference", HOLDS)
    assert finding.low == pytest.approx(2) and finding.high == pytest.approx(2)
    (one,) = judged(found, {"rising": ["quick.ms", "slow.ms"]}, resamples=Resamples(times=times))
    assert one.findings[0].low < one.findings[0].high  # lines differ in length


def test_tiers_are_judged_apart(tmp_path: Path) -> None:
    lines = [
        line("quick", "speedup", value, tier=tier, scenario="S1")
        for tier, value in (("reference", 2.0), ("optimised", 0.5))
    ]
    found = {"table1": cells_of(tmp_path, *lines, line("quick", "bleu", 30.0))}
    checks = [{"value": "quick.speedup", "above": 1}, {"value": "quick.bleu", "above": 1}]
    one, other = judged(found, *checks)
    assert (one.tier, one.verdict) == ("reference", HOLDS)
    assert (other.tier, other.verdict) == ("optimised", FAILS)


def test_an_artifact_may_be_named_and_equal_findings_come_once(tmp_path: Path) -> None:
    found = passes(tmp_path)
    found["table2"] = cells_of(tmp_path, line("quick", "passes", 3.0), name="table2")
    up = {"rising": ["table1.quick.passes", "table2.quick.passes"]}
    assert verdict(found, up) == HOLDS
    (one,) = judged(found, {"value": "quick.passes", "above": 1})
    assert [finding.value for finding in one.findings] == [2.0, 3.0]
    (one,) = judged(found, {"value": "quick.passes", "above": 1, "artifacts": ["table2"]})
    assert [finding.value for finding in one.findings] == [3.0]
    found["table2"] = found["table1"]
    (one,) = judged(found, {"value": "quick.passes", "above": 1})
    assert len(one.findings) == 1


def point(series: str, x: float, y: float, what: str, tier: str = "reference") -> dict[str, Any]:
    same = {"source": "ours", "dataset": "toy", "split": "test", "tier": tier}
    return {"series": f"{series} ({tier})", "x": x, "y": y, "what": what, **same}


def test_curves_are_compared_at_every_x_that_they_share(tmp_path: Path) -> None:
    points = [
        *(point("base", x, 1.0, "raw/slow/beam5") for x in (1, 2)),
        *(point("pairs", x, 1 + x, "raw/quick/beam5") for x in (1, 2, 4)),
    ]
    found = {"figure1": cells_of(tmp_path, *points, name="figure1")}
    (one,) = judged(found, {"rising": ["base", "pairs"]})
    assert one.verdict == HOLDS
    assert [finding.text for finding in one.findings] == ["base@1 < pairs@1", "base@2 < pairs@2"]
    assert verdict(found, {"rising": ["pairs@1", "pairs@4"]}) == HOLDS
    gains = {"rising": [{"minus": ["base@2", "base@1"]}, {"minus": ["pairs@2", "pairs@1"]}]}
    assert verdict(found, gains) == HOLDS
    (one,) = judged(found, {"rising": ["pairs", "nothing"]})
    assert one.verdict == UNKNOWN and "no x at which all of" in one.findings[0].why


def test_the_ratio_of_a_point_is_over_that_of_its_base(tmp_path: Path) -> None:
    points = [point("base", 1, 1.0, "raw/slow/beam5"), point("pairs", 1, 2.0, "raw/quick/beam5")]
    (_, pairs) = cells_of(tmp_path, *points, name="figure1")
    assert pairs.origin["over"] == "raw/slow/beam5" and pairs.origin["batch"] == 32
    times = {("toy", "reference", "Smax"): samples(tmp_path, "s.csv", 2.0)}
    drawn = Resamples(times=times).of(pairs)
    assert drawn is not None and drawn.tolist() == pytest.approx([2.0] * 1000)


def test_a_ratio_of_rates_from_few_repeats_cannot_be_told(tmp_path: Path) -> None:
    points = [point("base", 1, 1.0, "raw/slow/beam5"), point("pairs", 1, 2.0, "raw/quick/beam5")]
    found = {"figure1": cells_of(tmp_path, *points, name="figure1")}
    for repeats, told in ((4, UNKNOWN), (5, HOLDS)):
        times = {("toy", "reference", "Smax"): samples(tmp_path, "s.csv", 2.0, repeats)}
        (one,) = judged(found, {"value": "pairs", "above": 1}, resamples=Resamples(times=times))
        assert one.verdict == told
        assert ("too few repeats" in one.findings[0].why) == (told == UNKNOWN)


def test_rows_that_are_datasets_of_a_corpus_are_judged_as_one(tmp_path: Path) -> None:
    lines = []
    for row, dataset, value in (("slow", "toy.4k", 1.0), ("quick", "toy.8k", 2.0)):
        lines.append(line(row, "passes", value, dataset=dataset))
        lines.append(line(row, "corpus", float("nan"), dataset=dataset, text="toy"))
    found = {"table1": cells_of(tmp_path, *lines)}
    (one,) = judged(found, {"rising": ["slow.passes", "quick.passes"]})
    assert (one.place, one.verdict) == ("toy", HOLDS)


def test_a_division_by_zero_says_where(tmp_path: Path) -> None:
    found = {"table1": cells_of(tmp_path, line("slow", "passes", 0.0))}
    with pytest.raises(UserError, match=r"divides by zero: ratio of slow\.passes"):
        judged(found, {"value": {"ratio": ["slow.passes", "slow.passes"]}, "above": 1})


def test_verdicts_are_written_and_printed(tmp_path: Path) -> None:
    claims = {
        "order": {
            **{"statement": "few passes", "artifacts": ["table1"], "reading": "fewer"},
            "check": [
                {"rising": ["quick.passes", "slow.passes"]},
                {"rising": ["slow.passes", "other.passes"]},
                {"value": "quick.bleu", "above": 1},
            ],
        },
        "looks": {"statement": "it looks so", "unchecked": "see the figure"},
    }
    rows = {name: check(Claim, row, name) for name, row in claims.items()}
    frame = verdicts(rows, judge(rows, ARTIFACTS, passes(tmp_path), Resamples()))
    write_verdicts(tmp_path / "claims.csv", frame)
    pd.testing.assert_frame_equal(read_verdicts(tmp_path / "claims.csv"), frame, check_dtype=False)
    table = printed("mine", frame)
    assert table.caption.startswith("Claims of mine: 0 of 2 verdicts")
    first, second = table.frame.to_dict("records")
    assert first["claim"] == "few passes. Read as: fewer"
    assert (first["verdict"], first["where"]) == (FAILS, "toy")
    assert first["numbers"] == (
        "quick.passes < slow.passes: +8; slow.passes < other.passes: -6 (does not hold); "
        "1 < quick.bleu (not measured: quick.bleu)"
    )
    assert (second["verdict"], second["numbers"]) == (UNKNOWN, "see the figure")
    with pytest.raises(UserError, match="make it again"):
        (tmp_path / "other.csv").write_text("claim\n")
        read_verdicts(tmp_path / "other.csv")
