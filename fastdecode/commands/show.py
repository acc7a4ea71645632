"""`fastdecode show`: what there is to choose from, and how far a run is."""

import argparse
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from fastdecode.commands.selection import (
    DEFINITIONS,
    add_configfile,
    other_settings,
    read_run,
)
from fastdecode.config.arguments import stands_in
from fastdecode.config.base import Row, check, read_yaml
from fastdecode.config.checks import check_known, fitting
from fastdecode.config.models import Model, pair
from fastdecode.config.papers import AT, Artifact, Paper
from fastdecode.config.read import Configuration
from fastdecode.config.rows import Training
from fastdecode.config.run import Run
from fastdecode.errors import UserError

if TYPE_CHECKING:
    from fastdecode.train.standing import Standing

Line = tuple[str, ...]
Table = tuple[Line, list[Line]]
NONE = "–"
WIDE = 36  # characters: on a terminal a column but the last is no wider, or as its longest word
SENTENCE = re.compile(r"(?<!et al)\. ")
OWN = ("layers", "decoder_layers", "role")  # of a system, shown in columns of their own


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to `parser`."""
    parser.description = (
        "List what there is, a line each:\n\n"
        "  runs       configurations that are ready\n"
        "  datasets   corpora with their BPE and model sizes\n"
        "  systems    recipes of models, and what their rows say\n"
        "  decoders   ways to decode, and what their rows say; --system: those that fit it\n"
        "  artifacts  tables and figures of the papers, and what a run gives of each\n"
        "  models     trainings of a run, and how far they are; begun: with whatever settings"
    )
    parser.epilog = (
        "examples:\n  fastdecode show decoders --system ctc-glat\n"
        "  fastdecode show models --configfile config/runs/toy-lattice.yaml"
    )
    parser.add_argument("kind", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--system", metavar="NAME", help="decoders: of this system alone")
    add_configfile(parser, several=True)
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("results"),
        metavar="FOLDER",
        help="models: the folder `results` of the run (default: results)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Print the list.

    Raises UserError if the configuration is wrong, or a system named is none of it.
    """
    if arguments.system and arguments.kind != "decoders":
        raise UserError(f"--system is for decoders, not for {arguments.kind}: leave it out")
    files = arguments.configfile
    config = Configuration(read_run(files), DEFINITIONS, stands_in(files))
    heading, lines = KINDS[arguments.kind](config, arguments)
    seen = sys.stdout.isatty()
    print(aligned(heading, lines, shutil.get_terminal_size().columns if seen else None))


def aligned(heading: Line, lines: list[Line], within: int | None = None) -> str:
    """Return lines in columns as wide as they need, without spaces at the ends.

    On a terminal, `within` so many characters, long cells go on below themselves.
    """
    rows = [heading, *lines]
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    if within:
        *before, last = zip(widths, map(_longest, columns), strict=True)
        capped = [max(min(width, WIDE), longest) for width, longest in before]
        left = within - sum(capped) - 2 * len(capped)
        widths = [*capped, max(min(last[0], left), WIDE)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for row in rows
        for line in zip_longest(*map(_wrapped, row, widths), fillvalue="")
    )


def _wrapped(cell: str, width: int) -> list[str]:
    return wrap(cell, width, break_long_words=False, break_on_hyphens=False)


def _longest(cells: Iterable[str]) -> int:
    """Return how long the longest word is."""
    return max(len(word) for cell in cells for word in cell.split())


def _runs(config: Configuration, _: argparse.Namespace) -> Table:
    from fastdecode.config.reference import about

    lines: list[Line] = []
    for name, path in config.files("runs").items():
        run = check(Run, read_run([path]), str(path))
        first = SENTENCE.split(about(path.read_text(encoding="utf-8")), 1)[0].rstrip(".")
        lines.append((name, run.device, ", ".join(run.datasets), first))
    return ("run", "device", "datasets", "what"), lines


def _datasets(config: Configuration, _: argparse.Namespace) -> Table:
    from fastdecode.config.corpora import Corpus
    from fastdecode.config.rows import Dataset

    lines: list[Line] = []
    files = config.files("corpora")
    for name, path in config.files("datasets").items():
        row = check(Dataset, read_yaml(path), str(path))
        check_known(row.corpus, files, f"{path}: corpus")
        corpus = check(Corpus, read_yaml(files[row.corpus]), str(files[row.corpus]))
        pairs = f"{corpus.pairs:,}" if corpus.pairs else NONE
        roles = config.run.roles if name in config.datasets else {}
        preset = roles.get("base", row.roles.base)
        check_known(preset, config.presets, f"{path}: roles.base")
        base = config.presets[preset]
        lines.append(
            (
                name,
                f"{corpus.source}-{corpus.target}",
                pairs,
                f"{row.bpe.merges:,}{' joint' if row.bpe.joint else ''}",
                f"{preset}: {base.width} wide, {base.layers}",
                ", ".join(row.tests),
                _marked(name in config.datasets),
            )
        )
    heading = ("dataset", "languages", "pairs", "merges", "base models", "tests", "in the run")
    return heading, lines


