import copy
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from fastdecode.config.base import merge
from fastdecode.config.checks import check_fits, check_name
from fastdecode.config.rows import System
from fastdecode.errors import UserError
from tests.config.conftest import DEFINITIONS, RUN, fault, over, read, write


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nme": "x"}, 'config.yaml: unknown key "nme"; did you mean "name"?'),
        ({"datasets": "talks"}, "\"datasets\": input should be a valid list, found 'talks'"),
        ({"seeds": [0]}, '"seeds.0": input should be greater than or equal to 1, found 0'),
        ({"seeds": [2**31]}, '"seeds.0": input should be less than 2147483648, found 2147483648'),
        ({"name": "x" * 101}, '"name": expected a name of at most 100 letters, digits, dots, _ '),
        ({"seeds": ["1.0"]}, "\"seeds.0\": input should be a valid integer, found '1.0'"),
        ({"seeds": [True]}, "seeds: expected a number, found true, as YAML reads yes,"),
        ({"seeds": []}, '"seeds": list should have at least 1 item'),
        ({"latency": {"lnes": 3}}, 'unknown key "latency.lnes"; did you mean "lines"?'),
        ({"datasets": ["tallks"]}, 'datasets: there is no "tallks"; did you mean "talks"?'),
        ({"systems": ["raw/techer"]}, 'system: there is no "techer"; did you mean "teacher"?'),
        (
            {"systems": ["distilled/student"]},
            "name the teacher that distils, as in transformer-big/student",
        ),
        (
            {"systems": ["raw/left"]},
            "left is a family: take one of its systems, such as student, teacher",
        ),
        ({"systems": ["rae/teacher"]}, 'target: there is no "rae"; did you mean "raw"?'),
        (
            {"systems": ["teacher/teacher-x2"]},
            "teacher/teacher-x2: an ensemble is of raw teachers: take raw/teacher-x2",
        ),
        (
            {"systems": ["raw/teacher-x2"], "speedup_over": over("raw/teacher-x2/greedy")},
            "raw/teacher-x2 is an ensemble, which is not timed: take one model",
        ),
        (
            {"systems": ["teacher"]},
            '"teacher" is not of the form target/system, such as raw/transformer',
        ),
        ({"systems": ["raw/teacher/greedy"]}, '"raw/teacher/greedy" is not of the form'),
        (
            {"decoders": ["beam"]},
            'config.yaml: decoders: there is no "beam"; did you mean "beam5"?',
        ),
        (
            {"distill_decoder": "grdy"},
            'config.yaml: distill_decoder: there is no "grdy"; did you mean "greedy"?',
        ),
        (
            {"speedup_over": over("raw/teacher")},
            "target/system/decoder, such as raw/transformer/gr",
        ),
        (
            {"speedup_over": over("raw/teacher/gredy")},
            'there is no "gredy"; did you mean "greedy"?',
        ),
        (
            {"speedup_over": over("raw/student/greedy")},
            "not among what this run trains and decodes",
        ),
        (
            {"decoders": ["odd"]},
            "decoders: none of them decodes raw/teacher: add one of config/systems",
        ),
        ({"seeds": [1, 2, 1]}, "seeds: 1 stands twice"),
        ({"systems": ["raw/teacher", "raw/teacher"]}, "systems: raw/teacher stands twice"),
        ({"latency": {"threads": [1, "all", 1]}}, "threads: 1 stands twice"),
        ({"latency": {"scenarios": ["S1", "S1"]}}, "scenarios: S1 stands twice"),
        ({"latency": {"batches": [8, 8]}}, "batches: 8 stands twice"),
        (
            {"latency": {"batches": [128, 64], "batch_lines": 32}},
            "batch_lines: 32 lines fill no batch of 64: set batches to smaller ones, or",
        ),
        ({"distill_decoder": "odd"}, "distill_decoder: odd does not decode the teacher teacher-x2"),
        (
            {"decoders": ["fast"], "speedup_over": over("raw/teacher/fast")},
            "speedup_over.reference: fast is a decoder of tier optimised: a ratio never mixes",
        ),
        ({"definitions": "nowhere"}, "config.yaml: definitions: no folder nowhere"),
    ],
)
def test_a_run_that_does_not_fit_is_refused(
    folder: Path, changes: dict[str, Any], message: str
) -> None:
    assert fault(folder, **changes).startswith("config.yaml: ")
    assert message in fault(folder, **changes)


