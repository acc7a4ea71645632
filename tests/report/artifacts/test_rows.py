from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from fastdecode.config.papers import Artifact
from fastdecode.errors import UserError
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.rows import cells, clocked, printed
from tests.report.conftest import value

ARTIFACT = Artifact(
    title="how fast",
    kind="table",
    function="artifacts.rows",
    setting="an A100",
    labels={"model": "model", "layers": "layers"},
    published={"ms": "ms", "bleu": "BLEU"},
    measured={"bleu": "bleu", "ms": "latency", "speedup": "speedup", "many": "sentences_ratio"},
    tiers=("reference", "optimised"),
    over="slow",
    rows={
        "slow": {"model": "AR", "layers": 6, "ms": 257.97, "bleu": 27.4, "ours": "raw/base/beam5"},
        "quick": {"model": "Ours", "ms": 13.15, "ours": "distilled/small/beam5"},
        "theirs": {"model": "NAT", "ms": 22, "bleu": None},
        "absent": {"model": "Shallow", "ours": "distilled/shallow/beam5"},
    },
    notes=("a doubt",),
)
ENTRIES = {
    "slow": {"reference": "raw/base/beam5", "optimised": "raw/base/fast"},
    "quick": {"reference": "big/small/beam5", "optimised": "big/small/fast"},
}
PARTS = {"toy": Part(split="test", timed="test", entries=ENTRIES)}


def ours(found: pd.DataFrame, row: str, column: str, tier: str = "") -> Any:
    chosen = found[(found["source"] == "ours") & (found["row"] == row)]
    chosen = chosen[(chosen["column"] == column) & (chosen["tier"] == tier)]
    return chosen.iloc[0]


def test_numbers_of_ours_stand_beside_the_published(tidy: pd.DataFrame) -> None:
    found = cells(Evidence(ARTIFACT, tidy, PARTS))
    assert ours(found, "slow", "bleu")["value"] == 31.0
    assert ours(found, "quick", "bleu")["what"] == "big/small/beam5"
    # fewest threads: one; a time of 15 ms a token-millisecond, see the made run
    assert ours(found, "slow", "ms", "reference")["value"] == 15.0
    assert ours(found, "quick", "ms", "optimised")["value"] == pytest.approx(3.0)
    published = found[found["source"] == "published"]
    assert len(published) == 4  # null cells are left out
    assert set(found["row"]) == set(ARTIFACT.rows)


def test_a_speed_up_stays_in_its_tier(tidy: pd.DataFrame) -> None:
    found = cells(Evidence(ARTIFACT, tidy, PARTS))
    for tier, over in (("reference", "raw/base/beam5"), ("optimised", "raw/base/fast")):
        cell = ours(found, "quick", "speedup", tier)
        assert (cell["value"], cell["over"]) == (pytest.approx(2.0), over)
        many = ours(found, "quick", "many", tier)  # of sentences a second: more is faster
        assert many["value"] == pytest.approx(2.0)
        assert many["batch"] == "8"  # the size with the most sentences a second
    assert ours(found, "slow", "speedup", "reference")["value"] == 1


def test_a_speed_up_of_means_is_of_means(tidy: pd.DataFrame) -> None:
    """It is another number than that of medians where some sentences take long."""
    slow = tidy["system"] == "base"
    tidy.loc[slow & (tidy["metric"] == "latency_mean"), "value"] *= 3
    artifact = ARTIFACT.model_copy(
        update={"measured": {"speedup": "speedup", "means": "speedup_of_means"}}
    )
    found = cells(Evidence(artifact, tidy, PARTS))
    for tier in artifact.tiers:
        assert ours(found, "quick", "speedup", tier)["value"] == pytest.approx(2.0)
        assert ours(found, "quick", "means", tier)["value"] == pytest.approx(6.0)
    table = printed("it", artifact, found)
    assert {"toy speed-up (reference)", "toy speed-up of means (reference)"} <= set(table.frame)
    assert "Median times and mean times of ours" in table.caption


def test_a_ratio_says_in_which_batches_its_base_is_fastest(tidy: pd.DataFrame) -> None:
    rate = tidy["metric"] == "throughput_sentences"
    tidy.loc[rate & (tidy["system"] == "base") & (tidy["batch"] == "32"), "value"] = 1e6
    cell = ours(cells(Evidence(ARTIFACT, tidy, PARTS)), "quick", "many", "reference")
    assert (cell["batch"], cell["over_batch"]) == ("8", "32")


