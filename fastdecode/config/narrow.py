"""A run of no more than its artifacts need: fewer systems, decoders, datasets and timings."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any

from fastdecode.config.artifacts import (
    curves,
    datasets_of,
    entries,
    of_rows,
    statistics,
    without_ours,
)
from fastdecode.config.functions import PARAMETERS, SETTINGS, traits
from fastdecode.config.metrics import METRICS
from fastdecode.config.papers import AT, Artifact, choose, trained
from fastdecode.config.read import Configuration
from fastdecode.errors import UserError

UNTIMED = ("quality", "gain")  # kinds of metrics that need no clock
ALONE = "S1"  # the scenario of sentences one at a time, which stages and samples are of


def narrowed(config: Configuration) -> dict[str, Any]:
    """Return what makes a run one of its artifacts alone, when it is merged over the run's values.

    Systems, decoders and datasets keep their order, so that every row has the same of them. What
    is left also has the denominator of speed-ups: the run's where something is timed, otherwise,
    since a run must have one, the first decoder of tier reference.

    Raises UserError if nothing of the run goes into a paper, or into an artifact that it names.
    """
    _check(config)
    artifacts = [one for paper in config.papers.values() for one in paper.artifacts.values()]
    datasets = {name for artifact in artifacts for name in datasets_of(config, artifact)}
    wanted = {one for artifact in artifacts for one in _decoders(config, artifact)}
    shown = {one for artifact in artifacts for one in _systems(config, artifact)}
    scenarios = {one for artifact in artifacts for one in _scenarios(artifact)}
    over = config.run.speedup_over.model_dump(exclude_none=True)
    chosen = _chosen(config, wanted, shown)
    first = next(filter(partial(_of_reference, config), _all(chosen)), None)
    if scenarios or not first:
        chosen = _chosen(config, wanted.union(filter(None, config.denominators().values())), shown)
    else:
        over = {**dict.fromkeys(over), "reference": first}
    return {
        "datasets": [name for name in config.run.datasets if name in datasets],
        "systems": list(chosen),
        "decoders": [{entry: names} for entry, names in chosen.items()],
        "speedup_over": over,
        "latency": {"scenarios": _some(config.run.latency.scenarios, scenarios or {ALONE})},
        "papers": list(config.run.papers),
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


def _of_reference(config: Configuration, entry: str) -> bool:
    """Tell whether target/system/decoder can be what speed-ups are over."""
    return trained(entry) and config.decoders[entry.rpartition("/")[2]].tier == "reference"


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
    yield from (model.entry for model, _, _ in statistics(config, artifact))
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