@pytest.mark.parametrize(
    ("file", "changes", "message"),
    [
        (
            "datasets/talks.8k.yaml",
            {"corpus": "takls"},
            'talks.8k.yaml: corpus: there is no "takls"',
        ),
        (
            "datasets/talks.8k.yaml",
            {"valid": "vaild"},
            'split of talks: there is no "vaild"; did you mean "valid"?',
        ),
        (
            "datasets/talks.8k.yaml",
            {"tests": ["tets"]},
            'split of talks: there is no "tets"; did you mean "test"?',
        ),
        ("datasets/talks.8k.yaml", {"tests": ["test", "test"]}, "tests: test stands twice"),
        ("datasets/talks.8k.yaml", {"tests": ["train"]}, "talks.8k.yaml: models learn from the"),
        ("datasets/talks.8k.yaml", {"valid": "train"}, "validate and test on others"),
        ("datasets/talks.8k.yaml", {"valid": "test"}, "the split test validates, and may choose"),
        (
            "datasets/talks.8k.yaml",
            {"roles": {"big": "larg"}},
            'datasets/talks.8k.yaml: roles.big: there is no "larg"; did you mean "large"?',
        ),
        ("datasets/talks.8k.yaml", {"bpe": {"joint": 7}}, 'datasets/talks.8k.yaml: "bpe.joint"'),
        ("corpora/talks.yaml", {"sorce": "de"}, 'corpora/talks.yaml: unknown key "sorce"'),
        ("presets.yaml", {"tiny": {"heads": 3}}, "presets.yaml, tiny: width 16 is no multiple of"),
        ("presets.yaml", {"tiny": {"layers": "6"}}, 'presets.yaml, tiny: "layers"'),
        (
            "systems/left.yaml",
            {"systems": {"student": 3}},
            'left.yaml: "systems.student": expected',
        ),
        ("systems/left.yaml", {"decoders": {"greedy": {"bem": 3}}}, 'did you mean "beam"?'),
        (
            "systems/left.yaml",
            {"systems": {"student": {"decoder_layers": 1}}},
            "systems.student: give layers or decoder_layers, not both",
        ),
        (
            "systems/left.yaml",
            {"ensembles": {"teacher-x2": {"system": "techer"}}},
            'systems/left.yaml: ensembles.teacher-x2.system: there is no "techer"; did you mean '
            '"teacher"?',
        ),
        (
            "systems/left.yaml",
            {"ensembles": {"teacher-x2": {"seeds": [4, 4]}}},
            "seeds: 4 stands twice",
        ),
        ("systems/left.yaml", {"systems": {"raw": {}}}, 'left.yaml: the name "raw" is taken'),
        ("systems/left.yaml", {"systems": {"bpe": {}}}, 'left.yaml: the name "bpe" is taken'),
        ("systems/left.yaml", {"systems": {"distilled": {}}}, 'the name "distilled" is taken'),
        ("systems/left.yaml", {"systems": {"odd": {}}}, 'other.yaml: the name "odd" is taken'),
        ("systems/left.yaml", {"systems": {"greedy": {}}}, 'left.yaml: the name "greedy" is taken'),
        ("systems/other.yaml", {"systems": {"student": {}}}, 'the name "student" is taken'),
        ("systems/other.yaml", {"decoders": {"teacher-x2": {}}}, 'name "teacher-x2" is taken'),
    ],
)
def test_a_definition_that_does_not_fit_is_refused(
    folder: Path, file: str, changes: dict[str, Any], message: str
) -> None:
    write(folder, {file: merge(copy.deepcopy(DEFINITIONS[file]), changes)})
    assert message in fault(folder)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            {"techer/student": ["beam5"]},
            'decoders: "techer/student" is no target/system of this run; did you mean '
            '"teacher/student"?',
        ),
        ({"*/studnet": ["beam5"]}, 'run; did you mean "*/student"?'),
        ({"raw/cur": ["odd"]}, '"raw/cur" is no target/system of this run; did you mean'),
        ({"raw/student": ["beam5"]}, 'run; did you mean "*/student"?'),
        ({"student": ["beam5"]}, '"student" is no target/system of this run; did you mean'),
        (
            {"*/*er": ["odd"]},
            'config.yaml: decoders: "*/*er": odd does not decode raw/teacher (known: raw/curious)',
        ),
        ({"raw/teacher": ["bem5"]}, 'decoders: there is no "bem5"; did you mean "beam5"?'),
        ({"raw/teacher": ["greedy"]}, "decoders: greedy stands twice for raw/teacher"),
        ({"raw/teacher": ["beam5", "beam5"]}, "decoders: beam5 stands twice for raw/teacher"),
        ({"raw/teacher": "beam5"}, "input should be a valid list, found 'beam5'"),
        ({"raw/teacher": []}, 'raw/teacher": list should have at least 1 item, found []'),
        ({"raw/techer": []}, 'raw/techer": list should have at least 1 item, found []'),
        ({}, "mapping should have at least 1 item"),
        (5, "the first a letter or digit, found 5"),
    ],
)
def test_decoders_for_what_is_not_there_are_refused(
    folder: Path, entry: object, message: str
) -> None:
    systems = [*RUN["systems"], "raw/curious"]
    found = fault(folder, systems=systems, decoders=["greedy", {"raw/curious": ["odd"]}, entry])
    assert found.startswith("config.yaml: ")
    assert message in found


