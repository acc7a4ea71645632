"""Which systems of a run stand in the rows of an artifact."""

import pytest

from fastdecode.config.artifacts import entries, for_nothing
from tests.config.test_papers import RUN, artifact, run


def test_a_row_takes_the_first_pattern_that_was_run() -> None:
    found = entries(run(), artifact("table1"))
    student = "transformer-big/transformer"  # raw is not in the run
    assert found["ar"] == {  # CTranslate2's beam 5 stands before this project's in the run
        "reference": f"{student}/beam5",
        "optimised": f"{student}/beam5-optimised",
    }
    assert found["ours_raw"]["reference"] == "raw/lattice/lattice-k64"
    systems, decoders = ["raw/transformer-big", student], ["beam5"]
    few = entries(run(systems=systems, decoders=decoders), artifact("table1"))
    assert few["ar"] == {"reference": f"{student}/beam5"}
    assert "nat_reg" not in found  # a system of another paper
    config = run(systems=["raw/transformer-big", "raw/transformer", *RUN["systems"][1:]])
    assert entries(config, artifact("table1"))["ar"] == {
        "reference": "raw/transformer/beam5",
        "optimised": "raw/transformer/beam5-optimised",
    }


@pytest.mark.parametrize(
    ("decoders", "found"),
    [
        ({"raw/dag": 1, "raw/dag-lambda4": 2}, {"raw/dag-lambda4": 2}),  # most rows
        ({"raw/dag": 1, "raw/dag-lambda4": 1}, {"raw/dag": 1}),  # as many: the first
        (  # raw and distilled targets are compared, too
            {"raw/dag": 2, "raw/dag-lambda4": 1, "transformer/dag-lambda4": 2},
            {"raw/dag-lambda4": 1, "transformer/dag-lambda4": 2},
        ),
    ],
)
def test_rows_of_like_patterns_take_the_same(
    decoders: dict[str, int], found: dict[str, int]
) -> None:
    names = ["dag-lookahead", "dag-beam"]
    config = run(
        datasets=["toy.long"],
        systems=["raw/transformer", *decoders],
        decoders=["beam5", *({entry: names[:count]} for entry, count in decoders.items())],
        papers=["dag.table1"],
        speedup_over={"reference": "raw/transformer/beam5"},
    )
    there = entries(config, config.papers["dag"].artifacts["table1"])
    models = [
        tiers["reference"].rpartition("/")[0]
        for row, tiers in there.items()
        if row.startswith("da_")
    ]
    assert {model: models.count(model) for model in models} == found


def test_decoders_of_one_model_are_chosen_row_by_row() -> None:
    config = run(
        datasets=["toy.long"],
        systems=["raw/transformer-big", "transformer-big/cmlm"],
        decoders=["beam5", "mask-predict-4-3-lengths", "mask-predict-10"],
        papers=["aggressive.table9"],
        speedup_over={"reference": "raw/transformer-big/beam5"},
    )
    found = entries(config, config.papers["aggressive"].artifacts["table9"])
    chosen = {row: found[row]["reference"].split("/")[2] for row in ("cmlm_t4", "cmlm_t10")}
    assert chosen == {"cmlm_t4": "mask-predict-4-3-lengths", "cmlm_t10": "mask-predict-10"}


def test_targets_do_not_mix_where_a_run_has_the_one_half_raw_and_the_other_distilled() -> None:
    config = run(
        datasets=["toy.long"],
        systems=["raw/transformer-big", "transformer-big/transformer", "raw/bidirectional"],
        decoders=["beam10", "pairs-beam10"],
        papers=["bidirectional.table2a"],
        speedup_over={"reference": "raw/transformer-big/beam10"},
    )
    found = entries(config, config.papers["bidirectional"].artifacts["table2a"])
    assert {row: tiers["reference"] for row, tiers in found.items()} == {
        "double_bidir": "raw/bidirectional/pairs-beam10"
    }


def test_what_is_asked_for_for_nothing() -> None:
    assert not for_nothing(run())
    asked = ["lattice.table2", "dag.figure7", "dag.table2"]
    assert for_nothing(run(papers=asked)) == ["dag.figure7", "dag.table2"]
    assert for_nothing(run(papers=["lattice", "dag"])) == []  # both have rows of its baselines
