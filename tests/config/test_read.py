import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fastdecode.config import read as read_module
from fastdecode.config import rows
from fastdecode.config.base import merge
from fastdecode.config.read import Architecture, Configuration, Model
from fastdecode.config.rows import Assets
from fastdecode.errors import UserError
from fastdecode.families.autoregressive.rows import Decoder, System

PIECE = {"kind": "files", "source": "a.de", "target": "a.en"}
DEFINITIONS: dict[str, Any] = {
    "presets.yaml": {
        "tiny": {"width": 16, "ffn": 32, "heads": 2, "layers": "2-1"},
        "large": {
            **{"width": 32, "ffn": 64, "heads": 4, "layers": "6-6"},
            "training": {
                "dropout": 0.3,
                "lr": 0.2,
                "warmup_updates": 2,
                "average": 2,
                "threads": 2,
            },
        },
    },
    "downloads.yaml": {"d/a.gz": {"url": "http://a/b"}},
    "corpora/talks.yaml": {
        **{"source": "de", "target": "en"},
        "splits": {"train": [PIECE], "valid": [PIECE], "test": [PIECE], "extra": [PIECE]},
    },
    "datasets/talks.8k.yaml": {
        **{"corpus": "talks", "bpe": {"merges": 8000}, "tests": ["test", "extra"]},
        "roles": {"base": "tiny", "big": "large"},
        "training": {"lr": 0.3, "warmup_updates": 3, "average": 3, "max_epochs": 3},
        "families": {"left": {"warmup_updates": 5, "accumulate": 5}, "other": {"accumulate": 6}},
    },
    "datasets/talks.yaml": {
        "corpus": "talks",
        "bpe": {"merges": 90},
        "roles": {"base": "large", "big": "large"},
    },
    "systems/left.yaml": {
        "training": {"dropout": 0.1, "lr": 0.1, "warmup_updates": 1, "average": 1, "threads": 1}
        | {"label_smoothing": 0.0},
        "systems": {
            "teacher": {"role": "big", "training": {"warmup_updates": 4, "average": 4}},
            "student": {"layers": "12-3"},
        },
        "ensembles": {"teacher-x2": {"system": "teacher", "seeds": [4, 2]}},
        "decoders": {"beam5": {}, "greedy": {"beam": 1}},
    },
    "systems/other.yaml": {"systems": {"curious": {}}, "decoders": {"odd": {}}},
}
RUN: dict[str, Any] = {
    "name": "try",
    "datasets": ["talks.8k"],
    "systems": ["raw/teacher", "teacher-x2/student", "teacher/student"],
    "decoders": ["greedy", "odd", "beam5"],
    "seeds": [7, 1],
    "speedup_over": {"reference": "raw/teacher/greedy"},
    "training": {"average": 5},
}
Read = Callable[..., Configuration]