def test_a_decoder_that_fits_no_system_of_the_run_is_told_so(folder: Path) -> None:
    assert fault(folder, decoders=["greedy", {"raw/t*": ["odd"]}]) == (
        'config.yaml: decoders: "raw/t*": odd does not decode raw/teacher, nor any other system of '
        "this run"
    )


def test_of_a_system_that_is_named_it_is_told_what_decodes_it(folder: Path) -> None:
    found = fault(folder, decoders=["greedy", {"raw/teacher": ["odd"]}])
    start = 'config.yaml: decoders: "raw/teacher": odd does not decode teacher: take one of '
    assert found.startswith(start)
    assert {"beam5", "greedy"} <= {*found.removeprefix(start).split(", ")}


def test_decoders_that_decode_nothing_of_the_run_are_known(folder: Path) -> None:
    """They are no fault: whoever leaves out systems may leave their decoders in."""
    systems = ["raw/teacher", "raw/curious"]
    given = {"speedup_over": {"reference": "raw/teacher/greedy"}, "decoders": ["greedy", "odd"]}
    assert read(folder, systems=systems[:1], **given).idle_decoders() == ["odd"]
    assert read(folder, systems=systems, **given).idle_decoders() == []


@pytest.mark.parametrize(
    ("decoder", "message"),
    [
        ("odd", "here: odd does not decode teacher: take one of beam5, fast, greedy"),
        ("gredy", 'here: there is no "gredy"; did you mean "greedy"?'),
    ],
)
def test_a_decoder_that_does_not_fit_is_refused(folder: Path, decoder: str, message: str) -> None:
    config = read(folder)
    check_fits(config, "greedy", "teacher", "here")
    with pytest.raises(UserError, match=f"^{re.escape(message)}"):
        check_fits(config, decoder, "teacher", "here")


def test_values_of_several_keys_at_fault_are_not_told(folder: Path) -> None:
    assert fault(folder, latency={"scenarios": ["S1", "S1"], "lines": 3}) == (
        'config.yaml: "latency": scenarios: S1 stands twice: once is enough'
    )


def test_a_speed_up_is_over_a_decoder_that_fits(folder: Path) -> None:
    message = fault(folder, speedup_over=over("raw/teacher/odd"))
    assert "speedup_over.reference: odd does not decode teacher: take one that does" in message


def test_a_dataset_has_no_name_of_a_folder_of_results(folder: Path) -> None:
    write(folder, {"datasets/report.yaml": DEFINITIONS["datasets/talks.yaml"]})
    message = 'config.yaml: datasets: the name "report" is taken: choose another'
    assert fault(folder, datasets=["report"]) == message


def test_settings_of_an_unknown_family_are_refused(folder: Path) -> None:
    path = folder / "datasets/talks.8k.yaml"
    path.write_text(path.read_text().replace("  left:", "  leaf:"))
    assert 'talks.8k.yaml: families: there is no "leaf"; did you mean "left"?' in fault(folder)


def test_settings_that_no_loss_of_a_family_reads_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(System, "unread", frozenset({"accumulate"}))
    assert fault(folder).startswith(
        "datasets/talks.8k.yaml: families.left: no loss of left has accumulate: "
    )
    monkeypatch.setattr(System, "unread", frozenset({"clip_norm"}))
    (folder / "systems/other.yaml").write_text(
        yaml.safe_dump({**DEFINITIONS["systems/other.yaml"], "training": {"clip_norm": 2.0}})
    )
    assert fault(folder).startswith(
        "systems/other.yaml: training: no loss of other has clip_norm: "
    )


def test_settings_that_one_loss_of_a_family_reads_are_not_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unread = property(lambda row: frozenset({"accumulate"} if row.role == "big" else ()))
    monkeypatch.setattr(System, "unread", unread)
    assert read(folder).systems["teacher"].unread