def test_quality_is_a_mean_over_seeds(tidy: pd.DataFrame) -> None:
    more = value("raw/base/beam5", "bleu", 33.0, seed="2", signature="bleu|v1")
    found = cells(Evidence(ARTIFACT, pd.concat([tidy, pd.DataFrame([more])]), PARTS))
    cell = ours(found, "slow", "bleu")
    assert (cell["value"], cell["n"], cell["seeds"]) == (32.0, 2, "1 2")
    assert cell["device"] == "cpu: X, 2 cores"
    assert cell["sd"] == pytest.approx(2**0.5)
    table = printed("lattice.table1", ARTIFACT, found)
    assert table.frame["toy BLEU"].iloc[0] == "32.00 ± 1.41"
    assert "S1, threads 1, fp32, cpu: X, 2 cores, seed 1." in table.caption  # not of both
    assert "Scores: means over up to 2 seeds (1, 2)." in table.caption


def test_quality_names_every_device_that_decoded(tidy: pd.DataFrame) -> None:
    more = value("raw/base/beam5", "bleu", 33.0, seed="2", signature="bleu|v1", device="an H200")
    found = cells(Evidence(ARTIFACT, pd.concat([tidy, pd.DataFrame([more])]), PARTS))
    assert ours(found, "slow", "bleu")["device"] == "cpu: X, 2 cores and an H200"


def test_the_split_of_quality_may_differ_from_that_of_speed(tidy: pd.DataFrame) -> None:
    valid = value("raw/base/beam5", "bleu", 44.0, split="valid", signature="bleu|v1")
    parts = {"toy": replace(PARTS["toy"], split="valid")}
    found = cells(Evidence(ARTIFACT, pd.concat([tidy, pd.DataFrame([valid])]), parts))
    assert ours(found, "slow", "bleu")["value"] == 44.0
    assert ours(found, "slow", "ms", "reference")["split"] == "test"


def test_a_ratio_has_the_commits_of_both_times(tidy: pd.DataFrame) -> None:
    tidy.loc[tidy["system"] == "small", "commit"] = "1ater"
    found = cells(Evidence(ARTIFACT, tidy, PARTS))
    ratios = found[(found["over"] != "") & (found["what"] != found["over"])]
    assert set(ratios["commit"]) == {"1ater c0ffee"}


def test_devices_never_mix_in_a_ratio(tidy: pd.DataFrame) -> None:
    tidy.loc[tidy["system"] == "small", "device"] = "another"
    with pytest.raises(UserError, match="different devices"):
        cells(Evidence(ARTIFACT, tidy, PARTS))


def test_the_printed_table(tidy: pd.DataFrame) -> None:
    table = printed("lattice.table1", ARTIFACT, cells(Evidence(ARTIFACT, tidy, PARTS)))
    frame = table.frame.set_index("model")
    assert frame["layers"].tolist() == ["6", "", "", ""]  # a label, however it looks
    assert list(frame.columns[1:4]) == ["published ms", "published BLEU", "run here"]
    assert frame.loc["AR", "published ms"] == "257.97"
    assert frame.loc["Ours", "published BLEU"] == ""
    assert frame.loc["NAT", "run here"] == ""
    assert frame.loc["Shallow", "run here"] == "not run in this configuration"
    assert frame.loc["Ours", "toy speed-up (optimised)"] == "×2.00"
    assert frame.loc["NAT", "toy BLEU"] == ""
    for said in (
        "lattice.table1: how fast.",
        "Published: an A100.",
        "BLEU of ours: toy, test, cpu: X, 2 cores, bleu|v1.",
        "S1, threads 1, fp32, cpu: X, 2 cores.",
        "Smax, batches of 8, threads 1, fp32, cpu: X, 2 cores.",
        "Speed-ups in the optimised tier are over raw/base/fast.",
        "Note: a doubt.",
    ):
        assert said in table.caption


def test_the_caption_says_which_score_is_computed_how(tidy: pd.DataFrame) -> None:
    split = value("raw/base/beam5", "compound_split_bleu", 30.0, signature="bleu|words")
    measured = {"bleu": "bleu", "compound": "compound_split_bleu"}
    artifact = ARTIFACT.model_copy(update={"measured": measured})
    found = cells(Evidence(artifact, pd.concat([tidy, pd.DataFrame([split])]), PARTS))
    caption = printed("x", artifact, found).caption
    assert "BLEU of ours: toy, test, cpu: X, 2 cores, bleu|v1. compound-split BLEU" in caption
    assert "compound-split BLEU of ours: toy, test, cpu: X, 2 cores, bleu|words." in caption


