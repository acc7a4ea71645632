"""Which decoders a run decodes a system with, and with which other systems."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from fastdecode.config import definitions as definitions_module
from fastdecode.config import read as read_module
from fastdecode.config import rows
from fastdecode.config.base import merge
from fastdecode.config.models import Model
from fastdecode.config.read import Configuration
from fastdecode.config.rows import Assets
from fastdecode.errors import UserError
from fastdecode.families.autoregressive.rows import Decoder, System
from tests.config.conftest import DEFINITIONS, RUN, fault, over, read, write


def test_a_decoder_fits_the_systems_of_its_family(folder: Path) -> None:
    assert read(folder).decoders_of("teacher/student") == ["greedy", "beam5"]
    assert read(folder).decoders_of("raw/curious") == ["odd"]
    assert read(folder).family_of["curious"] == "other"


class Picky(Decoder):
    """Decodes systems that say nothing of their layers."""

    def fits(self, system: rows.System) -> bool:
        return system.layers is None


def test_a_decoder_may_be_picky(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        definitions_module, "decoder_row", lambda family: Picky if family == "left" else Decoder
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


# The fast decoder of another, and what speed-ups are over


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


def test_the_fast_decoder_of_another_has_its_precision(folder: Path) -> None:
    fast = {"beam5-int8": {"engine": "ctranslate2", "int8": True}}
    fast |= {"beam5-fast": {"engine": "fastdecode"}}
    family = DEFINITIONS["systems/left.yaml"]
    write(folder, {"systems/left.yaml": family | {"decoders": family["decoders"] | fast}})
    over = {"reference": "raw/teacher/beam5"}
    for chosen, found in ((fast, "beam5-fast"), (["beam5-int8"], None)):
        config = read(folder, decoders=["greedy", "beam5", *chosen], speedup_over=over)
        assert config.fast("beam5", "raw/teacher") == found
        assert config.denominators()["optimised"] == (found and f"raw/teacher/{found}")


def test_speed_ups_are_over_the_same_search_in_both_tiers(folder: Path) -> None:
    fast = {"greedy-fast": {"beam": 1, "engine": "fastdecode"}}
    fast |= {"beam5-other": {"engine": "ctranslate2"}, "beam5-fast": {"engine": "fastdecode"}}
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


# What decodes or is trained with another system


class Drafter(System):
    """A system that is trained with another one, and measured with one."""

    verifier: str | None = None
    judge: str | None = None

    @property
    def companions(self) -> tuple[str, ...]:
        return (self.verifier,) if self.verifier else ()

    @property
    def measured_with(self) -> tuple[str, ...]:
        return (self.judge,) if self.judge else ()


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
    monkeypatch.setattr(definitions_module, "decoder_row", lambda family: Draft)
    monkeypatch.setattr(definitions_module, "system_row", lambda family: Drafter)
    needed = {"draft": ("tables", ("counts",))}
    monkeypatch.setattr(read_module, "assets", needed.get)
    systems = {"drafter": {"verifier": "student"}, "other-drafter": {"verifier": "curious"}}
    decoders = {
        "alone": {},
        "with-lm": {"lm": True},
        "with-teacher": {"verifier": "teacher"},
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
    own, teacher = (Model("talks.8k", "raw", "teacher", seed) for seed in (7, 1))
    assert config.models() == [own, teacher, student, drafter]
    assert config.companions(student) == config.companions(student, "greedy") == {}
    assert student not in config.selected()


def test_companions_of_decoders_are_trained_too(drafting: Path) -> None:
    config = drafts(drafting, "with-teacher")
    drafter = Model("talks.8k", "teacher", "drafter", 7)
    teacher = Model("talks.8k", "teacher", "teacher", 7)
    assert config.companions(drafter, "with-teacher") == {"teacher": teacher}
    assert config.models()[-2:] == [drafter, teacher]
    assert len(config.models()) == len(set(config.models())) == 5


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
            {"systems": {"drafter": {"judge": "studnet"}}},
            'systems/draft.yaml: systems.drafter: companion: there is no "studnet"',
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


def test_companions_are_of_the_family_that_a_row_asks_for(
    drafting: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Draft, "companion_family", "left")
    assert drafts(drafting, "with-teacher").family_of["teacher"] == "left"
    monkeypatch.setattr(Draft, "companion_family", "other")
    with pytest.raises(UserError, match=r"companion teacher is of family left: name a .* other$"):
        drafts(drafting, "with-teacher")
    monkeypatch.setattr(Draft, "companion_family", None)
    monkeypatch.setattr(Drafter, "companion_family", "left")
    with pytest.raises(UserError, match=r"companion curious is of family other: name a .* left$"):
        drafts(drafting, "with-teacher")


def test_a_teacher_that_needs_more_than_itself_does_not_distil(
    drafting: Path, tmp_path: Path
) -> None:
    run = {"systems": ["raw/teacher", "drafter/student"], "distill_decoder": "alone"}
    message = "distill_decoder: alone needs more than the teacher drafter"
    with pytest.raises(UserError, match=message):
        drafts(drafting, "alone", **run)
    (tmp_path / "text").touch()
    given = {"distilled": {"talks.8k/drafter": str(tmp_path / "text")}}
    models = drafts(drafting, "alone", **run, given=given).models()
    assert {model.target for model in models} == {"raw", "drafter"}
