"""Verdicts on the points and curves of figures."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fastdecode.config.base import check
from fastdecode.config.claims import Claim
from fastdecode.config.papers import Artifact
from fastdecode.errors import UserError
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.claims.clocked import Clocked
from fastdecode.report.claims.evidence import Resamples, read_cells
from fastdecode.report.claims.findings import FAILS, HOLDS, UNKNOWN
from fastdecode.report.claims.judge import judge
from tests.report.claims.cases import cells_of, judged, samples


def point(series: str, x: float, y: float, what: str, tier: str = "reference") -> dict[str, Any]:
    same = {"source": "ours", "dataset": "toy", "split": "test", "tier": tier}
    return {"series": f"{series} ({tier})", "x": x, "y": y, "what": what, **same}


LENGTHS = {
    "title": "f",
    "kind": "figure",
    "function": "dag.lengths",
    "labels": {"series": "curve"},
    "measured": {"y": "bleu_by_length"},
}
DIVERSITY = {
    "title": "f",
    "kind": "figure",
    "function": "dag.diversity",
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


def test_curves_are_compared_at_every_x_that_they_share(tmp_path: Path) -> None:
    points = [
        *(labelled("base", "raw/slow/beam5", "", x, 1.0) for x in (1, 2)),
        *(labelled("pairs", "raw/quick/beam5", "", x, 1 + x) for x in (1, 2, 4)),
    ]

    def found(*checks: dict[str, Any]) -> Any:
        return judged_of({**LENGTHS, "measured": {}}, tmp_path, points, check=checks)

    one = found({"rising": ["base", "pairs"]})
    assert one.verdict == HOLDS
    assert [finding.text for finding in one.findings] == ["base@1 < pairs@1", "base@2 < pairs@2"]
    assert found({"rising": ["pairs@1", "pairs@4"]}).verdict == HOLDS
    gains = {"rising": [{"minus": ["base@2", "base@1"]}, {"minus": ["pairs@2", "pairs@1"]}]}
    assert found(gains).verdict == HOLDS
    one = found({"rising": ["pairs", "nothing"]})
    assert one.verdict == UNKNOWN and "no x at which all of" in one.findings[0].why


def test_a_condition_may_be_on_one_panel_alone(tmp_path: Path) -> None:
    points = [
        {**labelled(name, f"raw/{name}/beam5", "", 1, y), "panel": panel}
        for panel, (base, pairs) in (("real", (1.0, 2.0)), ("teacher", (2.0, 1.0)))
        for name, y in (("base", base), ("pairs", pairs))
    ]

    def found(**more: str) -> Any:
        check = {"rising": ["base", "pairs"], **more}
        return judged_of({**LENGTHS, "measured": {}}, tmp_path, points, check=[check])

    assert [finding.value for finding in found().findings] == [1, -1]
    for panel, verdict in (("real", HOLDS), ("teacher", FAILS), ("other", UNKNOWN)):
        one = found(panel=panel)
        assert one.verdict == verdict
        assert len(one.findings) == 1


def test_a_condition_may_be_on_frequent_lengths_alone(tmp_path: Path) -> None:
    points = [
        {**labelled(name, f"raw/{name}/beam5", "", x, y), "n": lines}
        for x, lines, slower in ((1, 9, False), (2, 80, False), (3, 11, True))
        for name, y in (("search", 1.0), ("encode", 0.5 if slower else 2.0))
    ]

    def found(share: float) -> Any:
        check = {"rising": ["search", "encode"], "share": share}
        return judged_of({**LENGTHS, "measured": {}}, tmp_path, points, check=[check])

    for share, places in ((0.0, "123"), (0.09, "123"), (0.1, "23"), (0.2, "2")):
        one = found(share)
        assert [f.text for f in one.findings] == [f"search@{x} < encode@{x}" for x in places]
        assert one.verdict == (FAILS if "3" in places else HOLDS)
    assert found(0.9).verdict == UNKNOWN


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
    rare = {**drawn, "raw/dag/d/1-10": np.where(np.arange(1000) < 10, np.nan, 30 + noise)}
    scores = {("toy", "test", "bleu_by_length"): pd.DataFrame(rare)}
    assert judged_of(LENGTHS, tmp_path, points, check=first, scores=scores).verdict == HOLDS
    few = {**drawn, "raw/dag/d/1-10": np.where(np.arange(1000) < 11, np.nan, 30 + noise)}
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


def test_a_curve_stands_in_for_one_that_was_not_measured(tmp_path: Path) -> None:
    """Of graphs with another λ, say; but not for one of several that were."""
    rows = [
        {"rising": ["raw/ctc", "raw/eight"], "interpolated": True},
        {"rising": ["raw/eight@0.4.x", "distilled/eight@0.4.x"]},
    ]
    otherwise = {"raw/eight": "raw/dag", "distilled/eight": "distilled/dag"}

    def texts(points: list[dict[str, Any]], **more: str) -> list[str]:
        with_it = {**otherwise, **more}
        one = judged_of(
            DIVERSITY, tmp_path, points, check=rows, otherwise=with_it, scores=spread(0.1, points)
        )
        return [finding.text for finding in one.findings]

    assert texts(SAMPLES) == [
        "raw/ctc@40 < raw/dag@40",
        "raw/ctc@60 < raw/dag@60",
        "raw/dag@0.4.x < distilled/dag@0.4.x",
    ]
    original = ["raw/ctc < raw/eight", "raw/eight@0.4.x < distilled/eight@0.4.x"]
    measured = labelled("distilled/eight", "distilled/eight", "0.4", 50.0, 10.0)
    assert texts([*SAMPLES, measured]) == original
    assert texts([one for one in SAMPLES if one["what"] == "raw/ctc"]) == original
    with pytest.raises(UserError, match="otherwise: raw/ten is in no condition"):
        texts(SAMPLES, **{"raw/ten": "raw/dag"})


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
    assert pairs.origin["over"] == "raw/slow/beam5" and pairs.origin["batch"] == "32"
    times = Clocked({("toy", "test", "reference", "Smax"): samples(tmp_path, "s.csv", 2.0)})
    drawn = Resamples(times=times).of(pairs)
    assert drawn is not None and drawn.tolist() == pytest.approx([2.0] * 1000)


def test_the_ratio_of_a_point_is_of_each_sides_own_batch(tmp_path: Path) -> None:
    points = [
        {**point("base", 1, 1.0, "raw/slow/beam5"), "batch": "1"},
        {**point("pairs", 1, 10.0, "raw/quick/beam5"), "batch": "32"},
    ]
    (_, pairs) = cells_of(tmp_path, *points, name="figure1")
    times = Clocked(
        {("toy", "test", "reference", "Smax"): samples(tmp_path, "s.csv", 2.0, slow_alone=5.0)}
    )
    drawn = Resamples(times=times).of(pairs)
    assert drawn is not None and drawn.tolist() == pytest.approx([10.0] * 1000)


def test_the_ratio_of_a_point_is_over_the_base_of_its_dataset_and_tier(tmp_path: Path) -> None:
    places = product(("toy", "news"), ("reference", "optimised"))
    points = [
        {**point(series, 1, 1.0, f"raw/{system}/beam5", tier), "dataset": dataset, "batch": batch}
        for size, (dataset, tier) in enumerate(places, 1)
        for series, system, batch in (("base", "slow", str(size)), ("pairs", "quick", "32"))
    ]
    pairs = cells_of(tmp_path, *points, name="figure1")[1::2]
    assert [(cell.place, cell.tier, cell.origin["over_batch"]) for cell in pairs] == [
        ("toy", "reference", "1"),
        ("toy", "optimised", "2"),
        ("news", "reference", "3"),
        ("news", "optimised", "4"),
    ]


def test_a_ratio_of_rates_from_few_repeats_cannot_be_told(tmp_path: Path) -> None:
    points = [point("base", 1, 1.0, "raw/slow/beam5"), point("pairs", 1, 2.0, "raw/quick/beam5")]
    found = {"figure1": cells_of(tmp_path, *points, name="figure1")}
    for repeats, told in ((4, UNKNOWN), (5, HOLDS)):
        times = Clocked(
            {("toy", "test", "reference", "Smax"): samples(tmp_path, "s.csv", 2.0, repeats)}
        )
        (one,) = judged(found, {"value": "pairs", "above": 1}, resamples=Resamples(times=times))
        assert one.verdict == told
        assert ("too few repeats" in one.findings[0].why) == (told == UNKNOWN)


@pytest.mark.parametrize("missing", ["pairwise", "multi_reference"])
def test_between_points_both_coordinates_need_an_interval(tmp_path: Path, missing: str) -> None:
    scores = {key: drawn for key, drawn in spread(0.1).items() if key[2] != missing}
    rows = [{"rising": ["raw/ctc", "raw/dag"], "interpolated": True}]
    one = judged_of(DIVERSITY, tmp_path, SAMPLES, check=rows, scores=scores)
    assert {(f.verdict, f.why) for f in one.findings} == {(UNKNOWN, "no interval is known")}