@pytest.fixture(autouse=True)
def families_of_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every family of these definitions decodes as the autoregressive one does."""
    monkeypatch.setattr(read_module, "decoder_row", lambda family: Decoder)
    monkeypatch.setattr(read_module, "system_row", lambda family: System)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "config", DEFINITIONS)
    return tmp_path / "config"


def write(folder: Path, files: dict[str, Any]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(yaml.safe_dump(content))


def read(folder: Path, **changes: Any) -> Configuration:
    return Configuration(RUN | changes, folder, "config.yaml")


def over(entry: str) -> dict[str, str]:
    return {"reference": entry}


def fault(folder: Path, **changes: Any) -> str:
    with pytest.raises(UserError) as error:
        read(folder, **changes)
    assert "\n" not in str(error.value)
    return str(error.value)


# What is read


def test_the_folder_of_a_model_is_its_name() -> None:
    model = Model("toy", "raw", "big", 3)
    assert (model.folder, model.entry) == (Path("toy/raw/big/seed3"), "raw/big")


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


def test_teachers(folder: Path) -> None:
    config = read(folder)
    assert config.teachers("talks.8k", "raw") == []
    assert config.teachers("talks.8k", "teacher") == [Model("talks.8k", "raw", "teacher", 7)]
    assert config.teachers("talks.8k", "teacher-x2") == [
        Model("talks.8k", "raw", "teacher", seed) for seed in (4, 2)
    ]


def test_models_are_the_selected_and_their_teachers_each_once(folder: Path) -> None:
    config = read(
        folder,
        systems=["teacher/student", "raw/student"],
        speedup_over=over("raw/student/beam5"),
    )
    teacher = Model("talks.8k", "raw", "teacher", 7)
    assert config.models()[0] == teacher  # before what it teaches
    assert sorted(config.models()) == sorted({teacher, *config.selected()})
    assert len(read(folder).models()) == 6 + 2  # the ensemble's; teacher 7 is selected itself
    assert read(folder).targets("talks.8k") == ["raw", "teacher-x2", "teacher"]
    assert read(folder).targets("other") == []


def test_an_optimised_decoder_has_a_twin_with_its_search(folder: Path) -> None:
    fast = {
        "beam5-fast": {"engine": "fastdecode"},
        "beam3-fast": {"beam": 3, "engine": "fastdecode"},
    }
    fast |= {"beam5-int8": {"engine": "ctranslate2", "int8": True}}
    family = DEFINITIONS["systems/left.yaml"]
    write(folder, {"systems/left.yaml": family | {"decoders": family["decoders"] | fast}})
    config = read(folder, decoders=["greedy", "beam5", *fast])
    twins = {name: config.twin(name, "raw/teacher") for name in config.run.decoder_names}
    assert twins == dict.fromkeys(twins) | dict.fromkeys(["beam5-fast", "beam5-int8"], "beam5")


def test_speed_ups_are_over_the_same_search_in_both_tiers(folder: Path) -> None:
    fast = {"greedy-fast": {"beam": 1, "engine": "fastdecode"}}
    fast |= {"beam5-fast": {"engine": "fastdecode"}, "beam5-other": {"engine": "ctranslate2"}}
    family = DEFINITIONS["systems/left.yaml"]
    write(folder, {"systems/left.yaml": family | {"decoders": family["decoders"] | fast}})
    reference = {"reference": "raw/teacher/beam5"}
    config = read(folder, decoders=["beam5", "greedy", *fast], speedup_over=reference)
    assert config.denominators() == reference | {"optimised": "raw/teacher/beam5-fast"}
    chosen = reference | {"optimised": "raw/teacher/beam5-other"}
    config = read(folder, decoders=["beam5", *fast], speedup_over=chosen)
    assert config.denominators() == chosen
    config = read(folder, speedup_over=reference)
    assert config.denominators() == reference | {"optimised": None}
    wrong = reference | {"optimised": "raw/teacher/greedy"}
    assert "a ratio never mixes tiers" in fault(folder, speedup_over=wrong)


def test_every_dataset_has_its_own_models(folder: Path) -> None:
    config = read(folder, datasets=["talks", "talks.8k"], training={"max_epochs": 1})
    assert len(config.selected()) == 12
    assert {model.dataset for model in config.models()} == {"talks", "talks.8k"}
    assert list(config.corpora) == ["talks"]


def test_table_rows_are_the_selected_then_the_other_systems(folder: Path) -> None:
    rows = read(folder, systems=["raw/teacher", "teacher/student"]).table_rows()
    assert rows == ["raw/teacher", "teacher/student", "raw/curious"]
    rows = read(folder, systems=["raw/teacher"]).table_rows()
    assert rows == ["raw/teacher", "raw/student", "raw/curious"]


def test_a_decoder_fits_the_systems_of_its_family(folder: Path) -> None:
    assert read(folder).decoders_of("teacher/student") == ["greedy", "beam5"]
    assert read(folder).decoders_of("raw/curious") == ["odd"]
    assert read(folder).family_of["curious"] == "other"


# Which systems a decoder is for


def test_a_decoder_may_be_for_some_systems_only(folder: Path) -> None:
    chosen = ["greedy", {"teacher*/student": ["beam5"], "raw/curious": ["odd"]}]
    config = read(folder, systems=[*RUN["systems"], "raw/curious"], decoders=chosen)
    assert config.run.decoder_names == ["greedy", "beam5", "odd"]
    assert config.decoders_of("raw/teacher") == ["greedy"]
    assert config.decoders_of("teacher/student") == ["greedy", "beam5"]
    assert config.decoders_of("teacher-x2/student") == ["greedy", "beam5"]
    assert config.decoders_of("raw/student") == ["greedy"]  # another target
    assert config.decoders_of("raw/curious") == ["odd"]


def test_decoders_of_a_system_stand_in_the_order_of_the_run(folder: Path) -> None:
    chosen = [{"raw/*": ["beam5"]}, {"*/student": ["beam5"]}, "greedy"]
    config = read(
        folder, systems=["raw/student", "teacher/student", "raw/teacher"], decoders=chosen
    )
    assert config.decoders_of("raw/student") == ["beam5", "greedy"]
    assert config.run.decoder_names == ["beam5", "greedy"]


def test_a_twin_decodes_the_same_system(folder: Path) -> None:
    family = DEFINITIONS["systems/left.yaml"]
    fast = {"beam5-fast": {"engine": "fastdecode"}}
    write(folder, {"systems/left.yaml": family | {"decoders": family["decoders"] | fast}})
    chosen = ["greedy", "beam5-fast", {"raw/teacher": ["beam5"]}]
    config = read(folder, decoders=chosen)
    assert config.twin("beam5-fast", "raw/teacher") == "beam5"
    assert config.twin("beam5-fast", "teacher/student") is None


def test_the_denominator_is_decoded_as_the_run_says(folder: Path) -> None:
    family = DEFINITIONS["systems/left.yaml"]
    fast = {"beam5-fast": {"engine": "fastdecode"}}
    write(folder, {"systems/left.yaml": family | {"decoders": family["decoders"] | fast}})
    reference = over("raw/teacher/beam5")
    chosen = ["greedy", "beam5", {"teacher/student": ["beam5-fast"]}]
    config = read(folder, decoders=chosen, speedup_over=reference)
    assert config.denominators() == reference | {"optimised": None}
    chosen[2] = {"raw/teacher": ["beam5-fast"]}
    config = read(folder, decoders=chosen, speedup_over=reference)
    assert config.denominators() == reference | {"optimised": "raw/teacher/beam5-fast"}
    chosen = ["greedy", {"teacher/student": ["beam5"]}]
    assert fault(folder, decoders=chosen, speedup_over=reference).startswith(
        "config.yaml: speedup_over.reference: raw/teacher is not decoded with beam5 in this run"
    )


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            {"techer/student": ["beam5"]},
            'decoders: "techer/student" is no target/system of this run; did you mean '
            '"teacher/student"?',
        ),
        ({"*/studnet": ["beam5"]}, 'run; did you mean "*/student"?'),
        ({"raw/student": ["beam5"]}, 'run; did you mean "*/student"?'),
        ({"student": ["beam5"]}, '"student" is no target/system of this run; did you mean'),
        (
            {"*/*er": ["odd"]},
            'config.yaml: decoders: "*/*er": odd does not decode raw/teacher (known: raw/curious)',
        ),
        ({"raw/teacher": ["bem5"]}, 'decoder: there is no "bem5"; did you mean "beam5"?'),
        ({"raw/teacher": ["greedy"]}, "decoders: greedy stands twice for raw/teacher"),
        ({"raw/teacher": ["beam5", "beam5"]}, "decoders: beam5 stands twice for raw/teacher"),
        ({"raw/teacher": "beam5"}, "input should be a valid list, found 'beam5'"),
        (5, "input should be a valid string, found 5"),
    ],
)
def test_decoders_for_what_is_not_there_are_refused(
    folder: Path, entry: object, message: str
) -> None:
    systems = [*RUN["systems"], "raw/curious"]
    found = fault(folder, systems=systems, decoders=["greedy", {"raw/curious": ["odd"]}, entry])
    assert found.startswith("config.yaml: ")
    assert message in found


# What decodes or is trained with another system


class Drafter(System):
    """A system that is trained with another one."""

    verifier: str | None = None

    @property
    def companions(self) -> tuple[str, ...]:
        return (self.verifier,) if self.verifier else ()


class Draft(Decoder):
    """A decoder that needs another system and files, and decodes another family."""

    verifier: str | None = None
    lm: bool = False
    other: bool = False

    @property
    def families(self) -> tuple[str, ...]:
        return ("left",) if self.other else ()

    @property
    def assets(self) -> Assets | None:
        return ("lm", ("5gram.binary",)) if self.lm else None

    def companions(self, system: System) -> tuple[str, ...]:
        return (self.verifier,) if self.verifier else system.companions


@pytest.fixture
def drafting(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The definitions with a family that drafts; its systems need the assets of a lattice."""
    monkeypatch.setattr(read_module, "decoder_row", lambda family: Draft)
    monkeypatch.setattr(read_module, "system_row", lambda family: Drafter)
    needed = {"draft": ("tables", ("counts",))}
    monkeypatch.setattr(read_module, "assets", needed.get)
    systems = {"drafter": {"verifier": "student"}, "other-drafter": {"verifier": "curious"}}
    decoders = {
        **{"alone": {}, "with-lm": {"lm": True}, "with-teacher": {"verifier": "teacher"}},
        "on-left": {"verifier": "student", "other": True},
    }
    write(folder, {"systems/draft.yaml": {"systems": systems, "decoders": decoders}})
    return folder