def test_shares_stand_in_percent_beside_published_percent(tidy: pd.DataFrame) -> None:
    share = value("raw/base/beam5", "repetition_rate", 0.0125)
    artifact = ARTIFACT.model_copy(update={"measured": {"repeated": "repetition"}})
    found = cells(Evidence(artifact, pd.concat([tidy, pd.DataFrame([share])]), PARTS))
    assert ours(found, "slow", "repeated", "")["value"] == pytest.approx(1.25)
    assert printed("x", artifact, found).frame["toy repeated, %"].tolist()[0] == "1.25"


def test_seeds_are_named_of_a_mean_that_is_no_score(tidy: pd.DataFrame) -> None:
    shares = [
        value("raw/base/beam5", "repetition_rate", share, seed=seed)
        for seed, share in (("1", 0.25), ("2", 0.75))
    ]
    artifact = ARTIFACT.model_copy(update={"measured": {"repeated": "repetition"}})
    found = cells(Evidence(artifact, pd.concat([tidy, pd.DataFrame(shares)]), PARTS))
    caption = printed("x", artifact, found).caption
    assert "Numbers of ours: means over up to 2 seeds (1, 2)." in caption


def test_a_disturbed_time_is_marked(tidy: pd.DataFrame) -> None:
    tidy.loc[(tidy["metric"] == "latency_disturbed") & (tidy["system"] == "base"), "value"] = 1.0
    table = printed("x", ARTIFACT, cells(Evidence(ARTIFACT, tidy, PARTS)))
    assert table.frame["toy ms (reference)"].tolist()[:2] == ["15.00†", "7.50"]
    assert "†: the machine was disturbed" in table.caption
    # of a ratio it is enough that one of the two was
    assert table.frame["toy speed-up (reference)"].tolist()[:2] == ["×1.00†", "×2.00†"]


def test_the_time_of_who_writes_something_else_is_marked(tidy: pd.DataFrame) -> None:
    base = tidy[(tidy["system"] == "base") & (tidy["metric"] == "bleu")]
    apart = base.assign(metric="differs", value=1.0)
    found = cells(Evidence(ARTIFACT, pd.concat([tidy, apart]), PARTS))
    table = printed("x", ARTIFACT, found)
    assert table.frame["toy ms (reference)"].tolist()[:2] == ["15.00≠", "7.50"]
    assert table.frame["toy speed-up (reference)"].tolist()[:2] == ["×1.00≠", "×2.00≠"]
    assert "≠: on more than 1% of the lines" in table.caption


def test_what_no_clock_measures_has_no_mark_of_times(tidy: pd.DataFrame) -> None:
    base = tidy[(tidy["system"] == "base") & (tidy["metric"] == "bleu")]
    apart = base.assign(metric="differs", value=1.0)
    artifact = ARTIFACT.model_copy(update={"measured": {"memory": "memory", "tokens": "tokens"}})
    found = cells(Evidence(artifact, pd.concat([tidy, apart]), PARTS))
    for column in artifact.measured:
        assert ours(found, "slow", column, "reference")["marks"] == ""


def test_memory_is_the_gpus_own_where_there_is_one(tidy: pd.DataFrame) -> None:
    artifact = ARTIFACT.model_copy(update={"measured": {"memory": "memory"}})
    tidy.loc[tidy["metric"] == "latency_disturbed", "value"] = 1.0
    on_cpu = cells(Evidence(artifact, tidy, PARTS))
    assert ours(on_cpu, "slow", "memory", "reference")["value"] == pytest.approx(300.4)
    own = tidy[tidy["metric"] == "memory_peak"].assign(metric="memory_allocator_peak", value=77.0)
    gpu = pd.concat([tidy, own]).assign(device="NVIDIA H200")
    table = printed("x", artifact, cells(Evidence(artifact, gpu, PARTS)))
    assert table.frame["toy peak MB (reference)"].tolist()[:2] == ["77", "77"]  # no † on memory
    alone = cells(Evidence(artifact, tidy.assign(device="NVIDIA H200"), PARTS))
    assert "ours" not in set(alone["source"])  # what the process takes of the host is no answer
    assert "Memory of ours: toy" in table.caption and "Times of ours" not in table.caption


