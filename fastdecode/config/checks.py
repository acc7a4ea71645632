"""Whether a run is sound: every name that it and its definitions refer to is there, and fits."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastdecode.config.base import FEW, SHOWN, check, nearest
from fastdecode.config.functions import check_function
from fastdecode.config.given import check_given
from fastdecode.config.metrics import METRICS
from fastdecode.config.papers import DISTILLED, patterns, references
from fastdecode.config.rows import RAW, UNTRAINED, Training
from fastdecode.config.run import EVERY
from fastdecode.config.timed import tuned_over
from fastdecode.errors import UserError

if TYPE_CHECKING:
    from fastdecode.config.read import Configuration

# Names of folders in results/, which no row may have.
FOLDERS = {
    *("align", "benchmark", "bin", "bpe", "corpora", "counts", "downloads", "lm", "report"),
    *("shards", "tools"),
}
KINDS = ("corpora", "datasets", "papers", "runs", "systems")  # folders of definitions
TABLES = ("devices", "downloads", "presets")  # files in them


def check_all(config: "Configuration", where: str) -> None:
    """Raise UserError on the first thing that does not fit; `where` names the run's file."""
    _check_families(config)
    _check_datasets(config, where)
    _check_decoders(config, where)
    for tier, entry in config.run.speedup_over.model_dump(exclude_none=True).items():
        _check_denominator(config, tier, entry, f"{where}: speedup_over.{tier}")
    for model in (*config.models(), *config.untrained()):
        config.training(model.dataset, model.system)
    check_given(config, where)
    _check_papers(config)


def check_name(values: Mapping[str, Any], default: Mapping[str, Any]) -> None:
    """Raise UserError on another run than `default`, that of config.yaml, with the name of that."""
    name = default["name"]
    others = (key for key in ("datasets", "systems", "decoders") if values.get(key) != default[key])
    if values.get("name") == name and (other := next(others, None)):
        raise UserError(
            f"configuration: {other} are not those of config.yaml, whose name this run has, so "
            f"that it would write over results/report/{name}: give it a name of its own (name: …)"
        )


def _check_families(config: "Configuration") -> None:
    """Check the systems that ensembles and other systems are made with."""
    for name, ensemble in config.ensembles.items():
        where = f"{config.row_of('ensembles', name)}.system"
        check_known(ensemble.system, config.recipes, where)
    for family, row in config.families.items():
        where = f"{config.file_of('systems', family)}: training"
        _check_training(row.training, where)
        _check_read(config, family, row.training, where)
    for name, preset in config.presets.items():
        _check_training(
            preset.training, f"{config.where_of('presets.yaml', name)}, {name}: training"
        )
    for name in config.recipes:
        system = config.systems[name]
        where = config.row_of("systems", name)
        _check_training(system.training, f"{where}: training")
        others = dict.fromkeys((*system.companions, *system.measured_with))
        _check_companions(config, others, system.companion_family, where)


def _check_training(settings: Mapping[str, object], where: str) -> None:
    """Check settings of a training that others are merged with: each alone, whoever is trained."""
    ends = {"max_updates": 1, "max_epochs": 1}  # which others may say
    check(Training, ends | {key: one for key, one in settings.items() if one is not None}, where)


def _check_read(config: "Configuration", family: str, training: Iterable[str], where: str) -> None:
    """Check that a loss of the family reads every one of these settings."""
    rows = [config.systems[name] for name in config.recipes if config.family_of[name] == family]
    for key in training if rows else ():
        if all(key in row.unread for row in rows):
            raise UserError(
                f"{where}: no loss of {family} has {key}: another value would change nothing, so "
                "leave it out"
            )


