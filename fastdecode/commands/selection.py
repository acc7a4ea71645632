"""Which trained system a command works with, and where its files lie."""

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fastdecode.config.arguments import stands_in
from fastdecode.config.base import merge, read_yaml
from fastdecode.config.checks import check_fits, check_known, fitting
from fastdecode.config.models import Model
from fastdecode.config.read import Configuration
from fastdecode.config.rows import RAW, DecoderRow
from fastdecode.errors import UserError
from fastdecode.files import read_json
from fastdecode.progress import say
from fastdecode.provenance import cores, of_cores

DEFINITIONS = Path(__file__).parents[2] / "config"


def add_selection(parser: argparse.ArgumentParser, ensembles: bool = True) -> None:
    """Add the arguments that `select` reads; their help names `ensembles` where they are taken."""
    group = parser.add_argument_group("the system")
    group.add_argument(
        "--system",
        required=True,
        metavar="TARGET/SYSTEM",
        help="a system of the run, such as transformer/transformer"
        + (", or raw/ENSEMBLE" if ensembles else ""),
    )
    group.add_argument("--dataset", metavar="NAME", help="what it was trained on (default: first)")
    group.add_argument("--seed", type=positive, metavar="N", help="its training (default: first)")
    add_configfile(group)
    group.add_argument(
        "--results",
        type=Path,
        default=Path("results"),
        metavar="FOLDER",
        help="the run's results (default: results)",
    )


def add_configfile(parser: argparse._ActionsContainer, several: bool = False) -> None:
    """Add the argument that `read_run` reads, to a parser or a group of one.

    With `several` it takes more than one file at a time, as Snakemake's does.
    """
    parser.add_argument(
        "--configfile",
        action="extend",
        nargs="+" if several else 1,
        default=[],
        type=Path,
        metavar="FILE",
        help="the run's configuration, merged over config/config.yaml as by Snakemake"
        + (
            ""
            if several
            else "; once more for each further file (Snakemake's takes all files at once)"
        ),
    )


def read_run(configfiles: Sequence[Path]) -> dict[str, Any]:
    """Return the values of a run. Raises UserError where a file is not of keys and values."""
    return merge(read_yaml(DEFINITIONS / "config.yaml"), read_layers(configfiles))


def read_layers(configfiles: Sequence[Path]) -> dict[str, Any]:
    """Return what files say over config.yaml, merged. Raises UserError as read_run does."""
    layers = [read_yaml(path) for path in configfiles]
    for path, layer in zip(configfiles, layers, strict=True):
        if not isinstance(layer, dict):
            found = "nothing" if layer is None else repr(layer)
            raise UserError(f"{path}: expected keys and values, found {found}")
    return merge(*layers)