def test_columns_may_be_about_different_systems(tidy: pd.DataFrame) -> None:
    several = {"raw": "raw/base/beam5", "kd": "big/small/beam5"}
    rows = {"slow": ARTIFACT.rows["slow"], "both": {"model": "Both", "ours": several}}
    measured = {"a": "bleu@raw", "b": "bleu@kd", "c": "speedup@kd"}
    artifact = ARTIFACT.model_copy(update={"rows": rows, "measured": measured})
    assert artifact.patterns("both") == {
        "both@raw": ["raw/base/beam5"],
        "both@kd": ["big/small/beam5"],
    }
    entries = {"slow": ENTRIES["slow"], "both@raw": ENTRIES["slow"], "both@kd": ENTRIES["quick"]}
    found = cells(Evidence(artifact, tidy, {"toy": Part("test", "test", entries)}))
    assert [ours(found, "both", column)["value"] for column in "ab"] == [31.0, 29.0]
    assert ours(found, "both", "c", "reference")["value"] == pytest.approx(2.0)
    assert ours(found, "slow", "b")["value"] == 31.0  # its only one
    frame = printed("x", artifact, found).frame
    assert frame["toy distilled BLEU"].tolist() == ["31.00", "29.00"]


def test_a_row_may_name_another_denominator(tidy: pd.DataFrame) -> None:
    rows = {**ARTIFACT.rows, "quick": {**ARTIFACT.rows["quick"], "over": "quick"}}
    found = cells(Evidence(ARTIFACT.model_copy(update={"rows": rows}), tidy, PARTS))
    assert ours(found, "quick", "speedup", "reference")["value"] == 1
    assert ours(found, "slow", "speedup", "reference")["over"] == "raw/base/beam5"


def test_a_batch_size_may_be_asked_for(tidy: pd.DataFrame) -> None:
    artifact = ARTIFACT.model_copy(update={"batch": 32, "measured": {"n": "sentences_per_second"}})
    cell = ours(cells(Evidence(artifact, tidy, PARTS)), "slow", "n", "reference")
    assert (cell["batch"], cell["value"]) == ("32", pytest.approx(2e3 / 15))
    assert (
        cells(Evidence(artifact.model_copy(update={"batch": 7}), tidy, PARTS))
        .query("source == 'ours'")
        .empty
    )


def test_scores_that_differ_from_a_row_are_marked(tidy: pd.DataFrame) -> None:
    names = {"target": "big", "system": "small", "decoder": "beam5"}
    found = {  # by baseline: p and the difference, a seed each
        "raw/base/beam5": ((0.01, -1.0), (0.02, -0.8)),
        "big/small/x": ((0.01, -1.0), (0.2, -0.1)),
        "big/small/y": ((0.01, -1.0), (0.02, 0.8)),
    }
    tests = [
        {**names, "seed": seed, "baseline": baseline, "p_randomisation": p, "difference": gained}
        for baseline, values in found.items()
        for seed, (p, gained) in enumerate(values)
    ]
    against = ("big/small/x", "raw/base/beam5", "big/small/y")
    part = replace(PARTS["toy"], against=against, comparisons=tests)
    more = {"measured": {**ARTIFACT.measured, "chrf": "chrf"}}
    artifact = ARTIFACT.model_copy(update={"against": ("absent", "slow", "missing"), **more})
    tidy = pd.concat([tidy, pd.DataFrame([value("big/small/beam5", "chrf", 50.0)])])
    made = cells(Evidence(artifact, tidy, {"toy": part}))
    assert ours(made, "quick", "chrf")["marks"] == ""  # BLEU alone is tested
    assert ours(made, "quick", "bleu")["marks"] == "ᵇ"  # with every seed, in one direction
    assert ours(made, "slow", "bleu")["marks"] == ""
    table = printed("x", artifact, made)
    assert "29.00ᵇ" in table.frame["toy BLEU"].tolist()
    assert "ᵇ: differs from AR, p < 0.05" in table.caption


def test_nothing_of_it_was_run(tidy: pd.DataFrame) -> None:
    parts = {"toy": Part(split="test", timed="test", entries={})}
    table = printed("x", ARTIFACT, cells(Evidence(ARTIFACT, tidy, parts)))
    assert "Nothing of it was run here." in table.caption
    assert list(table.frame.columns) == [
        "model",
        "layers",
        "published ms",
        "published BLEU",
        "run here",
    ]


