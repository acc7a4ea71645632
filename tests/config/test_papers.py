import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from fastdecode.config.artifacts import also_scored, compared, curves, entries, parts, statistics
from fastdecode.config.base import check, read_yaml
from fastdecode.config.models import Model
from fastdecode.config.papers import Artifact, Paper, choose, references
from fastdecode.config.read import Configuration
from fastdecode.config.resampled import resampled
from fastdecode.errors import UserError

CONFIG = Path(__file__).parents[2] / "config"
RUN = read_yaml(CONFIG / "runs/toy-lattice.yaml")
# What each paper has, by first place in it, the appendix last; tables 2 and 3 of the bidirectional
# paper have two halves. What is none of its tables and figures stands where it tells of that: a
# lattice (section 3), settings (section 4).
PUBLISHED = {
    "lattice": (
        *("example", "table1", "figure1", "table2", "figure2", "figure3", "figure4"),
        *("table3", "table4", "table5", "table6", "table7", "table8", "table9"),  # appendix
    ),
    "bidirectional": (
        *("figure1", "figure2", "table1", "table2a", "table2b", "table3a", "table3b"),
        *("figure3", "table4"),
    ),
    "aggressive": (
        *("figure1", "figure2", "figure3", "table1", "figure4", "table2", "table3", "table4"),
        *("table5", "table6", "table7"),
        *("table8", "table9", "table10", "table11"),  # appendix
    ),
    "dag": (
        *("figure1", "figure2", "figure3", "figure4", "settings", "table1", "figure5", "figure6"),
        *("figure7", "table2", "figure8", "figure9"),
        *("figure10", "figure11", "figure12", "figure13", "figure14", "figure15"),  # appendix
    ),
}
MISSING: dict[str, set[str]] = {}  # to come
SYSTEMS = ["raw/transformer", "untrained/transformer", "big/transformer", "small/transformer"]
SYSTEMS += ["raw/lattice"]
DECODERS = {
    "raw/transformer": ["beam5"],
    "big/transformer": ["beam5"],
    "small/transformer": ["beam5", "beam2"],
    "raw/lattice": ["k64"],
}


def run(**changes: Any) -> Configuration:
    base = read_yaml(CONFIG / "config.yaml")
    return Configuration(base | RUN | changes, CONFIG)


def artifact(name: str) -> Artifact:
    return run().papers["lattice"].artifacts[name]


@pytest.mark.parametrize(
    ("pattern", "chosen"),
    [
        ("raw/transformer/beam5", "raw/transformer/beam5"),
        ("distilled/transformer/beam5", "big/transformer/beam5"),  # the run's first
        ("untrained/transformer", "untrained/transformer"),
        ("small/transformer", "small/transformer"),
        ("small/transformer/beam2", "small/transformer/beam2"),
        ("distilled/transformer/beam2", None),  # a table is about one target
        ("distilled/lattice/k64", None),
        ("raw/lattice/k32", None),
        ("raw/lattice", "raw/lattice"),
    ],
)
def test_a_pattern_chooses_from_the_run(pattern: str, chosen: str | None) -> None:
    assert choose(pattern, SYSTEMS, DECODERS) == chosen


def test_parts_say_splits_and_settings() -> None:
    (part,) = parts(run(), artifact("table2")).values()
    assert (part["split"], part["timed"]) == ("valid", "test")
    lattice = part["settings"]["transformer-big/lattice"]
    assert (lattice["encoder_layers"], lattice["decoder_layers"]) == (2, 1)
    assert lattice["max_epochs"] == 30


def test_times_are_of_the_validation_set_where_a_run_times_it() -> None:
    name = "wmt14.en-de.aggressive"
    config = run(datasets=[name], device="cuda", papers=["aggressive"])
    tables = config.papers["aggressive"].artifacts
    for table, split in (("table1", "newstest2014"), ("table2", "valid")):
        part = parts(config, tables[table])[name]
        assert (part["split"], part["timed"]) == (split, split)


@pytest.mark.parametrize("name", ["dag.settings", "aggressive.table10", "bidirectional.table1"])
def test_every_setting_that_a_paper_names_is_one(name: str) -> None:
    key, _, number = name.partition(".")
    config = run(**read_yaml(CONFIG / f"runs/toy-{key}.yaml"))
    table = config.papers[key].artifacts[number]
    (part,) = parts(config, table).values()
    known = {setting for settings in part["settings"].values() for setting in settings}
    named = {wanted.partition(".")[0] for row in table.rows for wanted in table.wanted(row)}
    assert named and named <= known


