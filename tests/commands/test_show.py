"""Lists of what there is: every kind has the run's own rows, and says what is the run's."""

import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import pytest

from fastdecode.commands.selection import DEFINITIONS, read_run
from fastdecode.commands.show import KINDS, aligned
from fastdecode.config.read import Configuration
from fastdecode.errors import UserError
from tests.commands.conftest import Call, Place

Rows = Callable[..., dict[str, list[str]]]


@pytest.fixture
def rows(call: Call) -> Rows:
    """Return name → the other cells of its line."""

    def listed(kind: str, *more: str) -> dict[str, list[str]]:
        heading, *lines = call("show", kind, *more).splitlines()
        begins = [heading.index(word) for word in _columns(heading)]
        ends = [*begins[1:], None]
        cells = ([line[a:b].strip() for a, b in zip(begins, ends, strict=True)] for line in lines)
        return {name: others for name, *others in cells}

    return listed


def _columns(heading: str) -> list[str]:
    return [column.strip() for column in heading.split("  ") if column.strip()]


def test_columns_are_as_wide_as_they_need() -> None:
    assert aligned(("a", "b"), [("long", "–"), ("c", "d")]) == "a     b\nlong  –\nc     d"
    assert aligned(("a", "b"), []) == "a  b"


def test_on_a_terminal_long_cells_go_on_below_themselves() -> None:
    names, said = "one.name, two.names, three.names, four.names", "a word or two " * 6
    heading = ("run", "datasets", "what")
    printed = aligned(heading, [("r", names, said), ("s", "–", "–")], within=80)
    assert printed.splitlines() == [
        "run  datasets                              what",
        "r    one.name, two.names, three.names,     a word or two a word or two a word or",
        "     four.names                            two a word or two a word or two a",
        "                                           word or two",
        "s    –                                     –",
    ]
    long = "a.name.that.is.longer.than.a.column.may.be/" + "x" * 30
    assert long in aligned(heading, [("r", long, said)], within=40)
    assert max(map(len, aligned(heading, [("r", "d", said)], within=60).splitlines())) <= 60


