"""Every artifact that a configuration asks for has something that it is made of."""

from pathlib import Path

import pytest

from fastdecode.config.artifacts import without_ours
from fastdecode.config.base import merge, read_yaml
from fastdecode.config.read import Configuration
from fastdecode.config.resampled import claims_of, resampled

CONFIG = Path(__file__).parents[2] / "config"
RUNS = [
    path
    for path in (CONFIG / "config.yaml", *sorted((CONFIG / "runs").glob("*.yaml")))
    if read_yaml(path).get("papers")  # what the others measure, no paper shows
]
DRAWINGS = {f"dag.figure{number}" for number in (3, 4, 10, 15)}  # of dag-lambda4
CORE = {  # the core list has neither big models nor objectives
    "bidirectional.table2b",
    "aggressive.table4",
    "aggressive.table6",
    "dag.figure7",
}
SIZES = "bidirectional.table4"  # has no row of toy's 1,500 merges, one of Multi30k's 4,000
BARE = {  # what a run has nothing of, and why; the artifact says so itself
    # the big models alone fit into an hour; there are no base ones beside them
    "multi30k-bidirectional": {"bidirectional.table2a"},
    "toy-bidirectional": {SIZES},
    # samples are held to several references, which these data have not
    "dag": {*DRAWINGS, "dag.figure8"},  # drawings: dag-drawings
    "dag-ablations": {"dag.figure8"},
    "multi30k-dag": {"dag.figure7", "dag.figure8"},  # objectives: five more trainings
    "multi30k-families": {*CORE, "dag.figure8"},
    "toy-families-seeds": {*CORE, SIZES},
    "lattice-layers": {"lattice.table2"},  # K: lattice
}


def read(path: Path) -> Configuration:
    return Configuration(merge(read_yaml(CONFIG / "config.yaml"), read_yaml(path)), CONFIG)


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_what_a_configuration_asks_for_has_data(path: Path) -> None:
    assert set(without_ours(read(path))) == BARE.get(path.stem, set())


def test_every_artifact_has_data_in_some_configuration() -> None:
    found: dict[str, set[str]] = {}
    for path in RUNS:
        config = read(path)
        for key, paper in config.papers.items():
            every = {f"{key}.{name}" for name in paper.artifacts}
            found.setdefault(key, set()).update(every - BARE.get(path.stem, set()))
    for key in ("aggressive", "bidirectional", "dag", "lattice"):
        artifacts = read_yaml(CONFIG / f"papers/{key}.yaml")["artifacts"]
        assert found[key] == {f"{key}.{name}" for name in artifacts}


def test_an_artifact_without_data_is_found() -> None:
    values = merge(read_yaml(CONFIG / "config.yaml"), {"papers": ["aggressive"]})
    values["systems"] = ["raw/transformer", "transformer-big/transformer"]
    values["decoders"] = ["beam5"]
    missing = set(without_ours(Configuration(values, CONFIG)))
    assert {"aggressive.table11", "aggressive.table7"} <= missing
    assert "aggressive.table1" not in missing  # its verifier is in the run


def test_a_row_of_a_vocabulary_has_data_where_a_dataset_has_as_many_merges() -> None:
    values = merge(read_yaml(CONFIG / "config.yaml"), {"papers": ["bidirectional.table4"]})

    def missing(*datasets: str) -> list[str]:
        return without_ours(Configuration(values | {"datasets": list(datasets)}, CONFIG))

    assert missing("toy", "tatoeba.en-de") == ["bidirectional.table4"]
    assert missing("toy", "news.en-de") == []  # 1,500 and 6,000 merges have no row, 8,000 have one


def test_claims_are_judged_of_the_artifacts_that_were_asked_for() -> None:
    values = merge(read_yaml(CONFIG / "config.yaml"), read_yaml(CONFIG / "runs/toy-lattice.yaml"))
    some = Configuration(values | {"papers": ["lattice.table2"]}, CONFIG)
    assert list(claims_of(some, "lattice")) == ["count-model-alone-fails"]
    (where,) = resampled(some, "lattice")
    assert where == ("toy.long", "valid", "bleu")
    scored = {f"{model.entry}/{decoder}" for model, decoder in resampled(some, "lattice")[where]}
    delta0 = {f"transformer-big/lattice/lattice-{k}-delta0" for k in ("k1", "k32", "k64")}
    assert scored == delta0


def test_what_a_figure_shows_by_length_is_resampled_by_length() -> None:
    values = merge(read_yaml(CONFIG / "config.yaml"), read_yaml(CONFIG / "runs/toy-dag.yaml"))
    figure = Configuration(values | {"papers": ["dag.figure12"]}, CONFIG)
    ((where, scored),) = resampled(figure, "dag").items()
    assert where == ("toy.long", "test", "bleu_by_length")
    assert {"raw/dag/dag-lookahead", "raw/nat/nat-argmax"} <= {
        f"{model.entry}/{decoder}" for model, decoder in scored
    }
    both = resampled(Configuration(values, CONFIG), "dag")
    assert ("toy.long", "test", "bleu") in both and where in both


def test_what_translations_are_counted_by_is_resampled_too() -> None:
    def found(run: str, paper: str) -> dict[tuple[str, str], set[str]]:
        values = merge(read_yaml(CONFIG / "config.yaml"), read_yaml(CONFIG / f"runs/{run}.yaml"))
        wanted = resampled(Configuration(values, CONFIG), paper)
        return {
            (split, metric): {f"{model.entry}/{decoder}" for model, decoder in scored}
            for (_, split, metric), scored in wanted.items()
        }

    verified = found("toy-aggressive", "aggressive")
    assert {("test", "passes"), ("test", "repetition_rate")} < set(verified)
    assert "transformer-big/gad/gad-pp" in verified["valid", "tokens_per_pass"]
    ends = found("toy-bidirectional", "bidirectional")["test", "end_precision"]
    assert {entry.rpartition("/")[2] for entry in ends} == {"beam10", "pairs-beam10"}