def test_the_decoder_that_is_best_on_valid_counts() -> None:
    scores = {"beam5": (20.0, 31.0), "greedy": (22.0, 30.0), "fast": (21.0, 35.0)}
    rows = [
        value(f"raw/base/{decoder}", "bleu", bleu + shift, split=split, seed=seed)
        for decoder, both in scores.items()
        for split, bleu in zip(("valid", "test"), both, strict=True)
        for seed, shift in (("1", 0.0), ("2", 1.0))
    ]
    alternatives = {"raw/base/beam5": [f"raw/base/{decoder}" for decoder in scores]}
    part = replace(PARTS["toy"], valid="valid", alternatives=alternatives)
    cell = ours(cells(Evidence(ARTIFACT, pd.DataFrame(rows), {"toy": part})), "slow", "bleu")
    assert (cell["what"], cell["value"], cell["split"]) == ("raw/base/greedy", 30.5, "test")
    missing = [row for row in rows if (row["decoder"], row["split"]) != ("fast", "valid")]
    with pytest.raises(UserError, match="raw/base/fast was not scored on valid"):
        cells(Evidence(ARTIFACT, pd.DataFrame(missing), {"toy": part}))


def test_a_row_may_be_tested_against_one_of_several_entries(tidy: pd.DataFrame) -> None:
    rows = {"slow": {"ours": {"x": "raw/base/beam5"}}, "quick": {"ours": {"x": "big/small/beam5"}}}
    artifact = Artifact(
        title="t",
        kind="table",
        function="artifacts.rows",
        rows=rows,
        measured={"bleu": "bleu@x", "other": "bleu@y"},
        against=("slow@y", "slow@x"),
    )
    entries = {
        **{f"quick@{name}": {"reference": "big/small/beam5"} for name in "xy"},
        "slow@x": {"reference": "raw/base/beam5"},
    }
    names = {"target": "big", "system": "small", "decoder": "beam5", "baseline": "raw/base/beam5"}
    part = Part(
        "test",
        "test",
        entries,
        against=("", "raw/base/beam5"),
        comparisons=[names | {"p_randomisation": 0.01, "difference": 1.0}],
    )
    found = cells(Evidence(artifact, tidy, {"toy": part}))
    assert ours(found, "quick", "bleu")["marks"] == "ᵇ"
    assert ours(found, "quick", "other")["marks"] == ""


def test_published_numbers_may_have_a_deviation(tidy: pd.DataFrame) -> None:
    rows = {"slow": {"bleu": 27.4, "bleu_sd": 0.25}, "other": {"bleu": 26}}
    artifact = Artifact(
        title="t",
        kind="table",
        function="artifacts.rows",
        rows=rows,
        published={"bleu": "BLEU"},
    )
    table = printed("x", artifact, cells(Evidence(artifact, tidy, PARTS)))
    assert table.frame["published BLEU"].tolist() == ["27.4 ± 0.25", "26"]


def test_fewest_threads_are_fewest_as_numbers(tidy: pd.DataFrame) -> None:
    tidy["threads"] = tidy["threads"].replace({"1": "9", "2": "10"})
    cell = ours(cells(Evidence(ARTIFACT, tidy, PARTS)), "slow", "ms", "reference")
    assert (cell["threads"], cell["value"]) == ("9", 15.0)


def test_a_disturbance_of_other_batches_is_no_mark(tidy: pd.DataFrame) -> None:
    tidy.loc[(tidy["metric"] == "latency_disturbed") & (tidy["batch"] == "32"), "value"] = 1.0
    cell = ours(cells(Evidence(ARTIFACT, tidy, PARTS)), "quick", "many", "reference")
    assert (cell["batch"], cell["marks"]) == ("8", "")


def test_how_sentences_were_timed_alone_says_nothing_of_batches(tidy: pd.DataFrame) -> None:
    tidy.loc[(tidy["metric"] == "latency_disturbed") & (tidy["scenario"] == "Smax"), "value"] = 1.0
    found = clocked(tidy, "toy", "test", "raw/base/beam5")
    assert (found["threads"], found["marks"]) == ("1", "")


@pytest.mark.parametrize("column", ["ms", "speedup", "many"])
def test_a_disturbance_with_other_threads_is_no_mark(tidy: pd.DataFrame, column: str) -> None:
    tidy.loc[(tidy["metric"] == "latency_disturbed") & (tidy["threads"] == "2"), "value"] = 1.0
    cell = ours(cells(Evidence(ARTIFACT, tidy, PARTS)), "quick", column, "reference")
    assert (cell["threads"], cell["marks"]) == ("1", "")


def test_how_sentences_were_timed_says_nothing_of_other_threads(tidy: pd.DataFrame) -> None:
    tidy.loc[(tidy["metric"] == "latency_disturbed") & (tidy["threads"] == "2"), "value"] = 1.0
    found = clocked(tidy, "toy", "test", "raw/base/beam5")
    assert (found["threads"], found["marks"]) == ("1", "")
