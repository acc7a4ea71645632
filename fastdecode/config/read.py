"""Read a run's configuration with the definitions it selects, and resolve what each model is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from fastdecode.config.base import Row, check, merge, nearest, read_yaml
from fastdecode.config.corpora import Corpus, Download
from fastdecode.config.papers import DISTILLED, Paper, references
from fastdecode.config.rows import (
    EVERY,
    RAW,
    UNTRAINED,
    Assets,
    Dataset,
    DecoderRow,
    Ensemble,
    Family,
    Preset,
    Run,
    System,
    Training,
)
from fastdecode.errors import UserError
from fastdecode.families import assets, decoder_row, system_row
from fastdecode.report.artifacts.metrics import METRICS

# Names of folders in results/, which no row may have.
FOLDERS = {
    *("align", "benchmark", "bin", "bpe", "corpora", "counts", "downloads", "lm", "report"),
    "shards",
}
RowT = TypeVar("RowT", bound=Row)


@dataclass(frozen=True, order=True)
class Model:
    """One trained model; its fields are the folders of its results."""

    dataset: str
    target: str
    system: str
    seed: int

    @property
    def entry(self) -> str:
        """What a run calls it, whatever dataset and seed: target/system."""
        return f"{self.target}/{self.system}"

    @property
    def folder(self) -> Path:
        """Where its results lie, below the results folder."""
        return Path(self.dataset, self.target, self.system, f"seed{self.seed}")


@dataclass(frozen=True)
class Architecture:
    """The size of one model, as handed to fairseq-train."""

    width: int
    ffn: int
    heads: int
    encoder_layers: int
    decoder_layers: int
    prenorm: bool = False

    @property
    def layers(self) -> str:
        """Encoder-decoder layers, such as 6-1."""
        return f"{self.encoder_layers}-{self.decoder_layers}"


class Configuration:
    """A run and everything it refers to, validated.

    Raises UserError, while it is built, on the first thing that does not fit.
    """

    def __init__(self, values: Mapping[str, Any], definitions: Path, where: str = "configuration"):
        """Validate `values` (a run) against the rows below the folder `definitions`."""
        self.run = check(Run, values, where)
        self._folders = [definitions]
        if self.run.definitions:
            own = Path(self.run.definitions)
            if not own.is_dir():
                raise UserError(f"{where}: definitions: no folder {own}")
            self._folders.append(own)
        self._read_families()
        self.presets = {
            name: check(Preset, row, f"presets.yaml, {name}")
            for name, row in self._table("presets.yaml").items()
        }
        self.datasets = {
            name: self._one("datasets", name, Dataset, f"{where}: datasets")
            for name in self.run.datasets
        }
        self.corpora = {
            row.corpus: self._one("corpora", row.corpus, Corpus, f"datasets/{name}.yaml: corpus")
            for name, row in self.datasets.items()
        }
        self.papers = self._read_papers(where)
        self._check_selection(where)
        self._check_papers()

    # Definitions

    def _table(self, name: str) -> dict[str, Any]:
        """Read one YAML table from every folder of definitions, later folders first in rank."""
        files = [folder / name for folder in self._folders if (folder / name).is_file()]
        tables = [read_yaml(file) or {} for file in files]
        for file, table in zip(files, tables, strict=True):
            if not isinstance(table, Mapping):
                raise UserError(f"{file}: expected keys and values, found {table!r}")
        return merge(*tables)

    def _one(self, folder: str, name: str, model: type[RowT], asked_by: str) -> RowT:
        """Read the row `name`, a file of its own."""
        files = {
            f.stem: f for base in self._folders for f in sorted((base / folder).glob("*.yaml"))
        }
        if name not in files:
            raise UserError(f'{asked_by}: there is no "{name}"{nearest(name, files)}')
        return check(model, read_yaml(files[name]), f"{folder}/{name}.yaml")

    def _read_families(self) -> None:
        """Read every family's systems, ensembles and decoders; no name may stand twice."""
        self.families: dict[str, Family] = {}
        self.systems: dict[str, System] = {}
        self.ensembles: dict[str, Ensemble] = {}
        self.decoders: dict[str, DecoderRow] = {}
        self.family_of: dict[str, str] = {}
        names = {f.name for base in self._folders for f in (base / "systems").glob("*.yaml")}
        for name in sorted(names):
            family = check(Family, self._table(f"systems/{name}"), f"systems/{name}")
            stem = name.removesuffix(".yaml")
            self.families[stem] = family
            new = [*family.systems, *family.ensembles, *family.decoders]
            for row in new:
                if row in {*self.family_of, *FOLDERS, RAW, UNTRAINED}:
                    raise UserError(f'systems/{name}: the name "{row}" is taken: choose another')
                self.family_of[row] = stem
            if family.systems:
                kind = system_row(stem)
                self.systems |= {
                    key: check(kind, row, f"systems/{name}: systems.{key}")
                    for key, row in family.systems.items()
                }
            self.ensembles |= family.ensembles
            if family.decoders:
                row_class = decoder_row(stem)
                self.decoders |= {
                    key: check(row_class, row, f"systems/{name}: decoders.{key}")
                    for key, row in family.decoders.items()
                }
        for name, ensemble in self.ensembles.items():
            where = f"systems/{self.family_of[name]}.yaml: ensembles.{name}.system"
            self._known(ensemble.system, self.systems, where)
        for name, system in self.systems.items():
            where = f"systems/{self.family_of[name]}.yaml: systems.{name}"
            self._check_companions(system.companions, where)

    def _check_companions(self, names: Iterable[str], where: str) -> None:
        """Check that these systems exist and need no further ones, so that none needs itself."""
        for name in names:
            self._known(name, self.systems, f"{where}: companion")
            if further := self.systems[name].companions:
                raise UserError(
                    f"{where}: its companion {name} needs {', '.join(further)} itself: name a "
                    "system that is trained alone"
                )

    def _read_papers(self, where: str) -> dict[str, Paper]:
        """Read the papers of the run, each with all of its artifacts or with those named."""
        papers: dict[str, Paper] = {}
        for entry in self.run.papers:
            name, _, artifact = entry.partition(".")
            whole = self._one("papers", name, Paper, f"{where}: papers")
            chosen = whole.artifacts
            if artifact:
                self._known(artifact, chosen, f"{where}: papers: {entry}")
                before = papers[name].artifacts if name in papers else {}
                chosen = {**before, artifact: chosen[artifact]}
            papers[name] = whole.model_copy(update={"artifacts": chosen})
        return papers

    @cached_property
    def downloads(self) -> dict[str, Download]:
        """Every file that a corpus may be made from."""
        table = self._table("downloads.yaml")
        return {key: check(Download, row, f"downloads.yaml, {key}") for key, row in table.items()}

    # What the run selects

    def _check_selection(self, where: str) -> None:
        """Check every name that the run and its datasets refer to."""
        for name, corpus in self.corpora.items():
            for key in (key for split in corpus.splits for key in corpus.downloads(split)):
                self._known(key, self.downloads, f"corpora/{name}.yaml: download")
        for name, dataset in self.datasets.items():
            splits = self.corpora[dataset.corpus].split_names
            for split in (dataset.valid, *dataset.tests):
                if split not in splits:
                    raise UserError(
                        f'datasets/{name}.yaml: corpus {dataset.corpus} has no split "{split}"'
                        f"{nearest(split, splits)}"
                    )
            for family in dataset.families:
                self._known(family, self.families, f"datasets/{name}.yaml: families")
            for role, preset in dataset.roles.model_dump().items():
                if preset not in self.presets:
                    raise UserError(
                        f'datasets/{name}.yaml: roles.{role}: there is no preset "{preset}"'
                        f"{nearest(preset, self.presets)}"
                    )
        for name in FOLDERS & set(self.datasets):
            raise UserError(f'{where}: datasets: the name "{name}" is taken: choose another')
        for role, preset in self.run.roles.items():
            self._known(preset, self.presets, f"{where}: roles.{role}")
        for decoder in (*self.run.decoder_names, self.run.distill_decoder):
            self._known(decoder, self.decoders, f"{where}: decoder")
        for entry in self.run.systems:
            target, system = self._split_entry(entry, 2, f"{where}: systems")
            if not self.decoders_of(entry):
                raise UserError(
                    f"{where}: decoders: none of them decodes {entry}: add one of "
                    f"config/systems/{self.family_of[system]}.yaml"
                )
            for decoder in self.decoders_of(entry):
                companions = self.decoders[decoder].companions(self.systems[system])
                self._check_companions(companions, f"{where}: {decoder} of {system}")
                if target == UNTRAINED and not self.decoders[decoder].exact:
                    raise UserError(
                        f"{where}: decoders: {decoder} cannot hold translations to a length, as "
                        f"{entry} needs: leave it out"
                    )
        for pattern, decoder in self.run.decoder_patterns:
            if pattern != EVERY:
                self._check_pattern(pattern, decoder, f"{where}: decoders")
        for tier, entry in self.run.speedup_over.model_dump(exclude_none=True).items():
            self._check_denominator(tier, entry, f"{where}: speedup_over.{tier}")
        for model in (*self.models(), *self.untrained()):
            self.training(model.dataset, model.system)

    def _check_pattern(self, pattern: str, decoder: str, where: str) -> None:
        """Check that systems of the run match `pattern`, and that `decoder` decodes all of them."""
        chosen = self.run.systems
        matching = [entry for entry in chosen if fnmatchcase(entry, pattern)]
        if not matching:
            names = (entry.split("/")[1] for entry in chosen)
            known = {*chosen, *(f"*/{name}" for name in names)}
            raise UserError(
                f'{where}: "{pattern}" is no target/system of this run{nearest(pattern, known)}'
            )
        fitting = [entry for entry in chosen if self.fits(decoder, entry.split("/")[1])]
        for entry in matching:
            if entry not in fitting:
                raise UserError(
                    f'{where}: "{pattern}": {decoder} does not decode {entry}'
                    f"{nearest(entry, fitting)}"
                )

    def _check_papers(self) -> None:
        """Check every name that the artifacts of the run's papers refer to."""
        known = {
            "target": {RAW, DISTILLED, UNTRAINED, *self.systems, *self.ensembles},
            "system": set(self.systems),
            "decoder": set(self.decoders),
            "metric": set(METRICS),
        }
        for name, paper in self.papers.items():
            for word, kind, where in references(paper):
                self._known(word, known[kind], f"papers/{name}.yaml: {where}: {kind}")

    def _check_denominator(self, tier: str, entry: str, where: str) -> None:
        """Check that the run trains and decodes the denominator of a tier, in that tier."""
        target, system, decoder = self._split_entry(entry, 3, where)
        model = f"{target}/{system}"
        if model not in self.run.systems or decoder not in self.run.decoder_names:
            raise UserError(
                f'{where}: "{entry}" is not among what this run trains and decodes: '
                "take one of its systems and decoders"
            )
        if not self.fits(decoder, system):
            raise UserError(f"{where}: {decoder} does not decode {system}: take one that does")
        if decoder not in self.decoders_of(model):
            raise UserError(
                f"{where}: {model} is not decoded with {decoder} in this run"
                f"{nearest(decoder, self.decoders_of(model))}"
            )
        if self.decoders[decoder].tier != tier:
            raise UserError(
                f"{where}: {decoder} is a decoder of tier {self.decoders[decoder].tier}: "
                "a ratio never mixes tiers"
            )

    def _split_entry(self, entry: str, parts: int, where: str) -> list[str]:
        """Split `target/system` or `target/system/decoder` and check its names."""
        names = entry.split("/")
        if len(names) != parts:
            form = "/".join(["target", "system", "decoder"][:parts])
            raise UserError(
                f'{where}: "{entry}" is not of the form {form}, such as raw/transformer'
            )
        targets = {RAW, UNTRAINED, *self.systems, *self.ensembles}
        self._known(names[0], targets, f"{where}: {entry}: target")
        self._known(names[1], self.systems, f"{where}: {entry}: system")
        if parts == 3:
            self._known(names[2], self.decoders, f"{where}: {entry}: decoder")
        return names

    @staticmethod
    def _known(name: str, known: Iterable[str], where: str) -> None:
        known = list(known)
        if name not in known:
            raise UserError(f'{where}: there is no "{name}"{nearest(name, known)}')

    # What each model is

    def selected(self) -> list[Model]:
        """Return the models that the run trains to report their results, in its order."""
        return [
            Model(dataset, *_pair(entry), seed)
            for dataset in self.run.datasets
            for entry in self.run.systems
            for seed in self.run.seeds
            if _pair(entry)[0] != UNTRAINED
        ]

    def untrained(self) -> list[Model]:
        """Return the models of random weights whose speed the run reports: of the first seed."""
        return [
            Model(dataset, UNTRAINED, system, self.run.seeds[0])
            for dataset in self.run.datasets
            for target, system in map(_pair, self.run.systems)
            if target == UNTRAINED
        ]

    def table_rows(self) -> list[str]:
        """Return target/system of every row of a table: the selected ones, then all others."""
        chosen = list(self.run.systems)
        systems = {entry.split("/")[1] for entry in chosen}
        return chosen + [f"{RAW}/{name}" for name in self.systems if name not in systems]

    def teachers(self, dataset: str, target: str) -> list[Model]:
        """Return the models that distil `target`; several form an ensemble. None for raw."""
        if target == RAW:
            return []
        if target in self.ensembles:
            ensemble = self.ensembles[target]
            return [Model(dataset, RAW, ensemble.system, seed) for seed in ensemble.seeds]
        return [Model(dataset, RAW, target, self.run.seeds[0])]

    def companions(self, model: Model, decoder: str | None = None) -> dict[str, Model]:
        """Return the other models that are needed to train `model`, or to decode it, by system."""
        row = self.systems[model.system]
        names = self.decoders[decoder].companions(row) if decoder else row.companions
        return {name: replace(model, system=name) for name in names}

    def assets(self, system: str, decoder: str | None = None) -> Assets | None:
        """Return what is needed beside models to train `system`, or to decode it."""
        own = self.decoders[decoder].assets if decoder else None
        return own or assets(self.family_of[system])

    def models(self) -> list[Model]:
        """Return every model the run trains, teachers and companions included, each once.

        What a training needs comes before it.
        """
        wanted: dict[Model, None] = {}

        def want(model: Model) -> None:
            needed = self.teachers(model.dataset, model.target)
            for other in (*needed, *self.companions(model).values()):
                want(other)
            wanted[model] = None

        for model in self.selected():
            want(model)
            for decoder in self.decoders_of(model.entry):
                for other in self.companions(model, decoder).values():
                    want(other)
        return list(wanted)

    def targets(self, dataset: str) -> list[str]:
        """Return the target sides that the run learns from on `dataset`."""
        return list(dict.fromkeys(m.target for m in self.models() if m.dataset == dataset))

    def decoders_of(self, entry: str) -> list[str]:
        """Return the decoders of the run for `entry`, target/system, that fit it."""
        _, system = entry.split("/")
        return [name for name in self.run.decoders_for(entry) if self.fits(name, system)]

    def fits(self, decoder: str, system: str) -> bool:
        """Tell whether `decoder` decodes `system`, which may be an ensemble."""
        one = self.ensembles[system].system if system in self.ensembles else system
        row = self.decoders[decoder]
        families = row.families or (self.family_of[decoder],)
        return self.family_of[one] in families and row.fits(self.systems[one])

    def denominators(self) -> dict[str, str | None]:
        """Return target/system/decoder of what each tier's speed-ups are over; None: there is none.

        Of tier optimised it is, where the run does not say, the run's first decoder with the search
        of the reference.
        """
        over = self.run.speedup_over
        model, _, decoder = over.reference.rpartition("/")
        fast = (name for name in self.decoders_of(model) if self.twin(name, model) == decoder)
        found = next((f"{model}/{name}" for name in fast), None)
        return {"reference": over.reference, "optimised": over.optimised or found}

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

    def preset(self, dataset: str, system: str) -> str:
        """Return the name of the preset that plays the system's role on `dataset`."""
        role = self.systems[system].role
        return self.run.roles.get(role) or str(getattr(self.datasets[dataset].roles, role))

    def architecture(self, dataset: str, system: str) -> Architecture:
        """Return the model size of `system` on `dataset`."""
        preset = self.presets[self.preset(dataset, system)]
        encoder, decoder = (self.systems[system].layers or preset.layers).split("-")
        return Architecture(
            width=preset.width,
            ffn=preset.ffn,
            heads=preset.heads,
            encoder_layers=int(encoder),
            decoder_layers=int(decoder),
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
                "set device: cuda, or precision: fp32"
            )
        return settings


def _pair(entry: str) -> tuple[str, str]:
    target, system = entry.split("/")
    return target, system
