"""What is given has a name that the run knows and a file that is there."""

from pathlib import Path

import pytest

from fastdecode.config.given import check_untouched
from fastdecode.errors import UserError
from fastdecode.families.autoregressive.rows import Decoder, System
from fastdecode.files import write_json
from tests.config.conftest import fault, read

TEACHER, STUDENT = "talks.8k/raw/teacher/seed7", "talks.8k/teacher/student/seed7"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"modles": {}}, 'unknown key "given.modles"; did you mean "models"?'),
        (
            {"models": {"talks.8k/raw/techer/seed7": "."}},
            'given.models: this run makes no "talks.8k/raw/techer/seed7"; did you mean "talks.8k',
        ),
        ({"distilled": {"talks.8k/raw/x": "."}}, 'given.distilled: this run makes no "talks.8k'),
        (
            {"distilled": {"talks.8k/raw": "."}},
            'no "talks.8k/raw"; did you mean "talks.8k/teacher"?',
        ),
        ({"models": {TEACHER: "none"}}, f"given.models: {TEACHER}: no file or folder none"),
        ({"distilled": {"talks.8k/teacher": "."}}, ". is a folder: name a file"),
        ({"models": {TEACHER: "."}}, f"given.models: {TEACHER}: . has no checkpoint.pt"),
        (
            {"translations": {TEACHER: "."}},
            "speedup_over.reference: of raw/teacher only translations are given",
        ),
    ],
)
def test_faults(
    folder: Path,
    given: dict[str, object],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in fault(folder, given=given)


def test_what_others_learn_from_is_more_than_its_translations(folder: Path, tmp_path: Path) -> None:
    own = {"speedup_over": {"reference": "teacher/student/beam5"}}
    teacher = "talks.8k/raw/teacher/seed1"
    given: dict[str, dict[str, str]] = {"translations": {teacher: str(tmp_path)}}
    message = f"given.translations: {teacher}: teacher/student cannot be trained without the model"
    assert message in fault(folder, given=given, **own)
    (tmp_path / "text.gz").touch()
    distilled = {"distilled": {"talks.8k/teacher": str(tmp_path / "text.gz")}}
    assert read(folder, given=given | distilled, **own).run.given.distilled
    (model := tmp_path / "model.pt").touch()
    students = {f"talks.8k/teacher/student/seed{seed}": str(model) for seed in (7, 1)}
    assert read(folder, given=given | {"models": students}, **own).run.given.models


def test_companions_are_more_than_their_translations(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    companions = property(lambda row: ("teacher",) if row.layers == "12-3" else ())
    monkeypatch.setattr(System, "companions", companions)
    own = {"systems": ["raw/teacher", "teacher/teacher", "teacher/student"]}
    given = {"translations": {"talks.8k/teacher/teacher/seed7": str(tmp_path)}}
    message = "teacher/teacher/seed7: teacher/student cannot be trained without the model"
    assert message in fault(folder, given=given, **own)


def test_who_decodes_with_others_needs_more_than_their_translations(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def companions(row: Decoder, system: System) -> tuple[str, ...]:
        return ("teacher",) if system.layers == "12-3" else ()

    monkeypatch.setattr(Decoder, "companions", companions)
    (model := tmp_path / "model.pt").touch()
    given = {
        "translations": {"talks.8k/teacher/teacher/seed7": str(tmp_path)},
        "models": {f"talks.8k/teacher/student/seed{seed}": str(model) for seed in (7, 1)},
    }
    own = {"systems": ["raw/teacher", "teacher/teacher", "teacher/student"]}
    message = "teacher/teacher/seed7: greedy cannot decode teacher/student without the model"
    assert message in fault(folder, given=given, **own)


def test_where_nothing_is_timed_nothing_needs_a_denominator(folder: Path, tmp_path: Path) -> None:
    every = {str(model.folder): str(tmp_path) for model in read(folder).selected()}
    assert read(folder, given={"translations": every}).run.given.translations


def test_a_folder_or_a_checkpoint_alone(folder: Path, tmp_path: Path) -> None:
    alone, whole = tmp_path / "a.pt", tmp_path / "whole"
    whole.mkdir()
    for file in (alone, whole / "checkpoint.pt", whole / "curve.csv"):
        file.touch()
    config = read(folder, given={"models": {TEACHER: str(alone), STUDENT: str(whole)}})
    given = config.run.given
    assert given.model_file(TEACHER, "checkpoint.pt") == alone
    assert given.model_file(TEACHER, "curve.csv") is None
    assert given.model_file(STUDENT, "curve.csv") == whole / "curve.csv"
    assert given.model_file(STUDENT, "train.json") is None
    with_curve = {str(model.folder) for model in config.with_curve()}
    assert STUDENT in with_curve and TEACHER not in with_curve
    assert all(map(config.at_hand, config.selected()))


def test_translations_in_three_forms(folder: Path, tmp_path: Path) -> None:
    config = read(folder, given={"translations": {STUDENT: str(tmp_path)}})
    given = config.run.given
    for name in ("test.greedy.txt", "test.greedy.txt.gz", "test.greedy.jsonl.gz"):
        (tmp_path / name).touch()
        assert given.translation_file(STUDENT, "test", "greedy") == tmp_path / name
        (tmp_path / name).unlink()
    hidden = [model for model in config.selected() if not config.at_hand(model)]
    assert [str(model.folder) for model in hidden] == [STUDENT]
    assert hidden[0] not in config.with_curve()
    (tmp_path / "checkpoint.pt").touch()
    both = {"translations": {STUDENT: str(tmp_path)}, "models": {STUDENT: str(tmp_path)}}
    assert config.at_hand(hidden[0]) is False
    assert read(folder, given=both).at_hand(hidden[0])


def test_translations_in_two_forms_at_once(folder: Path, tmp_path: Path) -> None:
    given = read(folder, given={"translations": {STUDENT: str(tmp_path)}}).run.given
    for name in ("test.greedy.txt", "test.greedy.jsonl.gz"):
        (tmp_path / name).touch()
    with pytest.raises(UserError, match=r"has test.greedy.jsonl.gz and test.greedy.txt: which"):
        given.translation_file(STUDENT, "test", "greedy")


def test_what_was_trained_here_is_not_written_over(folder: Path, tmp_path: Path) -> None:
    given = read(folder, given={"translations": {STUDENT: str(tmp_path)}}).run.given
    results = tmp_path / "results"
    check_untouched(given, results)
    (model := results / STUDENT / "checkpoint.pt").parent.mkdir(parents=True)
    model.touch()
    with pytest.raises(UserError, match=rf"translations: {STUDENT}: {model} was trained here"):
        check_untouched(given, results)
    model.unlink()
    record = model.with_name("train.json")  # of an ensemble, which has no checkpoint
    write_json(record, {"trained": "elsewhere"})
    check_untouched(given, results)
    write_json(record, {})
    with pytest.raises(UserError, match=rf"translations: {STUDENT}: {record} was trained here"):
        check_untouched(given, results)
    record.unlink()
    model.touch()
    models = {"models": {STUDENT: str(model)}, "translations": {STUDENT: str(tmp_path)}}
    check_untouched(read(folder, given=models).run.given, results)
