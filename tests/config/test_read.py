from pathlib import Path

from fastdecode.config.models import Architecture, Model
from fastdecode.config.timed import timed
from tests.config.conftest import DEFINITIONS, fault, over, read, write


def test_selected_models_come_in_the_order_of_the_run(folder: Path) -> None:
    assert read(folder).selected() == [
        Model("talks.8k", target, system, seed)
        for target, system in (
            ("raw", "teacher"),
            ("teacher-x2", "student"),
            ("teacher", "student"),
        )
        for seed in (7, 1)
    ]


def test_digits_are_seeds_too(folder: Path) -> None:
    """As --config gives them."""
    assert read(folder, seeds=["7", "1"]).run.seeds == (7, 1)


def test_teachers(folder: Path) -> None:
    config = read(folder)
    assert config.teachers("talks.8k", "raw") == []
    assert config.run.seeds == (7, 1)
    assert config.teachers("talks.8k", "teacher") == [Model("talks.8k", "raw", "teacher", 1)]
    assert config.teachers("talks.8k", "teacher-x2") == [
        Model("talks.8k", "raw", "teacher", seed) for seed in (4, 2)
    ]


def test_models_are_the_selected_and_their_teachers_each_once(folder: Path) -> None:
    config = read(
        folder,
        systems=["teacher/student", "raw/student"],
        speedup_over=over("raw/student/beam5"),
    )
    teacher = Model("talks.8k", "raw", "teacher", 1)
    assert config.models()[0] == teacher  # before what it teaches
    assert sorted(config.models()) == sorted({teacher, *config.selected()})
    assert len(read(folder).models()) == 6 + 2  # the ensemble's; teacher 1 is selected itself
    assert {model.target for model in read(folder).models()} == {"raw", "teacher-x2", "teacher"}


def test_an_ensemble_is_a_system_too(folder: Path) -> None:
    """It is there once, whatever the seeds; its models are trained, and it is not timed."""
    config = read(
        folder,
        systems=["raw/teacher-x2", "raw/teacher"],
        decoders=["greedy", {"raw/teacher": ["fast"]}],
        speedup_over=over("raw/teacher/greedy"),
    )
    together = Model("talks.8k", "raw", "teacher-x2", 7)
    alone = [Model("talks.8k", "raw", "teacher", seed) for seed in (7, 1)]
    members = [Model("talks.8k", "raw", "teacher", seed) for seed in (4, 2)]
    assert config.selected() == [together, *alone]
    assert config.models() == [*members, *alone]
    assert config.with_curve() == alone
    assert config.members(together) == members
    assert config.members(alone[0]) == alone[:1]
    assert config.decoders_of(together.entry) == ["greedy"]
    assert [model for model, _ in timed(config, "talks.8k")] == [alone[0]] * 2
    assert config.architecture("talks.8k", "teacher-x2").width == 32
    assert config.left_out() == ["student", "curious"]


def test_an_ensemble_is_of_its_models_family_wherever_it_stands(folder: Path) -> None:
    other = DEFINITIONS["systems/other.yaml"]
    ensembles = {"mine": {"system": "teacher", "seeds": [1, 2]}}
    write(folder, {"systems/other.yaml": other | {"ensembles": ensembles}})
    config = read(folder, systems=["raw/teacher", "raw/mine", "mine/student"])
    assert config.family_of["mine"] == "left"
    assert config.decoders_of("raw/mine") == ["greedy", "beam5"]


def test_every_dataset_has_its_own_models(folder: Path) -> None:
    config = read(folder, datasets=["talks", "talks.8k"], training={"max_epochs": 1})
    assert len(config.selected()) == 12
    assert {model.dataset for model in config.models()} == {"talks", "talks.8k"}
    assert list(config.corpora) == ["talks"]


def test_systems_that_a_run_leaves_out(folder: Path) -> None:
    assert read(folder, systems=["raw/teacher", "teacher/student"]).left_out() == ["curious"]
    assert read(folder, systems=["raw/teacher"]).left_out() == ["student", "curious"]


def test_sizes_follow_the_role_on_the_dataset(folder: Path) -> None:
    config = read(folder, datasets=["talks", "talks.8k"], training={"max_epochs": 1})
    assert config.architecture("talks.8k", "teacher") == Architecture(32, 64, 4, 6, 6)
    assert config.architecture("talks.8k", "student") == Architecture(16, 32, 2, 12, 3)
    assert config.architecture("talks.8k", "curious").layers == "2-1"
    assert config.architecture("talks", "curious").layers == "6-6"


def test_a_system_may_have_a_decoder_of_its_own_depth(folder: Path) -> None:
    other = {"systems": {"curious": {"decoder_layers": 3}}, "decoders": {"odd": {}}}
    write(folder, {"systems/other.yaml": other})
    config = read(folder, datasets=["talks", "talks.8k"], training={"max_epochs": 1})
    assert config.architecture("talks.8k", "curious").layers == "2-3"
    assert config.architecture("talks", "curious").layers == "6-3"


def test_size_and_settings_of_a_system_are_no_options_of_its_training(folder: Path) -> None:
    """They are told resolved: the same ones from another row do not train again."""
    known = read(folder).systems["curious"].options()
    row = {"role": "big", "layers": "6-3", "training": {"dropout": 0.2}}
    write(folder, {"systems/other.yaml": {"systems": {"curious": row}, "decoders": {"odd": {}}}})
    assert read(folder).systems["curious"].options() == known


# Training settings: family < preset < dataset < family on the dataset < system < run


def test_the_layers_of_training_settings_win_in_their_order(folder: Path) -> None:
    settings = read(folder).training("talks.8k", "teacher")
    assert settings.label_smoothing == 0.0  # said by the family alone
    assert (settings.dropout, settings.threads) == (0.3, 2)  # preset over family
    assert settings.lr == 0.3  # dataset over preset
    assert settings.accumulate == 5  # of its family on this dataset
    assert settings.warmup_updates == 4  # system over both
    assert settings.average == 5  # run over system
    assert settings.max_epochs == 3
    assert settings.clip_norm == 0.0  # said by nobody
    student = read(folder).training("talks.8k", "student")
    assert (student.dropout, student.warmup_updates) == (0.1, 5)  # its preset says nothing


def test_null_takes_a_setting_back(folder: Path) -> None:
    config = read(folder, training={"max_epochs": None, "max_updates": 9})
    assert config.training("talks.8k", "teacher").max_epochs is None


# Untrained systems


def test_a_system_may_stay_untrained(folder: Path) -> None:
    systems = ["untrained/student", "teacher/student"]
    config = read(folder, systems=systems, speedup_over=over("teacher/student/greedy"))
    assert config.untrained() == [Model("talks.8k", "untrained", "student", 7)]  # the first seed
    assert {model.target for model in config.selected()} == {"teacher"}
    assert {model.target for model in config.models()} == {"raw", "teacher"}
    alone = read(folder, systems=systems[:1], speedup_over=over("untrained/student/greedy"))
    assert (alone.models(), alone.selected()) == ([], [])


def test_a_run_may_have_roles_of_its_own(folder: Path) -> None:
    config = read(folder, roles={"base": "large"})
    assert config.architecture("talks.8k", "student").width == 32
    assert config.preset("talks.8k", "teacher") == "large"  # the dataset's
    assert 'roles.base: there is no "larg"; did you mean' in fault(folder, roles={"base": "larg"})