def test_parameters_are_of_decoders_too() -> None:
    config = dag()
    (part,) = parts(config, config.papers["dag"].artifacts["settings"]).values()
    graph = part["settings"]["raw/dag"]
    assert (graph["dag-beam/beams"], graph["dag-beam-a12/length_penalty"]) == (200, 1.2)
    assert "dag-sample/top_p" not in part["settings"]["raw/dag-lambda4"]  # it is not decoded so
    assert part["settings"]["raw/transformer"]["update_tokens"] == 1024
    twice = dag(training={"accumulate": 2, "gpus": 3})
    (part,) = parts(twice, twice.papers["dag"].artifacts["settings"]).values()
    assert part["settings"]["raw/dag"]["update_tokens"] == 6 * 1024


def test_the_papers_own_datasets_come_alone() -> None:
    values = {"papers": ["lattice"], "name": "both"}
    config = run(**values, datasets=["toy", "iwslt14.de-en.lattice"])
    assert list(parts(config, artifact("table9"))) == ["iwslt14.de-en.lattice"]
    assert list(parts(config, artifact("table5"))) == ["toy", "iwslt14.de-en.lattice"]


def test_what_artifacts_ask_for_beside_the_test_splits() -> None:
    scored = list(also_scored(run()))
    lattice = Model("toy.long", "transformer-big", "lattice", 1)
    assert (lattice, "valid", "lattice-k1-delta0") in scored
    assert not [split for _, split, _ in scored if split != "valid"]
    assert list(also_scored(run(papers=[]))) == []
    assert list(statistics(run(), artifact("figure2"))) == [(lattice, "valid", "ranks")]


def dag(**changes: Any) -> Configuration:
    toy = read_yaml(CONFIG / "runs/toy-dag.yaml")
    return Configuration(read_yaml(CONFIG / "config.yaml") | toy | changes, CONFIG)


def test_decoders_are_tuned_over_those_that_the_run_has() -> None:
    config = dag()
    (part,) = parts(config, config.papers["dag"].artifacts["table1"]).values()
    beam = "raw/dag/dag-beam"
    assert part["alternatives"][beam] == [beam, *(f"{beam}-a{n}" for n in (11, 12, 13, 14))]
    assert part["valid"] == "valid"
    assert len(part["against"]) == 4 and all(part["against"])
    graph = Model("toy.long", "raw", "dag", 1)
    gammas = ("", "-g05", "-g20", "-g30", "-g50")
    weights = [alpha + gamma for alpha in ("", "-a12", "-a14") for gamma in gammas]
    assert {decoder for model, _, decoder in also_scored(config) if model == graph} == {
        *(f"dag-beam{alpha}" for alpha in ("", "-a11", "-a12", "-a13", "-a14")),
        *(f"dag-beam-lm{weight}" for weight in weights),
    }
    plain = dag(decoders=["beam5", "dag-lookahead", "nat-argmax", "ctc-argmax", "mask-predict-10"])
    (part,) = parts(plain, plain.papers["dag"].artifacts["table1"]).values()
    assert part["alternatives"] == {} and list(also_scored(plain)) == []


def test_speed_ups_are_over_what_is_timed() -> None:
    wrong = "raw/dag/dag-beam-a12"
    with pytest.raises(UserError, match=r"dag-beam-a12 is one that .* tuned over, and not timed"):
        dag(speedup_over={"reference": wrong})
    assert dag(speedup_over={"reference": wrong}, papers=[]).denominators()["reference"] == wrong


def test_statistics_may_be_of_the_training_split() -> None:
    nat = Model("toy.long", "raw", "nat", 1)
    found = list(statistics(dag(), dag().papers["dag"].artifacts["table2"]))
    assert [split for model, split, _ in found if model == nat] == ["train", "valid"]


def test_of_several_test_splits_artifacts_have_the_first() -> None:
    config = dag(datasets=["multi30k.de-en"])
    splits = config.datasets["multi30k.de-en"].tests
    assert len(splits) == 2
    table1, table2 = (config.papers["dag"].artifacts[name] for name in ("table1", "table2"))
    (part,) = parts(config, table1).values()
    assert part["split"] == part["timed"] == splits[0]
    tested = table2.model_copy(update={"statistics_on": (), "split": "test"})
    assert {split for _, split, _ in statistics(config, tested)} == {splits[0]}