def positive(text: str) -> int:
    """Parse a whole number above 0."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def threads(text: str) -> int:
    """Parse a number of threads: more than there are cores would wait for each other."""
    count = positive(text)
    if count > cores():
        raise argparse.ArgumentTypeError(
            f"{count} is more than the {of_cores(cores())} here: take fewer"
        )
    return count


@dataclass(frozen=True)
class Selection:
    """A system of a run, and where its files lie."""

    configuration: Configuration
    dataset: str
    system: str
    checkpoints: list[Path]  # several: an ensemble
    data: Path  # holds the dictionaries
    codes: Path  # holds the BPE codes
    models: list[Model]  # of the checkpoints
    arguments: argparse.Namespace

    @property
    def text(self) -> dict[str, Any]:
        """Return what fastdecode.text.Text is made with."""
        corpus = self.configuration.corpora[self.configuration.datasets[self.dataset].corpus]
        return {**corpus.text, "codes": self.codes}

    def must_be_trained(self) -> None:
        """Raise UserError, which says how to train it, if it is not.

        Say so if it was trained with other settings than the configuration has.
        """
        trained = _trained(self.arguments.results, self.models[0])
        for path in (*self.checkpoints, self.data, self.codes / "codes.source"):
            _must_exist(path, self.arguments, trained)
        for model in self.models:
            folder = self.arguments.results / model.folder
            if others := other_settings(self.configuration, model, folder / "train.json"):
                say(
                    str(folder),
                    f"not trained as configured: {', '.join(others)}: name the --configfile of its "
                    "run, or train it anew with snakemake",
                )

    def decoder(self, name: str | None) -> "Chosen":
        """Return a decoder, by default the run's first for the system that writes no mere drafts.

        Raises UserError if there is none of this name, it does not fit, or the system, or what it
        needs besides, is not there.
        """
        config = self.configuration
        if name is None:
            chosen = config.decoders_of(f"{self.models[0].target}/{self.system}")
            if not chosen:
                raise UserError(
                    f"--decoder: the run has none for {self.system}: name one of "
                    f"{', '.join(fitting(config, self.system))}"
                )
            whole = (one for one in chosen if not config.decoders[one].drafts_alone)
            return self._equipped(next(whole, chosen[0]))
        check_fits(config, name, self.system, "--decoder")
        return self._equipped(name)

    def _equipped(self, name: str) -> "Chosen":
        """Return a decoder with what it needs besides, which must be there."""
        self.must_be_trained()
        config, results, model = self.configuration, self.arguments.results, self.models[0]
        needed = config.assets(self.system, name)
        folder = results / model.dataset / model.target / needed[0] if needed else None
        companions = {
            other: results / one.folder / "checkpoint.pt"
            for other, one in config.companions(model, name).items()
        }
        files = [folder / file for file in needed[1]] if folder and needed else []
        for path in (*files, *companions.values()):
            _must_exist(path, self.arguments)
        return Chosen(name, config.family_of[name], config.decoders[name], folder, companions)


@dataclass(frozen=True)
class Chosen:
    """A decoder; the paths exist."""

    name: str
    family: str
    row: DecoderRow
    assets: Path | None  # holds what it needs besides
    companions: dict[str, Path]  # checkpoints of the systems that decode with the chosen one


def select(arguments: argparse.Namespace) -> Selection:
    """Find the system that `arguments` name, trained or not.

    Raises UserError if the run has no such system.
    """
    files = arguments.configfile
    configuration = Configuration(read_run(files), DEFINITIONS, stands_in(files))
    dataset = arguments.dataset or configuration.run.datasets[0]
    check_known(dataset, configuration.run.datasets, "--dataset of this run (others: --configfile)")
    models = _models(configuration, dataset, arguments.system, arguments.seed)
    checkpoints = [arguments.results / model.folder / "checkpoint.pt" for model in models]
    return Selection(
        configuration,
        dataset,
        arguments.system.split("/")[1],
        checkpoints,
        arguments.results / dataset / RAW / "bin",
        arguments.results / dataset / "bpe",
        models,
        arguments,
    )


def _must_exist(path: Path, arguments: argparse.Namespace, more: str = "") -> None:
    """Raise UserError, which says how to make it and ends with `more`, if there is no `path`."""
    if path.exists():
        return
    results = arguments.results.absolute()
    if results.name != "results" or not results.is_dir():  # which is what every run calls it
        raise UserError(
            f"{path} does not exist: name with --results the folder `results` of the run that made "
            f"it{more}"
        )
    raise UserError(
        f"{path} does not exist yet: make it with `{_snakemake(path, arguments)}`{more}"
    )


def _models(config: Configuration, dataset: str, name: str, seed: int | None) -> list[Model]:
    """Return the model that `name` (target/system) means; of an ensemble, all of its models."""
    ensembles = {f"{RAW}/{one}": config.teachers(dataset, one) for one in config.ensembles}
    if name in ensembles:
        if seed:
            raise UserError(f"--seed: the ensemble {name} has seeds of its own: leave --seed out")
        return ensembles[name]
    run = {model for model in config.models() if model.dataset == dataset}
    known = {f"{model.target}/{model.system}" for model in run}
    known |= {one for one, members in ensembles.items() if run.issuperset(members)}
    check_known(name, known, "--system of this run (others: --configfile)")
    target, system = name.split("/")
    return [Model(dataset, target, system, seed or config.run.seeds[0])]


def other_settings(config: Configuration, model: Model, record: Path) -> list[str]:
    """Return in what a trained model is not what the configuration says, as far as is recorded."""
    known = read_json(record) if record.exists() else {}
    wanted = {
        "architecture": asdict(config.architecture(model.dataset, model.system)),
        "training": config.training(model.dataset, model.system).model_dump(mode="json"),
    }
    return [
        f"{name} {was[name]} instead of {value}"
        for kind, settings in wanted.items()
        for was in (known.get(kind) or {},)
        for name, value in settings.items()
        if name in was and was[name] != value
    ]


def _snakemake(path: Path, arguments: argparse.Namespace) -> str:
    """Return the command that makes a file below the results folder."""
    command = ["snakemake", str(Path("results") / path.relative_to(arguments.results))]
    if arguments.configfile:
        command += ["--configfile", *map(str, arguments.configfile)]
    if arguments.results != Path("results"):
        command += ["--directory", str(arguments.results.parent)]
    return shlex.join(command)


def _trained(results: Path, model: Model) -> str:
    """Say which seeds of a model are trained, if any."""
    folder = (results / model.folder).parent
    seeds = sorted(int(p.parent.name[4:]) for p in folder.glob("seed*/checkpoint.pt"))
    return f"; trained so far: seed {', '.join(map(str, seeds))}" if seeds else ""