def drafts(folder: Path, *decoders: str, **changes: Any) -> Configuration:
    run = {"systems": ["raw/teacher", "teacher/drafter"], "decoders": ["greedy", *decoders]}
    return read(folder, **{"seeds": [7], **run, **changes})


def test_companions_are_trained_before_what_needs_them(drafting: Path) -> None:
    config = drafts(drafting, "alone")
    drafter, student = (Model("talks.8k", "teacher", name, 7) for name in ("drafter", "student"))
    assert config.companions(drafter) == config.companions(drafter, "alone") == {"student": student}
    assert config.models() == [Model("talks.8k", "raw", "teacher", 7), student, drafter]
    assert config.companions(student) == config.companions(student, "greedy") == {}
    assert student not in config.selected()


def test_companions_of_decoders_are_trained_too(drafting: Path) -> None:
    config = drafts(drafting, "with-teacher")
    drafter = Model("talks.8k", "teacher", "drafter", 7)
    teacher = Model("talks.8k", "teacher", "teacher", 7)
    assert config.companions(drafter, "with-teacher") == {"teacher": teacher}
    assert config.models()[-2:] == [drafter, teacher]
    assert len(config.models()) == len(set(config.models())) == 4


def test_a_decoder_may_need_files_that_training_does_not(drafting: Path) -> None:
    config = drafts(drafting, "alone", "with-lm")
    family, own = ("tables", ("counts",)), ("lm", ("5gram.binary",))
    assert config.assets("drafter") == config.assets("drafter", "alone") == family
    assert config.assets("drafter", "with-lm") == own
    assert config.assets("student") is config.assets("student", "greedy") is None