def _systems(config: Configuration, _: argparse.Namespace) -> Table:
    targets: dict[str, list[str]] = {}
    trained = (model.entry for model in config.models())  # teachers, too
    for target, system in map(pair, dict.fromkeys([*config.run.systems, *trained])):
        targets.setdefault(system, []).append(target)
    lines: list[Line] = []
    for name in (*config.recipes, *config.ensembles):
        row = config.systems[name]
        layers = row.layers or (f"decoder {row.decoder_layers}" if row.decoder_layers else NONE)
        said = _settings(row, OWN)
        if ensemble := config.ensembles.get(name):
            said = f"ensemble of {ensemble.system}, seeds {', '.join(map(str, ensemble.seeds))}"
        targets_of = ", ".join(targets.get(name, ())) or NONE
        lines.append((name, config.family_of[name], row.role, layers, targets_of, said))
    return ("system", "family", "role", "layers", "targets in the run", "settings"), lines


def _decoders(config: Configuration, arguments: argparse.Namespace) -> Table:
    names = list(config.decoders)
    if arguments.system:
        check_known(arguments.system, config.systems, "--system")
        names = fitting(config, arguments.system)
    entries = [one for one in config.run.systems if arguments.system in (None, pair(one)[1])]
    used = {name for entry in entries for name in config.decoders_of(entry)}
    lines: list[Line] = [
        (
            name,
            config.family_of[name],
            config.decoders[name].tier,
            _marked(name in used),
            _settings(config.decoders[name]),
        )
        for name in names
    ]
    return ("decoder", "family", "tier", "in the run", "settings"), lines


def _artifacts(config: Configuration, _: argparse.Namespace) -> Table:
    lines: list[Line] = []
    for key, path in config.files("papers").items():
        asked = config.papers[key].artifacts if key in config.papers else {}
        for name, artifact in check(Paper, read_yaml(path), str(path)).artifacts.items():
            has = _share(config, artifact)
            lines.append((f"{key}.{name}", has, _marked(name in asked), artifact.title))
    return ("artifact", "the run gives", "asked for", "what"), lines


def _share(config: Configuration, artifact: Artifact) -> str:
    """Return how much of an artifact a run gives: how many rows, or else of which systems."""
    from fastdecode.config.artifacts import curves, entries, has_data, statistics

    if not has_data(config, artifact):
        return NONE
    rows = {row for row in (*artifact.rows, *artifact.systems) if artifact.patterns(row)}
    found = {entry.partition(AT)[0] for entry in entries(config, artifact)}
    if found:
        return f"{len(found)} of {len(rows)} rows"
    models = [model for model, *_ in statistics(config, artifact)] + curves(config, artifact)
    if models:
        return f"of {', '.join(dict.fromkeys(model.entry for model in models))}"
    return _marked(True)


def _models(config: Configuration, arguments: argparse.Namespace) -> Table:
    from fastdecode.train.standing import standing

    if not arguments.results.is_dir():
        raise UserError(
            f"--results {arguments.results}: no such folder: name the folder `results` of the run"
        )
    lines: list[Line] = []
    for model in config.models():
        folder = arguments.results / model.folder
        found = standing(folder)
        lines.append(
            (
                str(model.folder),
                _state(config, model, folder, found),
                f"{found.validations}" if found and found.validations else NONE,
                f"{found.updates:,}" if found and found.updates else NONE,
                _ends(config.training(model.dataset, model.system)),
                f"{found.bleu:.1f}" if found and found.bleu is not None else NONE,
            )
        )
    heading = ("model", "state", "validations", "updates", "ends after", "best valid BLEU")
    return heading, lines


def _state(config: Configuration, model: Model, folder: Path, found: "Standing | None") -> str:
    if str(model.folder) in config.run.given.models:
        return "given"
    if not config.at_hand(model):
        return "translations given"
    if found and found.trained:
        others = other_settings(config, model, folder / "train.json")
        return "trained otherwise" if others else "trained"
    return "begun" if found else NONE


def _ends(settings: Training) -> str:
    """Return what ends a training, whichever comes first."""
    limits = {
        "epochs": settings.max_epochs,
        "updates": settings.max_updates,
        "validations without a better one": settings.patience,
    }
    return " or ".join(f"{most:,} {what}" for what, most in limits.items() if most)


def _settings(row: Row, without: tuple[str, ...] = ()) -> str:
    """Return what a row says itself."""
    said: Mapping[str, object] = row.model_dump(exclude_unset=True, exclude={*without})
    return ", ".join(_words(said)) or NONE


def _words(said: Mapping[str, object]) -> Iterator[str]:
    for key, value in said.items():
        if isinstance(value, Mapping):
            yield f"{key} ({', '.join(_words(value))})"
        elif isinstance(value, (list, tuple)):
            yield f"{key} {' '.join(map(str, value))}"
        else:
            number = f"{value:g}" if isinstance(value, float) else value
            yield key if value is True else f"{key} {number}"


def _marked(it_is: bool) -> str:
    return "yes" if it_is else NONE


KINDS: dict[str, Callable[[Configuration, argparse.Namespace], Table]] = {
    "runs": _runs,
    "datasets": _datasets,
    "systems": _systems,
    "decoders": _decoders,
    "artifacts": _artifacts,
    "models": _models,
}
