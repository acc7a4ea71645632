"""A run's configuration with the definitions it selects, and what they say of each model."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from fastdecode.config.base import check, merge
from fastdecode.config.checks import check_all, check_folders, check_known
from fastdecode.config.corpora import Corpus
from fastdecode.config.definitions import Definitions
from fastdecode.config.given import CURVE
from fastdecode.config.models import Architecture, Model, pair
from fastdecode.config.papers import Paper
from fastdecode.config.rows import RAW, TEACHER_SEED, UNTRAINED, Assets, Dataset, Training
from fastdecode.config.run import Run
from fastdecode.errors import UserError
from fastdecode.families import assets


class Configuration(Definitions):
    """A run and everything it refers to, validated.

    Raises UserError, while it is built, on the first thing that does not fit.
    """

    def __init__(self, values: Mapping[str, Any], definitions: Path, where: str = "configuration"):
        """Validate `values` (a run) against the rows below the folder `definitions`."""
        self.run = check(Run, values, where)
        self._decoders_of: dict[str, list[str]] = {}
        folders = [definitions]
        if self.run.definitions:
            own = Path(self.run.definitions).expanduser()
            if not own.is_dir():
                here = "" if own.is_absolute() else f" in {Path.cwd()}, the folder of the run"
                raise UserError(f"{where}: definitions: no folder {own}{here}")
            check_folders(own)
            folders.append(own)
        super().__init__(folders)
        self.datasets = {
            name: self._one("datasets", name, Dataset, f"{where}: datasets")
            for name in self.run.datasets
        }
        self.corpora = {
            row.corpus: self._one(
                "corpora", row.corpus, Corpus, f"{self.file_of('datasets', name)}: corpus"
            )
            for name, row in self.datasets.items()
        }
        self.whole_papers: dict[str, Paper] = {}
        """The papers of the run with all of their artifacts, whichever of them it names."""
        self.papers = self._read_papers(where)
        check_all(self, where)

    def _read_papers(self, where: str) -> dict[str, Paper]:
        """Read the papers of the run, each with all of its artifacts or with those named.

        They stand in the order of the paper, whatever that of the run.
        """
        papers: dict[str, Paper] = {}
        for entry in self.run.papers:
            name, one, artifact = entry.partition(".")
            whole = self._one("papers", name, Paper, f"{where}: papers")
            self.whole_papers[name] = whole
            chosen = whole.artifacts
            if one:
                check_known(artifact, chosen, f"{where}: papers: {entry}")
                named = {artifact, *(papers[name].artifacts if name in papers else ())}
                chosen = {key: one for key, one in chosen.items() if key in named}
            papers[name] = whole.model_copy(update={"artifacts": chosen})
        return papers

    # What each model is

    def selected(self) -> list[Model]:
        """Return the models that the run trains to report their results, in its order."""
        return [
            Model(dataset, *pair(entry), seed)
            for dataset in self.run.datasets
            for entry in self.run.systems
            for seed in self.seeds_of(entry)
            if pair(entry)[0] != UNTRAINED
        ]

    def seeds_of(self, entry: str) -> tuple[int, ...]:
        """Return the seeds of `entry`, target/system; an ensemble has its own and is there once."""
        return self.run.seeds[:1] if pair(entry)[1] in self.ensembles else self.run.seeds

    def members(self, model: Model) -> list[Model]:
        """Return the models of an ensemble; of any other the model itself."""
        if model.system not in self.ensembles:
            return [model]
        ensemble = self.ensembles[model.system]
        return [replace(model, system=ensemble.system, seed=seed) for seed in ensemble.seeds]

    def at_hand(self, model: Model) -> bool:
        """Tell whether there is more of a model than translations that somebody gave."""
        folder, given = str(model.folder), self.run.given
        return folder not in given.translations or folder in given.models

    def with_curve(self) -> list[Model]:
        """Return the selected models with a learning curve: no ensembles, none given without."""
        given = self.run.given
        return [
            model
            for model in self.selected()
            if self.at_hand(model)
            and model.system not in self.ensembles
            and (
                str(model.folder) not in given.models
                or given.model_file(str(model.folder), CURVE) is not None
            )
        ]

    def untrained(self) -> list[Model]:
        """Return the models of random weights whose speed the run reports: of the first seed."""
        return [
            Model(dataset, UNTRAINED, system, self.run.seeds[0])
            for dataset in self.run.datasets
            for target, system in map(pair, self.run.systems)
            if target == UNTRAINED
        ]

    def left_out(self) -> list[str]:
        """Return the systems that the run has in no row of its tables."""
        chosen = {pair(entry)[1] for entry in self.run.systems}
        return [name for name in self.recipes if name not in chosen]

    def teachers(self, dataset: str, target: str) -> list[Model]:
        """Return the models that distil `target`; several form an ensemble. None for raw.

        A teacher is of one seed whatever those of the run are: runs that share a dataset share what
        is distilled, and their folders do not tell of a teacher's seed.
        """
        if target == RAW:
            return []
        return self.members(Model(dataset, RAW, target, TEACHER_SEED))

    def companions(self, model: Model, decoder: str | None = None) -> dict[str, Model]:
        """Return the other models that are needed to train `model`, or to decode it, by system."""
        row = self.systems[model.system]
        names = self.decoders[decoder].companions(row) if decoder else row.companions
        return {name: replace(model, system=name) for name in names}

    def measured_with(self, model: Model) -> dict[str, Model]:
        """Return the other models that statistics of `model` need, by system."""
        names = self.systems[model.system].measured_with
        return {name: replace(model, system=name) for name in names}

    def assets(self, system: str, decoder: str | None = None) -> Assets | None:
        """Return what is needed beside models to train `system`, or to decode it."""
        own = self.decoders[decoder].assets if decoder else None
        return own or assets(self.family_of[system])

    def models(self) -> list[Model]:
        """Return every model the run trains, teachers and companions included, each once.

        What a training needs comes before it.
        """
        return self.needed(self.selected(), self.decoders_of)

    def needed(
        self, models: Iterable[Model], decoders_of: Callable[[str], Iterable[str]]
    ) -> list[Model]:
        """Return these models with all that trains and decodes them, as `models` does of the run's.

        `decoders_of` gives the decoders of target/system.
        """
        wanted: dict[Model, None] = {}

        def want(model: Model) -> None:
            needed = self.teachers(model.dataset, model.target)
            for other in (*needed, *self.companions(model).values()):
                want(other)
            wanted[model] = None

        for model in models:
            for member in self.members(model):
                want(member)
            for decoder in decoders_of(model.entry):
                for other in self.companions(model, decoder).values():
                    want(other)
        return list(wanted)

    def decoders_of(self, entry: str) -> list[str]:
        """Return the decoders of the run for `entry`, target/system, that fit it."""
        if entry not in self._decoders_of:  # asked for every file of a run
            _, system = pair(entry)
            fitting = [name for name in self.run.decoders_for(entry) if self.fits(name, system)]
            self._decoders_of[entry] = fitting
        return self._decoders_of[entry]

    def idle_decoders(self) -> list[str]:
        """Return the decoders of the run that fit none of its systems."""
        used = {name for entry in self.run.systems for name in self.decoders_of(entry)}
        return [name for name in self.run.decoder_names if name not in used]

    def fits(self, decoder: str, system: str) -> bool:
        """Tell whether `decoder` decodes `system`, which may be an ensemble."""
        row = self.decoders[decoder]
        if system in self.ensembles and not row.decodes_ensembles:
            return False
        families = row.families or (self.family_of[decoder],)
        return self.family_of[system] in families and row.fits(self.systems[system])

    def denominators(self) -> dict[str, str | None]:
        """Return target/system/decoder of what each tier's speed-ups are over; None: there is none.

        Of tier optimised it is, where the run does not say, a decoder with the search of the
        reference.
        """
        over = self.run.speedup_over
        model, _, decoder = over.reference.rpartition("/")
        fast = self.fast(decoder, model)
        found = f"{model}/{fast}" if fast else None
        return {"reference": over.reference, "optimised": over.optimised or found}

    def fast(self, decoder: str, entry: str) -> str | None:
        """Return the optimised decoder with the search of a reference one, in its precision.

        It is one that the run decodes `entry`, target/system, with, of this project's engine where
        there are several; twin() goes the other way.
        """
        found = [name for name in self.decoders_of(entry) if self.twin(name, entry) == decoder]
        twins = sorted(found, key=lambda name: self.decoders[name].engine != "fastdecode")
        run = self.run.precision
        return next((name for name in twins if self.decoders[name].precision(run) == run), None)

    def twin(self, decoder: str, entry: str) -> str | None:
        """Return the decoder of tier reference with the search of an optimised one.

        It is one that the run decodes `entry`, target/system, with.
        """
        row, family = self.decoders[decoder], self.family_of[decoder]
        twins = (
            name
            for name in self.decoders_of(entry)
            if (self.family_of[name], self.decoders[name].tier) == (family, "reference")
            and self.decoders[name].twin_key == row.twin_key
        )
        return None if row.tier == "reference" else next(twins, None)

    def repeated(self, decoder: str, model: Model) -> tuple[Model, str] | None:
        """Return another model of the run, with its decoder, whose translations `decoder` repeats.

        It is of the same engine, or else of tier reference; None: `decoder` is not lossless, or the
        run has no such one.
        """
        row = self.decoders[decoder]
        found = row.repeats(self.systems[model.system])
        if found is None:
            return None
        other, settings = replace(model, system=found[0]), found[1]
        if other.entry not in self.run.systems:
            return None
        alike = {
            name: self.decoders[name]
            for name in self.decoders_of(other.entry)
            if settings.items() <= self.decoders[name].twin_key.items()
        }
        own = (name for name, one in alike.items() if one.engine == row.engine)
        reference = (name for name, one in alike.items() if one.tier == "reference")
        chosen = next(chain(own, reference), None)
        return (other, chosen) if chosen else None

    def preset(self, dataset: str, system: str) -> str:
        """Return the name of the preset that plays the system's role on `dataset`."""
        role = self.systems[system].role
        return self.run.roles.get(role) or str(getattr(self.datasets[dataset].roles, role))

    def architecture(self, dataset: str, system: str) -> Architecture:
        """Return the model size of `system` on `dataset`."""
        preset = self.presets[self.preset(dataset, system)]
        row = self.systems[system]
        encoder, decoder = (row.layers or preset.layers).split("-")
        return Architecture(
            width=preset.width,
            ffn=preset.ffn,
            heads=preset.heads,
            encoder_layers=int(encoder),
            decoder_layers=row.decoder_layers or int(decoder),
            prenorm=preset.prenorm,
        )

    def training(self, dataset: str, system: str) -> Training:
        """Return the training settings of `system` on `dataset`.

        Later ones win: family, preset, dataset, family on this dataset, system, run.
        """
        family = self.family_of[system]
        preset = self.presets[self.preset(dataset, system)]
        values = merge(
            self.families[family].training,
            preset.training,
            self.datasets[dataset].training,
            self.datasets[dataset].families.get(family, {}),
            self.systems[system].training,
            self.run.training,
        )
        settings = check(Training, values, f"training of {system} on {dataset}")
        if settings.precision != "fp32" and self.run.device != "cuda":
            raise UserError(
                f"training of {system} on {dataset}: precision {settings.precision} needs a GPU: "
                "set device: cuda, or training: {precision: fp32} in the run"
            )
        return settings