def test_text_of_one_dataset_does_not_distil_another(folder: Path, tmp_path: Path) -> None:
    (text := tmp_path / "text.gz").touch()
    one, two = (
        {
            "distilled": {
                f"{name}/{target}": str(text)
                for name in names
                for target in ("teacher", "teacher-x2")
            }
        }
        for names in (["talks.8k"], ["talks.8k", "talks"])
    )
    run: dict[str, Any] = {"datasets": ["talks.8k", "talks"], "distill_decoder": "odd"}
    run |= {"training": {"max_epochs": 1}}
    assert "distill_decoder: odd does not decode the teacher" in fault(folder, given=one, **run)
    assert read(folder, given=two, **run)


def test_training_settings_are_checked_whoever_is_trained(folder: Path) -> None:
    """No system of the run is of the family other, and there no setting is missed."""
    dataset = merge(copy.deepcopy(DEFINITIONS["datasets/talks.8k.yaml"]), {"families": {}})
    dataset["families"]["other"] = {"accumulat": 6}
    write(folder, {"datasets/talks.8k.yaml": dataset})
    assert 'talks.8k.yaml: families.other: unknown key "accumulat"; did you' in fault(folder)
    dataset["families"]["other"] = {"max_epochs": None}
    write(folder, {"datasets/talks.8k.yaml": dataset})
    assert read(folder)


ROW = {"title": "T", "kind": "table", "function": "artifacts.rows"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"rows": {"one": {"ours": "raw/student"}}},
            '/p.yaml: table1.rows.one: "raw/student" is not of the form target/system/decoder',
        ),
        ({"rows": {"one": {"ours": ["raw/student/plain", "raw"]}}}, '"raw" is not of the form'),
        ({"rows": {"one": {"ours": "raw/student/plain/x"}}}, '"raw/student/plain/x" is not of'),
        (
            {"curves": ["raw/student/plain"]},
            'table1.curves: "raw/student/plain" is not of the form',
        ),
        (
            {"function": "artifacts.row"},
            "table1.function: fastdecode/report has no module artifacts",
        ),
        ({"kind": "figure"}, "table1.function: artifacts.rows makes no figure"),
        (
            {"datasets": ["talk.8k"]},
            'table1.datasets: there is no "talk.8k"; did you mean "talks.8k"',
        ),
        ({"measured": {"a": "zzzz"}}, "are known, listed by fastdecode/config/metrics.py)"),
    ],
)
def test_a_paper_that_does_not_fit_is_refused(
    folder: Path, changes: dict[str, Any], message: str
) -> None:
    paper = {"title": "P", "authors": ["A"], "year": 2000, "artifacts": {"table1": ROW | changes}}
    write(folder, {"papers/p.yaml": paper})
    assert message in fault(folder, papers=["p"])


def test_training_settings_are_checked_for_every_model(folder: Path) -> None:
    message = fault(folder, training={"dropuot": 0.1})
    assert message == ('config.yaml: training: unknown key "dropuot"; did you mean "dropout"?')
    assert "training of teacher on talks: training never ends" in fault(folder, datasets=["talks"])


def test_half_precision_needs_a_gpu(folder: Path) -> None:
    message = fault(folder, training={"precision": "fp16"})
    assert "training of teacher on talks.8k: precision fp16 needs a GPU" in message
    config = read(folder, training={"precision": "fp16"}, device="cuda")
    assert config.training("talks.8k", "teacher").precision == "fp16"


def test_trained_systems_are_not_compared_with_random_weights(folder: Path) -> None:
    random, faster = "untrained/teacher", over("untrained/teacher/greedy")
    assert read(folder, systems=[random, "untrained/student"], speedup_over=faster)
    message = fault(folder, systems=[random, "raw/student"], speedup_over=faster)
    assert "speedup_over.reference: untrained/teacher/greedy has random weights" in message


def test_a_decoder_that_holds_no_lengths_is_refused(folder: Path) -> None:
    rows_ = copy.deepcopy(DEFINITIONS)
    rows_["systems/left.yaml"]["decoders"]["quick"] = {"engine": "ctranslate2"}
    write(folder, rows_)
    decoders = [*RUN["decoders"], "quick"]
    assert read(folder, decoders=decoders)
    assert fault(folder, systems=["untrained/student"], decoders=decoders) == (
        "config.yaml: decoders: quick cannot hold translations to a length, as untrained/student "
        "needs: leave it out"
    )


def test_another_run_does_not_write_over_the_report_of_the_default() -> None:
    check_name(RUN, RUN)
    check_name(RUN | {"seeds": [2], "device": "cuda", "papers": []}, RUN)
    for key in ("datasets", "systems", "decoders"):
        other = RUN | {key: ["x"]}
        check_name(other | {"name": "mine"}, RUN)
        with pytest.raises(UserError, match=f"{key} are not those of .*results/report/try: give"):
            check_name(other, RUN)
