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
    lines = [line("slow", "bleu", 30.0), line("quick", "bleu", 40.0), line("quick", "passes", 2.0)]
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
    assert verdict(found, {"value": "quick.passes", "below": 3}) == HOLDS  # no score


def test_equal_scores_need_an_interval_too(tmp_path: Path) -> None:
    lines = [line("slow", "bleu", 40.0), line("quick", "bleu", 40.0)]
    found = {"table1": cells_of(tmp_path, *lines)}
    same = {"equal": ["quick.bleu", "slow.bleu"]}
    drawn = np.full(1000, 40.0)
    few = np.where(np.arange(1000) < 3, np.nan, drawn)
    for other, expected in ((drawn, HOLDS), (drawn + 1, FAILS), (few, UNKNOWN), (None, UNKNOWN)):
        columns = {"raw/quick/beam5": drawn}
        columns |= {} if other is None else {"raw/slow/beam5": other}
        scores = Resamples({("toy", "test", "bleu"): pd.DataFrame(columns)})
        assert judged(found, same, resamples=scores)[0].verdict == expected


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
    found = {"table1": cells_of(tmp_path, *lines, line("quick", "passes", 3.0))}
    checks = [{"value": "quick.speedup", "above": 1}, {"value": "quick.passes", "above": 1}]
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


LENGTHS = {
    **{"title": "f", "kind": "figure", "function": "dag.lengths", "labels": {"series": "curve"}},
    "measured": {"y": "bleu_by_length"},
}
DIVERSITY = {
    **{"title": "f", "kind": "figure", "function": "dag.diversity"},
    "measured": {"x": "pairwise_bleu", "y": "multi_reference_bleu"},
}


def labelled(series: str, what: str, label: str, x: float, y: float) -> dict[str, Any]:
    same = {"source": "ours", "dataset": "toy", "split": "test"}
    return {"series": series, "what": what, "label": label, "x": x, "y": y, **same}


def judged_of(row: dict[str, Any], folder: Path, points: list[dict[str, Any]], **more: Any) -> Any:
    artifact = check(Artifact, row, "f")
    POINTS.write(folder / "f.csv", POINTS.frame(points))
    resamples = Resamples(more.pop("scores", {}))
    claim = check(Claim, {"statement": "s", "artifacts": ["f"], **more}, "mine")
    cells = {"f": read_cells(artifact, folder / "f.csv")}
    (one,) = judge({"mine": claim}, {"f": artifact}, cells, resamples)
    return one


def test_bleu_by_length_has_the_interval_of_its_bucket(tmp_path: Path) -> None:
    points = [
        labelled(series, f"raw/{series}/d", f"{words}\n9 lines", x, y)
        for series, scores in (("nat", (20.0, 10.0)), ("dag", (30.0, 25.0)))
        for x, (words, y) in enumerate(zip(("1-10", "11-20"), scores, strict=True), 1)
    ]
    noise = np.random.default_rng(1).normal(size=1000)
    drawn = {
        "raw/nat/d/1-10": 20 + noise,
        "raw/dag/d/1-10": 30 + noise,  # the same lines
        "raw/nat/d/11-20": 10 + 9 * noise,
        "raw/dag/d/11-20": 25 + noise,
    }
    scores = {("toy", "test", "bleu_by_length"): pd.DataFrame(drawn)}
    gain, later = ({"minus": [f"dag@{x}", f"nat@{x}"]} for x in (1, 2))
    one = judged_of(LENGTHS, tmp_path, points, check=[{"rising": [gain, later]}], scores=scores)
    assert one.verdict == UNKNOWN and one.findings[0].low < 0 < one.findings[0].high
    first = [{"value": gain, "above": 9}]
    one = judged_of(LENGTHS, tmp_path, points, check=first, scores=scores)
    assert one.verdict == HOLDS and one.findings[0].high == pytest.approx(10)
    assert judged_of(LENGTHS, tmp_path, points, check=first).verdict == UNKNOWN
    few = {**drawn, "raw/dag/d/1-10": np.where(np.arange(1000) == 7, np.nan, 30 + noise)}
    scores = {("toy", "test", "bleu_by_length"): pd.DataFrame(few)}
    one = judged_of(LENGTHS, tmp_path, points, check=first, scores=scores)
    assert (one.verdict, one.findings[0].why) == (
        UNKNOWN,
        "too few repeats or lines for an interval",
    )