def test_through_a_pipe_every_line_is_one(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    piped = call("show", "runs").splitlines()
    assert max(map(len, piped)) > 200
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    seen = call("show", "runs").splitlines()
    assert len(seen) > len(piped) and seen[1].split()[0] == piped[1].split()[0]


def test_runs_say_what_they_are_in_a_sentence(rows: Rows) -> None:
    found = rows("runs")
    assert found["toy-aggressive"][:2] == ["cpu", "toy.long"]
    assert found["toy-aggressive"][2].startswith(
        "Draft and verify on the toy corpus (Xia et al. 20"
    )
    assert found["toy-aggressive"][2].endswith("which draft the whole sentence")
    assert found["dag"][0] == "cuda"


def test_a_run_of_the_users_own_has_what_lies_below_it(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    config = Configuration(read_run([]) | {"definitions": str(tmp_path)}, DEFINITIONS)
    (runs / "mine.yaml").write_text("# A | b, of mine. And more.\nseeds: [2]\n")
    _, lines = KINDS["runs"](config, Namespace())
    assert ("mine", "cpu", "toy", "A | b, of mine") in lines
    (runs / "mine.yaml").write_text("datasets: null\n")
    with pytest.raises(UserError, match=r'mine\.yaml.*"datasets"'):
        KINDS["runs"](config, Namespace())
    (runs / "mine.yaml").write_text("[]\n")
    with pytest.raises(UserError, match=r"mine\.yaml: expected keys and values"):
        KINDS["runs"](config, Namespace())


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_lines(kind: str, rows: Rows) -> None:
    assert rows(kind)


def test_a_dataset_of_the_users_own_is_the_run_s(rows: Rows) -> None:
    found = rows("datasets")
    assert found["numbers"] == ["en-de", "–", "40 joint", "base: 512 wide, 6-6", "test", "yes"]
    assert found["toy.long"][-1] == "–"


def test_a_dataset_whose_corpus_is_misspelt(tmp_path: Path) -> None:
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets/mine.yaml").write_text("{corpus: numbrs, bpe: {merges: 4}}")
    config = Configuration(read_run([]) | {"definitions": str(tmp_path)}, DEFINITIONS)
    with pytest.raises(UserError, match=r'mine\.yaml: corpus: there is no "numbrs"'):
        KINDS["datasets"](config, Namespace())


def test_systems_say_their_targets_and_how_they_differ(rows: Rows) -> None:
    found = rows("systems")
    assert found["transformer"][3] == "raw, transformer-big"
    assert found["transformer-6-1"][2:4] == ["6-1", "–"]
    assert found["dag-lambda4"] == ["dag", "base", "–", "–", "factor 4"]
    ensemble = found["transformer-big-x3"]
    assert ensemble[-1] == "ensemble of transformer-big, seeds 1, 2, 3"


def test_decoders_say_what_they_are_asked_for(rows: Rows) -> None:
    found = rows("decoders")
    assert found["greedy"] == ["autoregressive", "reference", "yes", "beam 1"]
    assert found["beam5"][-1] == "beam 5"
    assert found["dag-lookahead-merged"][-2:] == ["–", "search lookahead, merge"]
    assert "draft (search ctc, engine fastdecode)" in found["ctc-strict"][-1]


def test_decoders_of_a_system_are_those_that_fit(rows: Rows, call: Call) -> None:
    found = rows("decoders", "--system", "ctc-glat")
    assert next(iter(found)) == "ctc-argmax"
    assert "ctc-strict" in found and "greedy" not in found
    with pytest.raises(SystemExit, match=r'"ctc-glad"; did you mean "ctc-glat"\?'):
        call("show", "decoders", "--system", "ctc-glad")
    with pytest.raises(SystemExit, match="--system is for decoders, not for systems"):
        call("show", "systems", "--system", "ctc-glat")


def test_artifacts_say_how_much_of_them_a_run_gives(rows: Rows) -> None:
    found = rows("artifacts")
    assert found["lattice.table1"][0] == "1 of 6 rows"
    assert found["dag.figure7"][:2] == ["–", "–"]
    assert found["dag.settings"][0] == "yes"


def test_models_say_how_far_they_are(rows: Rows, call: Call, place: Place) -> None:
    found = rows("models")
    assert found["numbers/raw/transformer/seed1"] == ["trained", "–", "–", "4 epochs", "–"]
    assert found["numbers/transformer-big/transformer/seed1"][0] == "–"
    assert list(found).index("numbers/raw/transformer-big/seed1") == 1  # the teacher before it
    with pytest.raises(SystemExit, match="--results /no/such: no such folder"):
        call("show", "models", "--results", "/no/such")


def models(tmp_path: Path, **values: object) -> dict[str, list[str]]:
    """Return the lines of a run's models with results in `tmp_path`."""
    run = {"systems": ["raw/transformer", "transformer-big/transformer"], "decoders": ["beam5"]}
    config = Configuration(read_run([]) | run | values, DEFINITIONS)
    _, lines = KINDS["models"](config, Namespace(results=tmp_path))
    return {name: others for name, *others in lines}


def test_models_that_were_begun_or_given(tmp_path: Path) -> None:
    log = tmp_path / "toy/raw/transformer/seed1/work-a/train.log"
    log.parent.mkdir(parents=True)
    log.write_text(
        '2026-01-01 00:00:00 | INFO | valid | {"valid_bleu": "7.25", "valid_num_updates": "1100"}\n'
    )
    (tmp_path / "model.pt").touch()
    folder, student = tmp_path / "model.pt", "toy/transformer-big/transformer/seed1"
    given = {
        "models": {"toy/raw/transformer-big/seed1": str(folder)},
        "translations": {student: str(tmp_path)},
    }
    (tmp_path / "test.beam5.txt").touch()
    found = models(tmp_path, given=given, datasets=["toy"])
    assert found["toy/raw/transformer/seed1"][:3] == ["begun", "1", "1,100"]
    assert found["toy/raw/transformer/seed1"][-1] == "7.2"
    assert found["toy/raw/transformer-big/seed1"][0] == "given"
    assert found[student][0] == "translations given"


def test_a_model_that_was_trained_with_other_settings(tmp_path: Path) -> None:
    folder = tmp_path / "toy/raw/transformer/seed1"
    folder.mkdir(parents=True)
    (folder / "checkpoint.pt").touch()
    (folder / "train.json").write_text('{"training": {"max_epochs": 99}}')
    ends = {"max_epochs": 98, "max_updates": 4000, "patience": 3}
    found = models(tmp_path, training=ends)["toy/raw/transformer/seed1"]
    assert found[0] == "trained otherwise"
    assert found[-2] == "98 epochs or 4,000 updates or 3 validations without a better one"
    assert (
        models(tmp_path, training={"max_epochs": 99})["toy/raw/transformer/seed1"][0] == "trained"
    )


def test_decoders_of_a_system_are_the_run_s_where_they_are_for_it() -> None:
    values = {
        "systems": ["raw/transformer", "raw/transformer-big"],
        "decoders": ["beam5", {"raw/transformer": ["greedy"]}],
        "speedup_over": {"reference": "raw/transformer/beam5"},
    }
    config = Configuration(read_run([]) | values, DEFINITIONS)
    for system, used in (("transformer", "yes"), ("transformer-big", "–"), (None, "yes")):
        _, lines = KINDS["decoders"](config, Namespace(system=system))
        assert {line[0]: line[3] for line in lines}["greedy"] == used


def test_a_teacher_has_a_target_though_the_run_does_not_list_it() -> None:
    values = {"systems": ["transformer-big/transformer"], "decoders": ["beam5"]}
    values["speedup_over"] = {"reference": "transformer-big/transformer/beam5"}
    config = Configuration(read_run([]) | values, DEFINITIONS)
    _, lines = KINDS["systems"](config, Namespace())
    assert {line[0]: line[4] for line in lines}["transformer-big"] == "raw"


def test_the_run_s_own_model_size_is_shown() -> None:
    config = Configuration(read_run([]) | {"roles": {"base": "small"}}, DEFINITIONS)
    _, lines = KINDS["datasets"](config, Namespace())
    sizes = {line[0]: line[4] for line in lines}
    assert sizes["toy"].startswith("small: ") and sizes["toy.long"].startswith("tiny: ")