def test_a_decoder_may_be_for_the_systems_of_another_family(drafting: Path) -> None:
    config = drafts(drafting, "alone", "on-left", systems=["raw/teacher", "teacher/drafter"])
    assert config.decoders_of("teacher/drafter") == ["alone"]
    assert config.decoders_of("raw/teacher") == ["greedy", "on-left"]
    assert config.assets("teacher", "on-left") is None  # what the system's family needs
    verifier = Model("talks.8k", "raw", "student", 7)
    assert verifier in config.models()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            {"systems": {"drafter": {"verifier": "studnet"}}},
            'systems/draft.yaml: systems.drafter: companion: there is no "studnet"; did you mean '
            '"student"?',
        ),
        (
            {"systems": {"drafter": {"verifier": "drafter"}}},
            "systems.drafter: its companion drafter needs drafter itself: name a system that is",
        ),
        (
            {"systems": {"drafter": {"verifier": "other-drafter"}}},
            "systems.drafter: its companion other-drafter needs curious itself",
        ),
        (
            {"decoders": {"alone": {"verifier": "techer"}}},
            'config.yaml: alone of drafter: companion: there is no "techer"; did you mean "teach',
        ),
    ],
)
def test_companions_that_cannot_be_are_refused(
    drafting: Path, rows: dict[str, Any], message: str
) -> None:
    family = yaml.safe_load((drafting / "systems/draft.yaml").read_text())
    write(drafting, {"systems/draft.yaml": merge(family, rows)})
    with pytest.raises(UserError) as error:
        drafts(drafting, "alone")
    assert message in str(error.value) and "\n" not in str(error.value)


class Picky(Decoder):
    """Decodes systems that say nothing of their layers."""

    def fits(self, system: rows.System) -> bool:
        return system.layers is None


def test_a_decoder_may_be_picky(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        *(read_module, "decoder_row", lambda family: Picky if family == "left" else Decoder)
    )
    only_teacher = {"systems": ["raw/teacher"]}
    config = read(folder, **only_teacher)
    assert config.decoders_of("raw/teacher") == ["greedy", "beam5"]
    assert config.decoders_of("raw/student") == []
    assert config.fits("beam5", "teacher-x2")  # as its members
    assert not config.fits("odd", "teacher-x2")
    assert fault(folder) == (
        "config.yaml: decoders: none of them decodes teacher-x2/student: add one of "
        "config/systems/left.yaml"
    )