def _check_companions(
    config: "Configuration", names: Iterable[str], family: str | None, where: str
) -> None:
    """Check that these systems exist, are of that family, and need no further ones.

    So none needs itself.
    """
    for name in names:
        check_known(name, config.recipes, f"{where}: companion")
        if further := config.systems[name].companions:
            raise UserError(
                f"{where}: its companion {name} needs {', '.join(further)} itself: name a "
                "system that is trained alone"
            )
        if family not in (None, config.family_of[name]):
            raise UserError(
                f"{where}: its companion {name} is of family {config.family_of[name]}: name a "
                f"system of family {family}"
            )


def check_fits(config: "Configuration", decoder: str, system: str, where: str) -> None:
    """Raise UserError, beginning with `where`, if there is no such decoder or it does not fit."""
    check_known(decoder, config.decoders, where)
    if not config.fits(decoder, system):
        raise UserError(
            f"{where}: {decoder} does not decode {system}: take one of "
            f"{', '.join(fitting(config, system))}"
        )


def fitting(config: "Configuration", system: str) -> list[str]:
    """Return the decoders of a system: those of its family first, then those that draft with it."""
    found = [name for name in config.decoders if config.fits(name, system)]
    return sorted(found, key=lambda name: config.family_of[name] != config.family_of[system])


def _check_datasets(config: "Configuration", where: str) -> None:
    """Check what the run's datasets and their corpora refer to."""
    downloads = config.downloads  # whether or not a corpus names one
    for name, corpus in config.corpora.items():
        keys = [key for split in corpus.splits for key in corpus.downloads(split)]
        for key in (*keys, *corpus.references.values()):
            place = f"{config.file_of('corpora', name)}: download"
            check_known(key, downloads, place, "config/downloads.yaml")
    for name, dataset in config.datasets.items():
        file = config.file_of("datasets", name)
        _check_training(dataset.training, f"{file}: training")
        splits = config.corpora[dataset.corpus].split_names
        for split in (dataset.valid, *dataset.tests):
            check_known(split, splits, f"{file}: split of {dataset.corpus}")
            if split == "train":
                raise UserError(
                    f"{file}: models learn from the split train: validate and test on others"
                )
        if dataset.tests[:1] == (dataset.valid,):
            raise UserError(
                f"{file}: the split {dataset.valid} validates, and may choose "
                "checkpoints and settings: put another one first under tests"
            )
        for family, training in dataset.families.items():
            check_known(family, config.families, f"{file}: families")
            _check_training(training, f"{file}: families.{family}")
            _check_read(config, family, training, f"{file}: families.{family}")
        for role, preset in dataset.roles.model_dump().items():
            check_known(preset, config.presets, f"{file}: roles.{role}")
    for name in FOLDERS & set(config.datasets):
        raise UserError(f'{where}: datasets: the name "{name}" is taken: choose another')
    _check_training(config.run.training, f"{where}: training")
    for role, preset in config.run.roles.items():
        check_known(preset, config.presets, f"{where}: roles.{role}")


def _check_decoders(config: "Configuration", where: str) -> None:
    """Check that the run's systems and decoders exist and go together."""
    for decoder in config.run.decoder_names:
        check_known(decoder, config.decoders, f"{where}: decoders")
    check_known(config.run.distill_decoder, config.decoders, f"{where}: distill_decoder")
    for entry in config.run.systems:
        target, system = _split_entry(config, entry, 2, f"{where}: systems")
        if target not in (RAW, UNTRAINED):
            _check_distilling(config, target, f"{where}: distill_decoder")
        if not config.decoders_of(entry):
            _check_patterns(config, where)  # one that is misspelt names none
            raise UserError(
                f"{where}: decoders: none of them decodes {entry}: add one of "
                f"config/systems/{config.family_of[system]}.yaml"
            )
        for decoder in config.decoders_of(entry):
            row = config.decoders[decoder]
            companions = row.companions(config.systems[system])
            _check_companions(
                config, companions, row.companion_family, f"{where}: {decoder} of {system}"
            )
            if target == UNTRAINED and not row.exact:
                raise UserError(
                    f"{where}: decoders: {decoder} cannot hold translations to a length, as "
                    f"{entry} needs: leave it out"
                )
    _check_patterns(config, where)


