"""A run of no more than its artifacts need: the same artifacts, from fewer trainings."""

from pathlib import Path
from typing import Any

import pytest

from fastdecode.config.artifacts import curves, entries, parts, statistics, without_ours
from fastdecode.config.base import merge, read_yaml
from fastdecode.config.narrow import narrowed
from fastdecode.config.read import Configuration
from fastdecode.errors import UserError

CONFIG = Path(__file__).parents[2] / "config"
RUNS = ("toy-lattice", "toy-bidirectional", "toy-aggressive", "toy-dag")


def values_of(run: str) -> dict[str, Any]:
    return merge(*(read_yaml(CONFIG / name) for name in ("config.yaml", f"runs/{run}.yaml")))


def narrow(run: str, *papers: str, **more: Any) -> tuple[Configuration, Configuration]:
    """Return a run, and what `papers` need of it."""
    values = values_of(run) | {"papers": papers, **more}
    whole = Configuration(values, CONFIG)
    return whole, Configuration(merge(values, narrowed(whole)), CONFIG)


@pytest.mark.parametrize("run", RUNS)
def test_every_artifact_is_made_of_the_same(run: str) -> None:
    values = values_of(run)
    every = Configuration(values, CONFIG)
    empty = without_ours(every)
    for key, paper in every.papers.items():
        for name in paper.artifacts:
            if f"{key}.{name}" in empty:
                continue
            whole, few = narrow(run, f"{key}.{name}")
            artifact = whole.papers[key].artifacts[name]
            assert few.papers[key].artifacts == {name: artifact}
            assert [*statistics(few, artifact)] == [*statistics(whole, artifact)]
            assert curves(few, artifact) == curves(whole, artifact)
            tiers = {"reference", *artifact.tiers}
            found, wanted = (
                {
                    row: {tier: entry for tier, entry in there.items() if tier in tiers}
                    for row, there in entries(one, artifact).items()
                }
                for one in (few, whole)
            )
            assert found == wanted
            rest = ("entries", "settings")
            for dataset, part in parts(whole, artifact).items():
                ours = parts(few, artifact)[dataset]
                assert {k: v for k, v in ours.items() if k not in rest} == {
                    k: v for k, v in part.items() if k not in rest
                }, name


def test_only_what_a_figure_shows_is_trained_and_decoded() -> None:
    whole, few = narrow("toy-dag", "dag.figure13")
    assert few.run.systems == ("raw/glat", "raw/ctc-glat", "raw/dag", "raw/dag-lambda4")
    assert few.decoders_of("raw/glat") == ["nat-argmax"]  # a run has a decoder for every system
    assert len(few.models()) == 12 < len(whole.models())


def test_what_is_not_timed_needs_no_denominator_of_its_own() -> None:
    over = {"reference": "raw/transformer/beam5", "optimised": "raw/transformer/greedy-optimised"}
    whole, few = narrow("toy-dag", "dag.figure6", speedup_over=over)
    assert few.denominators() == {"reference": "raw/ctc-glat/ctc-argmax", "optimised": None}
    assert "raw/transformer" not in few.run.systems
    assert few.run.latency.scenarios == ("S1",)
    whole, few = narrow("toy-dag", "dag.table1", speedup_over=over)
    assert few.denominators() == whole.denominators()


def test_scenarios_are_those_of_its_times() -> None:
    for artifact, scenarios in (("figure3", ("Smax",)), ("table2a", ("S1", "Smax"))):
        _, few = narrow("toy-bidirectional", f"bidirectional.{artifact}")
        assert few.run.latency.scenarios == scenarios
    _, few = narrow("toy-bidirectional", "bidirectional.figure1")  # not timed at all
    assert few.run.latency.scenarios == ("S1",)


def test_a_paper_is_all_that_the_run_has_of_it() -> None:
    whole, few = narrow("multi30k-families", "lattice")
    assert "transformer/lattice" in few.run.systems
    assert "transformer/gad" not in few.run.systems
    assert without_ours(few) == without_ours(whole)


def test_parameters_keep_the_decoders_that_they_are_of() -> None:
    whole, few = narrow("toy-dag", "dag.settings")
    assert few.decoders_of("raw/dag") == whole.decoders_of("raw/dag")
    assert few.run.systems == ("raw/transformer", "raw/dag", "raw/dag-lambda4")


@pytest.mark.parametrize("asked", ["bidirectional.table2b", "aggressive.table7"])
def test_nothing_of_the_run_is_one_line(asked: str) -> None:
    with pytest.raises(UserError, match=f"nothing of toy-dag goes into {asked}: take another run"):
        narrow("toy-dag", "dag.table1", asked)
