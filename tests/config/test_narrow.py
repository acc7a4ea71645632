"""A run of no more than its artifacts need: the same artifacts, from fewer trainings."""

from pathlib import Path
from typing import Any

import pytest

from fastdecode.config.artifacts import parts, without_ours
from fastdecode.config.base import merge, read_yaml
from fastdecode.config.narrow import check_same, narrowed
from fastdecode.config.read import Configuration
from fastdecode.config.timed import timed
from fastdecode.errors import UserError

CONFIG = Path(__file__).parents[2] / "config"
RUNS = ("toy-lattice", "toy-bidirectional", "toy-aggressive", "toy-dag")


def values_of(run: str) -> dict[str, Any]:
    return merge(*(read_yaml(CONFIG / name) for name in ("config.yaml", f"runs/{run}.yaml")))


def narrow(run: str, *papers: str, **more: Any) -> tuple[Configuration, Configuration]:
    """Return a run, and what `papers` need of it."""
    values = values_of(run) | {"papers": papers, **more}
    whole = Configuration(values, CONFIG)
    return whole, Configuration(values | narrowed(whole), CONFIG)


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
            check_same(whole, few)
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
    assert few.run.latency.threads == (1,)
    assert "raw/transformer" not in few.run.systems
    assert few.run.latency.scenarios == ("S1",)
    whole, few = narrow("toy-dag", "dag.table1", speedup_over=over)
    assert few.denominators() == whole.denominators()


def test_what_is_made_of_the_times_of_sentences_keeps_the_denominators() -> None:
    over = {"reference": "transformer-big/transformer/greedy"}
    whole, few = narrow("toy-aggressive", "aggressive.figure4", speedup_over=over)
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


def test_what_is_given_is_kept_as_far_as_it_is_needed(tmp_path: Path) -> None:
    for name in ("model", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "checkpoint.pt").touch()
    (tmp_path / "text").touch()
    model, other, text = (str(tmp_path / name) for name in ("model", "other", "text"))
    distilled = {"toy.long/transformer-big": text}
    models = {"toy.long/raw/dag/seed1": model, "toy.long/raw/nat/seed1": other}
    translations = {"toy.long/raw/glat/seed1": other}
    given = {"models": models, "distilled": distilled, "translations": translations}
    _, few = narrow("toy-dag", "dag.figure7", given=given, seeds=[1])
    assert few.run.given.models == {"toy.long/raw/dag/seed1": model}
    assert few.run.given.distilled == distilled  # figure 7 has distilled targets, too
    assert not few.run.given.translations


def test_a_teacher_that_a_statistic_compares_with_stays_where_its_targets_are_given(
    tmp_path: Path,
) -> None:
    (tmp_path / "text").touch()
    given = {"distilled": {"toy.long/transformer-big": str(tmp_path / "text")}}
    teacher = "raw/transformer-big"
    systems = ["transformer-big/transformer", "transformer-big/lattice", teacher]
    small = {"systems": systems, "decoders": ["beam5", "lattice-k64"]}
    for more, stays in ({"given": given}, True), ({}, False):
        _, few = narrow("toy-lattice", "lattice.figure1", **small, **more)
        assert (teacher in few.run.systems) == stays


def test_what_nobody_times_is_no_denominator(tmp_path: Path) -> None:
    """An ensemble, and a system of which translations alone are given."""
    (tmp_path / "given").mkdir()
    given = {"translations": {"toy.long/raw/transformer/seed1": str(tmp_path / "given")}}
    systems = ["raw/transformer-big-x3", "raw/transformer", "raw/nat", "raw/dag"]
    more = {"systems": systems, "decoders": ["beam5", "nat-argmax", "dag-lookahead"]}
    over = {"reference": "raw/dag/dag-lookahead"}
    _, few = narrow("toy-dag", "dag.table2", **more, given=given, seeds=[1], speedup_over=over)
    assert few.run.speedup_over.reference == "raw/nat/nat-argmax"
    assert few.run.systems == ("raw/nat", "raw/dag")


def test_a_system_that_hides_another_is_said() -> None:
    """The first of a name counts, whatever decodes it, so that the second has no row."""
    systems = ["transformer/transformer", "transformer-big/transformer", "raw/transformer"]
    decoders = [{"transformer/*": ["greedy"]}, {"transformer-big/*": ["beam5"]}, "beam5-optimised"]
    decoders += [{"raw/transformer": ["beam5"]}]
    over = {"reference": "raw/transformer/beam5"}
    more = {"systems": systems, "decoders": decoders, "speedup_over": over, "seeds": [1]}
    whole = Configuration(values_of("toy-lattice") | {"papers": ["aggressive"]} | more, CONFIG)
    few = whole.run.model_dump(exclude_unset=True, mode="json")
    few |= {"systems": systems[1:], "decoders": decoders[1:]}
    with pytest.raises(UserError, match="would be made of other systems than in toy-lattice"):
        check_same(whole, Configuration(few, CONFIG))
    check_same(whole, whole)


def test_what_is_tuned_over_is_timed_where_the_decoder_that_is_tuned_is_not() -> None:
    """Then it stands for itself, and no other time is as good as its own."""
    graph, beams = "raw/dag-lambda4", ["dag-beam-a12", "dag-beam-a14"]
    for more, left in ([], beams), (["dag-beam"], ["dag-beam"]):
        decoders = ["beam5", {graph: [*beams, *more]}]
        chosen = {"systems": ["raw/transformer", graph], "decoders": decoders, "seeds": [1]}
        over = {"speedup_over": {"reference": "raw/transformer/beam5"}}
        config = Configuration(values_of("toy-dag") | chosen | over, CONFIG)
        found = [name for model, name in timed(config, "toy.long") if model.entry == graph]
        assert found == left


def test_what_is_tuned_over_is_not_timed_whichever_artifacts_are_drawn() -> None:
    """So that a run that draws one figure does not time all its decoders anew."""
    all_of_them, one = (
        Configuration(values_of("toy-dag") | {"papers": papers}, CONFIG)
        for papers in (["dag"], ["dag.figure7"])
    )
    assert timed(one, "toy.long") == timed(all_of_them, "toy.long")