def test_a_speed_up_is_over_a_decoder_that_fits(folder: Path) -> None:
    message = fault(folder, speedup_over=over("raw/teacher/odd"))
    assert "speedup_over.reference: odd does not decode teacher: take one that does" in message


def test_sizes_follow_the_role_on_the_dataset(folder: Path) -> None:
    config = read(folder, datasets=["talks", "talks.8k"], training={"max_epochs": 1})
    assert config.architecture("talks.8k", "teacher") == Architecture(32, 64, 4, 6, 6)
    assert config.architecture("talks.8k", "student") == Architecture(16, 32, 2, 12, 3)
    assert config.architecture("talks.8k", "curious").layers == "2-1"
    assert config.architecture("talks", "curious").layers == "6-6"


def test_downloads_are_read(folder: Path) -> None:
    assert str(read(folder).downloads["d/a.gz"].url) == "http://a/b"


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


def test_settings_of_an_unknown_family_are_refused(folder: Path) -> None:
    path = folder / "datasets/talks.8k.yaml"
    path.write_text(path.read_text().replace("  left:", "  leaf:"))
    assert 'talks.8k.yaml: families: there is no "leaf"; did you mean "left"?' in fault(folder)


def test_null_takes_a_setting_back(folder: Path) -> None:
    config = read(folder, training={"max_epochs": None, "max_updates": 9})
    assert config.training("talks.8k", "teacher").max_epochs is None


def test_training_settings_are_checked_for_every_model(folder: Path) -> None:
    message = fault(folder, training={"dropuot": 0.1})
    assert message == (
        'training of teacher on talks.8k: unknown key "dropuot"; did you mean "dropout"?'
    )
    assert "training of teacher on talks: training never ends" in fault(folder, datasets=["talks"])


def test_half_precision_needs_a_gpu(folder: Path) -> None:
    message = fault(folder, training={"precision": "fp16"})
    assert "training of teacher on talks.8k: precision fp16 needs a GPU" in message
    config = read(folder, training={"precision": "fp16"}, device="cuda")
    assert config.training("talks.8k", "teacher").precision == "fp16"


# What is refused


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nme": "x"}, 'config.yaml: unknown key "nme"; did you mean "name"?'),
        ({"datasets": "talks"}, "\"datasets\": input should be a valid list, found 'talks'"),
        ({"seeds": [0]}, '"seeds.0": input should be greater than 0, found 0'),
        ({"seeds": []}, '"seeds": list should have at least 1 item'),
        ({"latency": {"lnes": 3}}, 'unknown key "latency.lnes"; did you mean "lines"?'),
        ({"datasets": ["tallks"]}, 'datasets: there is no "tallks"; did you mean "talks"?'),
        ({"systems": ["raw/techer"]}, 'system: there is no "techer"; did you mean "teacher"?'),
        ({"systems": ["rae/teacher"]}, 'target: there is no "rae"; did you mean "raw"?'),
        ({"systems": ["raw/teacher-x2"]}, 'system: there is no "teacher-x2"; did you mean "teach'),
        ({"systems": ["teacher"]}, '"teacher" is not of the form target/system'),
        ({"systems": ["raw/teacher/greedy"]}, '"raw/teacher/greedy" is not of the form'),
        ({"decoders": ["beam"]}, 'decoder: there is no "beam"; did you mean "beam5"?'),
        ({"distill_decoder": "grdy"}, 'decoder: there is no "grdy"; did you mean "greedy"?'),
        ({"speedup_over": over("raw/teacher")}, "not of the form target/system/decoder"),
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
        ("datasets/talks.8k.yaml", {"valid": "vaild"}, 'no split "vaild"; did you mean "valid"?'),
        ("datasets/talks.8k.yaml", {"tests": ["tets"]}, 'no split "tets"; did you mean "test"?'),
        (
            "datasets/talks.8k.yaml",
            {"roles": {"big": "larg"}},
            'datasets/talks.8k.yaml: roles.big: there is no preset "larg"; did you mean "large"?',
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
            {"ensembles": {"teacher-x2": {"system": "techer"}}},
            'systems/left.yaml: ensembles.teacher-x2.system: there is no "techer"; did you mean '
            '"teacher"?',
        ),
        ("systems/left.yaml", {"systems": {"raw": {}}}, 'left.yaml: the name "raw" is taken'),
        ("systems/left.yaml", {"systems": {"bpe": {}}}, 'left.yaml: the name "bpe" is taken'),
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


