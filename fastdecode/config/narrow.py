"""A run of no more than its artifacts need: fewer systems, decoders, datasets and timings."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from fastdecode.config.artifacts import (
    all_artifacts,
    curves,
    datasets_of,
    entries,
    of_rows,
    statistics,
    without_ours,
)
from fastdecode.config.functions import PARAMETERS, SETTINGS, traits
from fastdecode.config.metrics import METRICS
from fastdecode.config.papers import AT, Artifact, choose
from fastdecode.config.read import Configuration
from fastdecode.config.timed import fewest, timed
from fastdecode.errors import UserError
from fastdecode.families import compares_with_teacher

FIRST = "reference"  # the tier of what every run has
UNTIMED = ("quality", "gain")  # kinds of metrics that need no clock
ALONE = "S1"  # the scenario of sentences one at a time, which stages and samples are of


def narrowed(config: Configuration) -> dict[str, Any]:
    """Return what makes a run one of its artifacts alone, in place of the same keys of the run.

    Systems, decoders and datasets keep their order, so that every row has the same of them. What
    is left also has the denominator of speed-ups: the run's where something is timed, otherwise,
    since a run must have one, the first decoder that can be timed.

    Raises UserError if nothing of the run goes into a paper, or into an artifact that it names.
    """
    _check(config)
    artifacts = all_artifacts(config)
    wanted_data = {name for artifact in artifacts for name in datasets_of(config, artifact)}
    datasets = [name for name in config.run.datasets if name in wanted_data]
    wanted = {one for artifact in artifacts for one in _decoders(config, artifact)}
    shown = {one for artifact in artifacts for one in _systems(config, artifact)}
    scenarios = {one for artifact in artifacts for one in _scenarios(artifact)}
    over = config.run.speedup_over.model_dump(exclude_none=True)
    chosen = _chosen(config, wanted, shown)
    can_be = {
        f"{model.entry}/{name}" for data in datasets for model, name in timed(config, data, FIRST)
    }
    first = next((one for one in _all(chosen) if one in can_be), None)
    if scenarios or not first:
        chosen = _chosen(config, wanted.union(filter(None, config.denominators().values())), shown)
    else:
        over = {"reference": first}
    latency = config.run.latency
    threads = fewest([str(count) for count in latency.threads])
    return {
        "datasets": datasets,
        "systems": list(chosen),
        "decoders": [{entry: names} for entry, names in chosen.items()],
        "speedup_over": over,
        "latency": latency.model_dump(exclude_unset=True, mode="json")
        | {
            "scenarios": _some(latency.scenarios, scenarios or {ALONE}),
            "threads": [count for count in latency.threads if str(count) == threads],
        },
        "papers": list(config.run.papers),
        "given": _given(config, datasets, chosen),
    }


def check_same(whole: Configuration, few: Configuration) -> None:
    """Raise UserError if an artifact of a narrowed run is made of something else than in the whole.

    That is so if a system that was left out stood, with no result of its own, before another.
    """
    for artifact in all_artifacts(few):
        tiers = {FIRST, *artifact.tiers}
        found, wanted = (
            [
                {
                    row: {tier: entry for tier, entry in there.items() if tier in tiers}
                    for row, there in entries(config, artifact).items()
                },
                [*statistics(config, artifact)],
                curves(config, artifact),
            ]
            for config in (few, whole)
        )
        if found != wanted:
            raise UserError(
                f'"{artifact.title}" would be made of other systems than in {whole.run.name}, of '
                "which one stands before another of the same name: list systems and decoders "
                "yourself"
            )


def _given(
    config: Configuration, datasets: Sequence[str], chosen: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, str]]:
    """Return what is given of what is left."""
    models = [
        model for model in config.selected() if model.dataset in datasets and model.entry in chosen
    ]
    needed = config.needed(models, chosen.__getitem__)
    left = {
        "models": {str(model.folder) for model in needed},
        "distilled": {f"{model.dataset}/{model.target}" for model in needed},
        "translations": {str(model.folder) for model in models},
    }
    given = config.run.given
    return {
        kind: {name: path for name, path in getattr(given, kind).items() if name in names}
        for kind, names in left.items()
    }


def _check(config: Configuration) -> None:
    """Raise UserError if nothing of the run goes into a paper, or an artifact that it names."""
    empty = set(without_ours(config))
    for asked in config.run.papers:
        paper, _, artifact = asked.partition(".")
        names = [artifact] if artifact else config.papers[paper].artifacts
        if empty.issuperset(f"{paper}.{name}" for name in names):
            raise UserError(
                f"nothing of {config.run.name} goes into {asked}: take another run, or leave it out"
            )


def _some(there: Sequence[str], wanted: AbstractSet[str]) -> list[str]:
    """Return those wanted, in order; all where none of them is there."""
    return [one for one in there if one in wanted] or list(there)


def _chosen(
    config: Configuration, wanted: AbstractSet[str], shown: AbstractSet[str]
) -> dict[str, list[str]]:
    """Return target/system → decoders, in the run's order, of `wanted` decoders and systems shown.

    A system that is shown whatever decodes it has its first decoder, since a run must have one.
    """
    found = {}
    for entry in config.run.systems:
        names = config.decoders_of(entry)
        of_it = [name for name in names if f"{entry}/{name}" in wanted]
        if of_it or entry in shown:
            found[entry] = of_it or names[:1]
    return found


def _all(decoders: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield target/system/decoder of all decoders by target/system."""
    for entry, names in decoders.items():
        yield from (f"{entry}/{name}" for name in names)


def _decoders(config: Configuration, artifact: Artifact) -> Iterator[str]:
    """Yield target/system/decoder of all whose results are in an artifact."""
    for tiers in entries(config, artifact).values():
        named = next(iter(tiers))  # of the tier that the row names
        yield from (entry for tier, entry in tiers.items() if tier in (named, *artifact.tiers))
    for dataset in datasets_of(config, artifact):
        yield from (f"{model.entry}/{name}" for model, name in of_rows(config, artifact, dataset))
    if artifact.function == PARAMETERS:
        yield from _all({entry: config.decoders_of(entry) for entry in _systems(config, artifact)})


def _systems(config: Configuration, artifact: Artifact) -> Iterator[str]:
    """Yield target/system of all that is in an artifact whatever decodes it."""
    given = config.run.given.distilled
    for model, _, name in statistics(config, artifact):
        yield model.entry
        compared = compares_with_teacher(config.family_of[model.system], name)
        # where a target is given, what its teacher writes is there only if the run has the teacher
        if compared and f"{model.dataset}/{model.target}" in given:
            teachers = config.teachers(model.dataset, model.target)
            yield from (one.entry for one in teachers if one in config.selected())
    yield from (model.entry for model in curves(config, artifact))
    systems = list(config.run.systems)
    if artifact.function == SETTINGS:
        yield from systems
    elif artifact.function == PARAMETERS:
        chosen = (choose(pattern, systems, {}) for pattern in artifact.measured.values())
        yield from filter(None, chosen)


def _scenarios(artifact: Artifact) -> Iterator[str]:
    """Yield the scenarios whose times are in an artifact."""
    function = traits(artifact.function)
    if function.stages or function.samples:
        yield ALONE
    if function.metrics:
        metrics = (METRICS[metric.partition(AT)[0]] for metric in artifact.measured.values())
        yield from (metric.scenario for metric in metrics if metric.kind not in UNTIMED)