def test_rows_are_compared_where_some_are_tested_against_others() -> None:
    config = dag()
    table = config.papers["dag"].artifacts["table1"]
    assert compared(config, table, "toy.long")
    alone = table.model_copy(update={"against": ()})
    assert compared(config, alone, "toy.long") == []


def test_statistics_are_of_single_models_that_are_at_hand(tmp_path: Path) -> None:
    figure = artifact("figure2")
    lattice = "toy.long/transformer-big/lattice/seed1"
    (tmp_path / "checkpoint.pt").touch()
    given = {"translations": {lattice: str(tmp_path)}}
    assert list(statistics(run(given=given), figure)) == []
    given |= {"models": {lattice: str(tmp_path)}}
    assert len(list(statistics(run(given=given), figure))) == 1
    aggressive = run(**read_yaml(CONFIG / "runs/toy-aggressive.yaml"))
    assert "raw/transformer-big-x3" in aggressive.run.systems
    (name,) = figure.statistics
    asked = figure.model_copy(update={"statistics": {name: ("raw/transformer-big-x3",)}})
    assert list(statistics(aggressive, asked)) == []


def test_samples_are_measured_where_several_references_are_known() -> None:
    figure = dag().papers["dag"].artifacts["figure8"]
    assert {split for _, split, _ in statistics(dag(), figure)} == {"test"}
    assert not list(statistics(dag(datasets=["multi30k.de-en"]), figure))
    news = list(statistics(dag(datasets=["news.en-de"]), figure))
    assert {split for _, split, _ in news} == {"newstest2014"}
    valid = figure.model_copy(update={"split": "valid"})
    assert not list(statistics(dag(datasets=["news.en-de"]), valid))


def test_learning_curves_are_of_the_first_seed() -> None:
    config = dag(seeds=[2, 1])
    found = curves(config, config.papers["dag"].artifacts["figure13"])
    systems = ("dag", "dag-lambda4", "ctc-glat", "glat")
    assert found == [Model("toy.long", "raw", system, 2) for system in systems]


def test_an_ensemble_is_scored_once_whatever_the_seeds() -> None:
    values = read_yaml(CONFIG / "config.yaml") | read_yaml(CONFIG / "runs/toy-aggressive.yaml")
    config = Configuration(values | {"seeds": [2, 3]}, CONFIG)
    table = config.papers["aggressive"].artifacts["table6"]
    ensemble = Model(config.run.datasets[0], "raw", "transformer-big-x3", 2)
    wanted = table.model_copy(update={"against": ("teacher@one",), "split": "valid"})
    paper = config.papers["aggressive"]
    config.papers["aggressive"] = paper.model_copy(update={"artifacts": {"table6": wanted}})
    for models in (
        [model for model, _ in compared(config, wanted, ensemble.dataset)],
        [model for model, _, _ in also_scored(config)],
        *([model for model, _ in found] for found in resampled(config, "aggressive").values()),
    ):
        assert [model for model in models if model.system == ensemble.system] == [ensemble]
        assert {model.seed for model in models} == {2, 3}


def test_what_the_aggressive_paper_asks_of_its_toy_run() -> None:
    values = read_yaml(CONFIG / "config.yaml") | read_yaml(CONFIG / "runs/toy-aggressive.yaml")
    config = Configuration(values, CONFIG)
    artifacts = config.papers["aggressive"].artifacts
    drafter = Model(config.run.datasets[0], "transformer-big", "gad", 1)
    for name in ("table11", "figure2", "figure3"):
        assert list(statistics(config, artifacts[name])) == [(drafter, "test", "traces")]
    short = values | {
        "systems": [
            "raw/transformer-big",
            "transformer-big/transformer",
            "transformer-big/gad-k10",
        ],
        "decoders": ["beam5", "gad-strict"],
    }
    (found,) = statistics(Configuration(short, CONFIG), artifacts["table11"])
    assert found == (replace(drafter, system="gad-k10"), "test", "traces")  # for want of gad
    for name in ("table7", "figure4"):
        found = entries(config, artifacts[name])
        assert set(found) == set(artifacts[name].rows)
        assert all(set(tiers) == {"reference", "optimised"} for tiers in found.values())