SAMPLES = [
    *(labelled("raw/ctc", "raw/ctc", *at) for at in (("0.4", 60.0, 20.0), ("1", 30.0, 26.0))),
    *(labelled("raw/dag", "raw/dag", *at) for at in (("0.4", 70.0, 40.0), ("1", 40.0, 25.0))),
    *(labelled("big/dag", "big/dag", *at) for at in (("0.4", 69.0, 50.0), ("1", 45.0, 48.0))),
]


def spread(deviation: float, points: Any = SAMPLES) -> dict[tuple[str, str, str], pd.DataFrame]:
    random = np.random.default_rng(1)
    return {
        ("toy", "test", metric): pd.DataFrame(
            {
                f"{one['what']}/{one['label']}": one[axis] + deviation * random.normal(size=1000)
                for one in points
            }
        )
        for axis, metric in (("x", "pairwise"), ("y", "multi_reference"))
    }


def test_a_point_may_be_named_by_its_label(tmp_path: Path) -> None:
    def told(*names: str, deviation: float = 0.1) -> str:
        more = {"check": [{"rising": names}], "scores": spread(deviation)}
        return str(judged_of(DIVERSITY, tmp_path, SAMPLES, **more).verdict)

    assert told("raw/dag@1.x", "distilled/dag@1.x") == HOLDS  # 40 < 45; a teacher's, whichever
    assert told("raw/dag@0.4.x", "distilled/dag@0.4.x") == FAILS
    assert told("raw/dag@1.x", "distilled/dag@1.x", deviation=5) == UNKNOWN
    assert told("raw/dag@0.4.y", "distilled/dag@0.4.y") == HOLDS
    assert told("raw/dag@70", "distilled/dag@69") == HOLDS  # the same, by x
    more = {"check": [{"rising": ["raw/dag@1.x", "distilled/dag@1.x"]}]}
    assert judged_of(DIVERSITY, tmp_path, SAMPLES, **more).verdict == UNKNOWN


def test_curves_are_compared_between_their_points(tmp_path: Path) -> None:
    def found(*curves: str, deviation: float = 0.1, points: Any = SAMPLES) -> Any:
        rows = [{"rising": curves, "interpolated": True}]
        scores = spread(deviation, points)
        return judged_of(DIVERSITY, tmp_path, points, check=rows, scores=scores)

    one = found("raw/ctc", "raw/dag")  # both reach from 40 to 60
    assert [finding.text for finding in one.findings] == [
        "raw/ctc@40 < raw/dag@40",
        "raw/ctc@60 < raw/dag@60",
    ]
    assert [finding.value for finding in one.findings] == [
        pytest.approx(25 - 24),
        pytest.approx(35 - 20),
    ]
    assert one.verdict == HOLDS and one.findings[0].low < 1 < one.findings[0].high
    assert found("raw/dag", "raw/ctc").verdict == FAILS
    noisy = found("raw/ctc", "raw/dag", deviation=5)
    assert [finding.verdict for finding in noisy.findings] == [UNKNOWN, HOLDS]
    dent = labelled("raw/dag", "raw/dag", "0.8", 50.0, 10.0)  # below, between ends that are above
    assert found("raw/ctc", "raw/dag", points=[*SAMPLES, dent]).verdict == FAILS
    apart = [one for one in SAMPLES if (one["what"], one["label"]) != ("raw/dag", "1")]
    one = found("raw/ctc", "raw/dag", points=apart)
    assert one.verdict == UNKNOWN and "no x at which all of" in one.findings[0].why
    assert found("raw/ctc", "raw/nothing").verdict == UNKNOWN
    rows = [{"rising": ["raw/ctc", "raw/dag"], "interpolated": True}]
    bare = judged_of(DIVERSITY, tmp_path, SAMPLES, check=rows)
    assert [finding.why for finding in bare.findings] == ["no interval is known"] * 2


def test_how_far_a_point_on_a_line_moves_is_known_of_both_coordinates(tmp_path: Path) -> None:
    steady, moved = spread(0), spread(0)
    moved["toy", "test", "pairwise"] = spread(2)["toy", "test", "pairwise"]
    rows = {"check": [{"rising": ["raw/ctc", "raw/dag"], "interpolated": True}]}
    for scores, wide in ((steady, False), (moved, True)):
        last = judged_of(DIVERSITY, tmp_path, SAMPLES, scores=scores, **rows).findings[-1]
        assert (last.high - last.low > 0.5) == wide


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