def _check_distilling(config: "Configuration", target: str, where: str) -> None:
    """Check that the run's decoder can distil `target`, with nothing but the teacher itself."""
    given, decoder = config.run.given.distilled, config.run.distill_decoder
    if all(f"{dataset}/{target}" in given for dataset in config.run.datasets):
        return
    if not config.fits(decoder, target):
        raise UserError(
            f"{where}: {decoder} does not decode the teacher {target}: take one of "
            f"config/systems/{config.family_of[target]}.yaml"
        )
    if config.assets(target, decoder) or config.decoders[decoder].companions(
        config.systems[target]
    ):
        raise UserError(
            f"{where}: {decoder} needs more than the teacher {target}, which is all that "
            "distilling has: take another teacher, or give what it wrote (given.distilled)"
        )


def _check_patterns(config: "Configuration", where: str) -> None:
    for pattern, decoder in config.run.decoder_patterns:
        if pattern != EVERY:
            _check_pattern(config, pattern, decoder, f"{where}: decoders")


def _check_pattern(config: "Configuration", pattern: str, decoder: str, where: str) -> None:
    """Check that systems of the run match `pattern`, and that `decoder` decodes all of them."""
    chosen = config.run.systems
    matching = [entry for entry in chosen if fnmatchcase(entry, pattern)]
    if not matching:
        names = (entry.split("/")[1] for entry in chosen)
        known = {*chosen, *(f"*/{name}" for name in names)}
        raise UserError(
            f'{where}: "{pattern}" is no target/system of this run{nearest(pattern, known)}'
        )
    decoded = [entry for entry in chosen if config.fits(decoder, entry.split("/")[1])]
    for entry in matching:
        if entry == pattern:
            check_fits(config, decoder, entry.split("/")[1], f'{where}: "{pattern}"')
        if entry not in decoded:
            others = nearest(entry, decoded) if decoded else ", nor any other system of this run"
            raise UserError(f'{where}: "{pattern}": {decoder} does not decode {entry}{others}')


def _check_denominator(config: "Configuration", tier: str, entry: str, where: str) -> None:
    """Check that the run trains and decodes the denominator of a tier, in that tier."""
    target, system, decoder = _split_entry(config, entry, 3, where)
    model = f"{target}/{system}"
    if model not in config.run.systems or decoder not in config.run.decoder_names:
        raise UserError(
            f'{where}: "{entry}" is not among what this run trains and decodes: '
            "take one of its systems and decoders (a run that says none has that of config.yaml)"
        )
    if system in config.ensembles:
        raise UserError(f"{where}: {model} is an ensemble, which is not timed: take one model")
    if not config.fits(decoder, system):
        raise UserError(f"{where}: {decoder} does not decode {system}: take one that does")
    if decoder not in config.decoders_of(model):
        raise UserError(
            f"{where}: {model} is not decoded with {decoder} in this run"
            f"{nearest(decoder, config.decoders_of(model))}"
        )
    if target == UNTRAINED and any(
        one.partition("/")[0] != UNTRAINED for one in config.run.systems
    ):
        raise UserError(
            f"{where}: {entry} has random weights, held to the lengths of the references, and "
            "trained systems are not: take a trained one, or time what is untrained in a run of "
            "its own"
        )
    if config.decoders[decoder].tier != tier:
        raise UserError(
            f"{where}: {decoder} is a decoder of tier {config.decoders[decoder].tier}: "
            "a ratio never mixes tiers"
        )
    if decoder in tuned_over(config, f"{target}/{system}"):
        raise UserError(
            f"{where}: {decoder} is one that an artifact's decoder is tuned over, and not timed: "
            "take that decoder, or leave that paper out of papers"
        )


