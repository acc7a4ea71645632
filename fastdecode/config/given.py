"""What a run takes as it is instead of making it: trained models, distilled text, translations."""

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from fastdecode.config.base import Row, nearest
from fastdecode.config.models import Model
from fastdecode.config.rows import RAW
from fastdecode.errors import UserError
from fastdecode.files import read_json

if TYPE_CHECKING:
    from fastdecode.config.read import Configuration

CHECKPOINT, CURVE, RECORD = "checkpoint.pt", "curve.csv", "train.json"
ELSEWHERE = "elsewhere"  # what a record has as `trained`, of what was given
# What a folder of translations may have of a split and decoder, one of them.
TRANSLATIONS = ("jsonl.gz", "txt.gz", "txt")


class Given(Row):
    """Files of yours, each named as its folder below results/."""

    models: dict[str, str] = Field(
        {},
        description="dataset/target/system/seed1 → a trained model: a folder with checkpoint.pt "
        "and, if they are there, train.json and curve.csv, or a checkpoint alone",
    )
    distilled: dict[str, str] = Field(
        {},
        description="dataset/target → what a teacher wrote: a line of subwords for each line of "
        "bpe/train.source.gz, as train.target.gz of a run has them",
    )
    translations: dict[str, str] = Field(
        {},
        description="dataset/target/system/seed1 → a folder with <split>.<decoder>.jsonl.gz of a "
        "run, or .txt, .txt.gz with a line for each line of the split; the model is not timed",
    )

    def model_file(self, folder: str, name: str) -> Path | None:
        """Return a file of a given model; None: there is none of this name."""
        given = Path(self.models[folder])
        if given.is_dir():
            path = given / name
            return path if path.is_file() else None
        return given if name == CHECKPOINT else None

    def translation_file(self, folder: str, split: str, decoder: str) -> Path:
        """Return the file of given translations. Raises UserError if there is none."""
        given = Path(self.translations[folder])
        names = [f"{split}.{decoder}.{kind}" for kind in TRANSLATIONS]
        found = [name for name in names if (given / name).is_file()]
        if len(found) > 1:
            raise UserError(
                f"given.translations: {given} has {' and '.join(found)}: which of them counts? "
                "Take the others away"
            )
        if found:
            return given / found[0]
        raise UserError(
            f"given.translations: {given} has no {names[0]} (or .txt, .txt.gz): add it, or leave "
            f"{decoder} out of what {folder} is decoded with"
        )


def check_given(config: "Configuration", where: str) -> None:
    """Raise UserError on a name that the run does not have, and on a file that is not there."""
    given = config.run.given
    models = {str(model.folder) for model in config.models()}
    raw = {f"{dataset}/{RAW}" for dataset in config.datasets}  # no teacher's, but the corpus
    for kind, known in (
        ("models", models),
        ("distilled", {f"{one.dataset}/{one.target}" for one in config.models()} - raw),
        ("translations", {str(model.folder) for model in config.selected()}),
    ):
        for name, path in getattr(given, kind).items():
            here = f"{where}: given.{kind}"
            if name not in known:
                raise UserError(f'{here}: this run makes no "{name}"{nearest(name, known)}')
            if not Path(path).exists():
                raise UserError(f"{here}: {name}: no file or folder {path}")
    for name, path in given.distilled.items():
        if not Path(path).is_file():
            raise UserError(f"{where}: given.distilled: {name}: {path} is a folder: name a file")
    for name, path in given.models.items():
        if given.model_file(name, CHECKPOINT) is None:
            raise UserError(f"{where}: given.models: {name}: {path} has no {CHECKPOINT}")
    _check_denominators(config, where)
    _check_needed(config, where)


def check_untouched(given: Given, results: Path) -> None:
    """Raise UserError where given translations would write over what a training here made.

    Or over what an ensemble of them wrote, which has no checkpoint but a record of its own.
    """
    for name in given.translations:
        model = results / name / CHECKPOINT
        if not model.exists():
            model = results / name / RECORD
            if not model.exists() or read_json(model).get("trained") == ELSEWHERE:
                continue
        if name not in given.models:
            raise UserError(
                f"given.translations: {name}: {model} was trained here, and its record and "
                "translations would be lost: run this in another folder (--directory), or leave "
                "it out"
            )


def _check_needed(config: "Configuration", where: str) -> None:
    """Check that no training and no decoder needs a model of which translations alone are given."""
    here = f"{where}: given.translations"
    for model in config.models():
        if not config.at_hand(model):
            continue
        for other in _taught_by(config, model):
            _check_at_hand(config, other, here, f"{model.entry} cannot be trained")
    for model in filter(config.at_hand, config.selected()):
        for decoder in config.decoders_of(model.entry):
            for other in config.companions(model, decoder).values():
                what = f"{decoder} cannot decode {model.entry}"
                _check_at_hand(config, other, here, what)


def _taught_by(config: "Configuration", model: Model) -> list[Model]:
    """Return the other models that a training of this run needs."""
    given = config.run.given
    if str(model.folder) in given.models:
        return []
    distilled = f"{model.dataset}/{model.target}" in given.distilled
    teachers = [] if distilled else config.teachers(model.dataset, model.target)
    return [*teachers, *config.companions(model).values()]


def _check_at_hand(config: "Configuration", other: Model, where: str, what: str) -> None:
    if not config.at_hand(other):
        raise UserError(
            f"{where}: {other.folder}: {what} without the model: give it, too, under given.models"
        )


def _check_denominators(config: "Configuration", where: str) -> None:
    """Check that speed-ups, if there are any, are not over translations that nobody can time."""
    if not any(config.at_hand(model) for model in config.selected()):
        return
    for tier, entry in config.run.speedup_over.model_dump(exclude_none=True).items():
        timed = entry.rpartition("/")[0]
        for model in config.selected():
            if model.entry == timed and not config.at_hand(model):
                raise UserError(
                    f"{where}: speedup_over.{tier}: of {timed} only translations are given, which "
                    "cannot be timed: take another, or give its model too"
                )