def test_every_published_column_of_the_aggressive_paper_has_one_of_ours() -> None:
    artifacts = run(papers=["aggressive"]).papers["aggressive"].artifacts
    missing = {
        name: unmeasured
        for name, artifact in artifacts.items()
        if artifact.kind == "table" and artifact.measured
        if (unmeasured := set(artifact.published) - set(artifact.measured))
    }
    assert missing == {"table8": {"memory_mib", "percent"}}  # ours is the process's, in MB


def test_every_paper_of_the_project_is_sound() -> None:
    for path in (CONFIG / "papers").glob("*.yaml"):
        paper = check(Paper, read_yaml(path), path.name)
        for claim in paper.claims.values():
            assert set(claim.artifacts) <= set(paper.artifacts), claim.statement
            assert (claim.formula is None) == (claim.published_holds is None)
        assert list(references(paper))
        run(papers=[path.stem])


@pytest.mark.parametrize("key", PUBLISHED)
def test_every_table_and_figure_is_there_in_order_or_said_to_be_missing(key: str) -> None:
    path = CONFIG / f"papers/{key}.yaml"
    paper = check(Paper, read_yaml(path), path.name) if path.exists() else None
    missing = MISSING.get(key, set())
    made = [name for name in PUBLISHED[key] if name not in missing]
    assert list(paper.artifacts if paper else ()) == made
    for claim in paper.claims.values() if paper else ():
        named = set(re.findall(r"(?:table|figure)\w+(?=\[)", claim.formula or ""))
        assert named <= set(claim.artifacts) | missing, claim.statement


def test_a_column_that_there_is_not_is_refused() -> None:
    row = {"title": "x", "kind": "table", "function": "artifacts.rows", "rows": {"a": {"b": 1}}}
    with pytest.raises(UserError, match=r"rows\.a: no column is called b"):
        check(Artifact, row, "here")
    with pytest.raises(UserError, match="over: there is no row z"):
        check(Artifact, {**row, "published": {"b": "B"}, "over": "z"}, "here")


@pytest.mark.parametrize(
    ("against", "message"),
    [
        ("beam", r"against: beam is raw/dag/dag-beam, which is tuned"),
        ("both@kd", r"against: both@kd is big/dag/dag-beam, which is tuned"),
        ("both@raw", None),
        ("greedy", None),
    ],
)
def test_rows_are_not_tested_against_one_that_is_tuned(against: str, message: str | None) -> None:
    several = {"raw": "raw/dag/dag-greedy", "kd": "big/dag/dag-beam"}
    rows = {"beam": "raw/dag/dag-beam", "greedy": ["raw/dag/dag-greedy"], "both": several}
    row = {
        **{"title": "x", "kind": "table", "function": "artifacts.rows", "against": [against]},
        **{"rows": {name: {"ours": ours} for name, ours in rows.items()}},
        "tuned": {"dag-beam": ["dag-beam-a11"]},
    }
    with pytest.raises(UserError, match=message) if message else nullcontext():
        check(Artifact, row, "here")


@pytest.mark.parametrize(
    ("ours", "message"),
    [
        ("raw/latice/lattice-k64", 'system: there is no "latice"'),
        ("distiled/lattice/lattice-k64", 'target: there is no "distiled"'),
        ("raw/lattice/lattice-k65", 'decoder: there is no "lattice-k65"'),
    ],
)
def test_names_in_a_paper_are_checked(tmp_path: Path, ours: str, message: str) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "mine.yaml").write_text(
        "{title: t, authors: [a], year: 2000, artifacts: {table1: {title: t, kind: table, "
        f"function: artifacts.rows, rows: {{a: {{ours: {ours}}}}}}}}}}}"
    )
    with pytest.raises(UserError) as raised:
        run(papers=["mine"], definitions=str(tmp_path))
    assert "papers/mine.yaml: table1.rows.a: " in str(raised.value)
    assert message in str(raised.value)


def test_names_of_a_legend_are_of_systems(tmp_path: Path) -> None:
    figure = {"title": "t", "kind": "figure", "function": "dag.training", "names": {"dgr": "graph"}}
    paper = {"title": "t", "authors": ["a"], "year": 2000, "artifacts": {"figure1": figure}}
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers/mine.yaml").write_text(yaml.safe_dump(paper))
    with pytest.raises(UserError, match=r'figure1\.names: system: there is no "dgr"'):
        run(papers=["mine"], definitions=str(tmp_path))