def _check_papers(config: "Configuration") -> None:
    """Check every name that the artifacts of the run's papers refer to."""
    known = {
        "target": {RAW, DISTILLED, UNTRAINED, *config.systems},
        "system": set(config.systems),
        "decoder": set(config.decoders),
        "metric": set(METRICS),
    }
    listed = {"metric": "fastdecode/config/metrics.py"}
    for name, paper in config.papers.items():
        file = config.file_of("papers", name)
        for key, artifact in paper.artifacts.items():
            check_function(artifact.function, artifact.kind, f"{file}: {key}.function")
            for dataset in artifact.datasets:
                check_known(dataset, config.files("datasets"), f"{file}: {key}.datasets")
        for where, pattern, parts in patterns(paper):
            _parts(pattern, parts, f"{file}: {where}")
        for word, kind, where in references(paper):
            check_known(word, known[kind], f"{file}: {where}: {kind}", listed.get(kind, SHOWN))


def _parts(entry: str, parts: int, where: str) -> list[str]:
    """Split `target/system` or `target/system/decoder`."""
    names = entry.split("/")
    if len(names) != parts:
        form = "/".join(["target", "system", "decoder"][:parts])
        example = "/".join([RAW, "transformer", "greedy"][:parts])
        raise UserError(f'{where}: "{entry}" is not of the form {form}, such as {example}')
    return names


def _split_entry(config: "Configuration", entry: str, parts: int, where: str) -> list[str]:
    """Split `target/system` or `target/system/decoder` and check its names."""
    names = _parts(entry, parts, where)
    if names[0] == DISTILLED:
        raise UserError(
            f"{where}: {entry}: {DISTILLED} stands for any teacher in tables of papers alone: name "
            f"the teacher that distils, as in transformer-big/{names[1]}"
        )
    if names[1] in config.families and names[1] not in config.systems:
        own = [name for name in config.recipes if config.family_of[name] == names[1]]
        raise UserError(
            f"{where}: {entry}: {names[1]} is a family: take one of its systems, such as "
            f"{', '.join(own[:FEW])}"
        )
    targets = {RAW, UNTRAINED, *config.systems}
    check_known(names[0], targets, f"{where}: {entry}: target")
    check_known(names[1], config.systems, f"{where}: {entry}: system")
    if names[1] in config.ensembles and names[0] != RAW:
        raise UserError(f"{where}: {entry}: an ensemble is of raw teachers: take {RAW}/{names[1]}")
    if parts == 3:
        check_known(names[2], config.decoders, f"{where}: {entry}: decoder")
    return names


def check_folders(definitions: Path) -> None:
    """Raise UserError if a folder or a file in there is misspelt, so that nobody would read it.

    And OSError if a folder cannot be read, which `glob` would pass over in silence.
    """
    for place in (definitions, *(definitions / kind for kind in KINDS)):
        if place.exists():
            next(place.iterdir(), None)
    for name in TABLES:
        table = definitions / f"{name}.yaml"
        if table.exists() and not table.is_file():
            raise UserError(f"{table}: expected a file, found a folder")
    for file in sorted([*definitions.glob("*.yml"), *definitions.glob("*/*.yml")]):
        if file.stem in TABLES if file.parent == definitions else file.parent.name in KINDS:
            raise UserError(f"{file}: nothing is read from there: call it {file.stem}.yaml")
    for file in sorted(definitions.glob("*.yaml")):
        if file.stem not in TABLES and get_close_matches(file.stem, TABLES):
            raise UserError(f"{file}: nothing is read from there{nearest(file.stem, TABLES)}")
    for folder in sorted({path.parent.name for path in definitions.glob("*/*.yaml")}):
        if folder not in KINDS and get_close_matches(folder, KINDS):
            place = definitions / folder
            raise UserError(f"{place}: nothing is read from there{nearest(folder, KINDS)}")


def check_known(name: str, known: Iterable[str], where: str, listed: str = SHOWN) -> None:
    """Raise UserError, which names the nearest known name, if `name` is not known.

    `listed` says where all are listed, where they are many.
    """
    known = list(known)
    if name not in known:
        raise UserError(f'{where}: there is no "{name}"{nearest(name, known, listed)}')