@pytest.mark.parametrize("file", ["presets.yaml", "datasets/talks.8k.yaml", "systems/left.yaml"])
def test_a_file_that_is_no_mapping_is_named(folder: Path, file: str) -> None:
    write(folder, {file: ["tiny"]})
    message = fault(folder)
    assert f"{file}: expected keys and values, found ['tiny']" in message


# Rows of one's own


def test_rows_of_ones_own_are_added_and_override(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    write(
        own,
        {
            "presets.yaml": {"tiny": {"ffn": 48}, "mine": DEFINITIONS["presets.yaml"]["tiny"]},
            "datasets/mine.yaml": DEFINITIONS["datasets/talks.8k.yaml"]
            | {"roles": {"base": "mine"}},
            "systems/left.yaml": {
                "training": {"adam_eps": 0.5},
                "systems": {"student": {"layers": "9-9"}, "new": {}},
            },
        },
    )
    config = read(
        folder, definitions=str(own), datasets=["talks.8k"], systems=["raw/new"] + RUN["systems"]
    )
    assert config.architecture("talks.8k", "new") == Architecture(16, 48, 2, 2, 1)
    assert config.architecture("talks.8k", "student").layers == "9-9"
    assert config.systems["teacher"].role == "big"  # the others stay
    assert config.training("talks.8k", "student").adam_eps == 0.5
    assert config.training("talks.8k", "student").label_smoothing == 0.0


def test_a_dataset_of_ones_own_replaces_the_whole_row(folder: Path, tmp_path: Path) -> None:
    row = {"corpus": "talks", "bpe": {"merges": 5}, "roles": {"base": "tiny", "big": "tiny"}}
    write(tmp_path / "own", {"datasets/talks.8k.yaml": row | {"training": {"max_updates": 1}}})
    config = read(folder, definitions=str(tmp_path / "own"))
    assert config.datasets["talks.8k"].bpe.merges == 5
    assert config.datasets["talks.8k"].tests == ("test",)
    assert config.training("talks.8k", "teacher").max_epochs is None


def test_a_family_of_ones_own_needs_new_names(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "own", {"systems/mine.yaml": DEFINITIONS["systems/other.yaml"]})
    message = fault(folder, definitions=str(tmp_path / "own"))
    assert 'systems/other.yaml: the name "curious" is taken' in message


# Untrained systems


def test_a_system_may_stay_untrained(folder: Path) -> None:
    systems = ["untrained/student", "teacher/student"]
    config = read(folder, systems=systems, speedup_over=over("untrained/student/greedy"))
    assert config.untrained() == [Model("talks.8k", "untrained", "student", 7)]  # the first seed
    assert {model.target for model in config.selected()} == {"teacher"}
    assert {model.target for model in config.models()} == {"raw", "teacher"}
    alone = read(folder, systems=systems[:1], speedup_over=over("untrained/student/greedy"))
    assert (alone.models(), alone.selected(), alone.targets("talks.8k")) == ([], [], [])


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


def test_a_run_may_have_roles_of_its_own(folder: Path) -> None:
    config = read(folder, roles={"base": "large"})
    assert config.architecture("talks.8k", "student").width == 32
    assert config.preset("talks.8k", "teacher") == "large"  # the dataset's
    assert 'roles.base: there is no "larg"; did you mean' in fault(folder, roles={"base": "larg"})


def test_one_artifact_of_a_paper(folder: Path) -> None:
    table = {"title": "a table", "kind": "table", "function": "artifacts.rows"}
    paper = {"title": "P", "authors": ["A"], "year": 2000}
    numbers = ("table1", "table2", "table3")
    write(folder, {"papers/p.yaml": paper | {"artifacts": dict.fromkeys(numbers, table)}})
    assert list(read(folder, papers=["p"]).papers["p"].artifacts) == list(numbers)
    chosen = read(folder, papers=["p.table3", "p.table1"]).papers["p"]
    assert list(chosen.artifacts) == ["table3", "table1"]
    assert 'papers: p.table: there is no "table"' in fault(folder, papers=["p.table"])
