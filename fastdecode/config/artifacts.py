"""What of a run goes into the artifacts of its papers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from fastdecode.config.functions import PARAMETERS, SETTINGS, SIZE, traits
from fastdecode.config.models import Model
from fastdecode.config.papers import Artifact, alternatives, choose, trained
from fastdecode.config.read import Configuration

# Statistics that need several right translations of a line, which few corpora have.
OF_SEVERAL_REFERENCES = ("samples",)


def datasets_of(config: Configuration, artifact: Artifact) -> list[str]:
    """Return the run's datasets that are the paper's own; all of them if none is."""
    own = [name for name in config.run.datasets if name in artifact.datasets]
    return own or list(config.run.datasets)


def entries(config: Configuration, artifact: Artifact) -> dict[str, dict[str, str]]:
    """Return row or system → tier → target/system/decoder, for those that the run has.

    A row names its decoder of one tier. The fast decoder of a reference one is that with the same
    search, in the precision of the run.
    """
    found: dict[str, dict[str, str]] = {}
    if not traits(artifact.function).metrics:
        return found
    for row, entry in _chosen(config, artifact).items():
        model, _, decoder = entry.rpartition("/")
        tiers = {config.decoders[decoder].tier: entry}
        if fast := config.fast(decoder, model):
            tiers["optimised"] = f"{model}/{fast}"
        found[row] = {str(tier): entry for tier, entry in tiers.items()}
    return found


def _chosen(config: Configuration, artifact: Artifact) -> dict[str, str]:
    """Return row or system → target/system/decoder, for those that the run has.

    Of a row's patterns the first counts that was run. Where they differ in the same way in several
    rows, as in raw or distilled targets, or in λ = 8 or 4, these rows take the same of them, that
    of which the run has most: a table shall not compare one model's search with another's.
    """
    systems = list(config.run.systems)
    decoders = {entry: config.decoders_of(entry) for entry in systems}
    found: dict[str, list[str | None]] = {}  # row → what the run has of each of its patterns
    alike: dict[tuple[str, ...], list[str]] = {}
    for row in (*artifact.rows, *artifact.systems):
        for name, patterns in artifact.patterns(row).items():
            found[name] = [choose(pattern, systems, decoders) for pattern in patterns]
            alike.setdefault(_what_differs(patterns), []).append(name)
    best: dict[str, int] = {}  # row → which of its patterns counts
    for names in alike.values():
        rows = zip(*(found[name] for name in names), strict=True)
        there = [len([*filter(None, entries)]) for entries in rows]
        best |= dict.fromkeys(names, there.index(max(there)))
    return {name: entry for name in found if (entry := found[name][best[name]])}


def _what_differs(patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the targets of patterns if they differ, or else their systems, or else themselves."""
    targets, systems = zip(*(pattern.split("/")[:2] for pattern in patterns), strict=True)
    return next((parts for parts in (targets, systems) if len(set(parts)) > 1), tuple(patterns))


def without_ours(config: Configuration) -> list[str]:
    """Return <paper>.<artifact> of those that nothing of the run goes into."""
    return [
        f"{key}.{name}"
        for key, paper in config.papers.items()
        for name, artifact in paper.artifacts.items()
        if not has_data(config, artifact)
    ]


def for_nothing(config: Configuration) -> list[str]:
    """Return the entries of `papers:`, papers and artifacts, that nothing of the run goes into."""
    empty = set(without_ours(config))
    asked = {
        entry: [entry]
        if "." in entry
        else [f"{entry}.{name}" for name in config.papers[entry].artifacts]
        for entry in config.run.papers
    }
    return [entry for entry, artifacts in asked.items() if empty.issuperset(artifacts)]


def has_data(config: Configuration, artifact: Artifact) -> bool:
    """Tell whether anything of a run goes into an artifact."""
    if artifact.function == SETTINGS:  # of all systems that are trained
        return bool(config.selected())
    if artifact.function == PARAMETERS:
        systems = list(config.run.systems)
        return any(choose(pattern, systems, {}) for pattern in artifact.measured.values())
    if traits(artifact.function).subwords:  # whatever is run, it stands in the row of its dataset
        sizes = {row.get(SIZE) for row in artifact.rows.values()}
        rows = (config.datasets[name] for name in datasets_of(config, artifact))
        return any(row.bpe.merges in sizes for row in rows)
    found = entries(config, artifact), [*statistics(config, artifact)], curves(config, artifact)
    return any(found)


def parts(config: Configuration, artifact: Artifact) -> dict[str, dict[str, Any]]:
    """Return, by dataset, what fastdecode.report.artifacts.evidence.Part is made of."""
    found = entries(config, artifact)
    wants_all = traits(artifact.function).decoders
    return {
        dataset: {
            "split": split_of(config, artifact, dataset),
            "timed": timed_on(config, artifact, dataset),
            "entries": found,
            "against": [next(iter(found.get(row, {}).values()), "") for row in artifact.against],
            "valid": config.datasets[dataset].valid,
            "alternatives": _alternatives(config, artifact, found),
            "settings": {
                entry: {
                    **config.systems[entry.split("/")[1]].model_dump(),
                    **asdict(config.architecture(dataset, entry.split("/")[1])),
                    **config.training(dataset, entry.split("/")[1]).model_dump(),
                    **(_also_set(config, dataset, entry) if wants_all else {}),
                }
                for entry in config.run.systems
                if trained(entry) and entry.split("/")[1] in config.recipes
            },
        }
        for dataset in datasets_of(config, artifact)
    }


def _also_set(config: Configuration, dataset: str, entry: str) -> dict[str, Any]:
    """Return <decoder>/<key> → value of a system's decoders, and the tokens of an update."""
    training = config.training(dataset, entry.split("/")[1])
    decoders = {
        f"{decoder}/{key}": value
        for decoder in config.decoders_of(entry)
        for key, value in config.decoders[decoder].model_dump().items()
    }
    return {
        **decoders,
        "update_tokens": training.batch_tokens * training.gpus * training.accumulate,
    }


def _alternatives(
    config: Configuration, artifact: Artifact, found: dict[str, dict[str, str]]
) -> dict[str, list[str]]:
    """Return target/system/decoder of a row → all that it is tuned over, as far as run."""
    alternatives = {}
    for entry in (entry for tiers in found.values() for entry in tiers.values()):
        model, _, decoder = entry.rpartition("/")
        others = artifact.tuned.get(decoder, ())
        there = [name for name in config.decoders_of(model) if name in others]
        if there:
            alternatives[entry] = [entry, *(f"{model}/{name}" for name in there)]
    return alternatives


def compared(config: Configuration, artifact: Artifact, dataset: str) -> list[tuple[Model, str]]:
    """Return (model, decoder) of all rows, if any are tested against others; else nothing."""
    found = entries(config, artifact)
    if not any(row in found for row in artifact.against):
        return []
    return list(of_rows(config, artifact, dataset))


def of_rows(config: Configuration, artifact: Artifact, dataset: str) -> Iterator[tuple[Model, str]]:
    """Yield (model, decoder) of all rows, each once: of the tier that a row names, and tuned."""
    found = entries(config, artifact)
    tuned = _alternatives(config, artifact, found)
    named = [next(iter(tiers.values())) for tiers in found.values()]
    yield from _models(config, dataset, (one for row in named for one in tuned.get(row, [row])))


def _models(
    config: Configuration, dataset: str, wanted: Iterable[str]
) -> Iterator[tuple[Model, str]]:
    """Yield (model, decoder) of every target/system/decoder that is trained, with each seed."""
    for entry in dict.fromkeys(wanted):
        if trained(entry):
            target, system, decoder = entry.split("/")
            for seed in config.seeds_of(f"{target}/{system}"):
                yield Model(dataset, target, system, seed), decoder


def split_of(config: Configuration, artifact: Artifact, dataset: str) -> str:
    """Return the split on which an artifact measures quality."""
    return _splits(config, dataset)[artifact.split]


def timed_on(config: Configuration, artifact: Artifact, dataset: str) -> str:
    """Return the split of an artifact's times: its own if timed, or the first test split."""
    own, timed = split_of(config, artifact, dataset), config.datasets[dataset].tests
    return own if own in timed else timed[0]


def _splits(config: Configuration, dataset: str) -> dict[str, str]:
    row = config.datasets[dataset]
    return {"train": "train", "valid": row.valid, "test": row.tests[0]}


def also_scored(config: Configuration) -> Iterator[tuple[Model, str, str]]:
    """Yield (model, split, decoder) whose quality an artifact asks for beside the test splits'."""
    for artifact in all_artifacts(config):
        found = entries(config, artifact)
        tuned = _alternatives(config, artifact, found).values()
        wanted = {entry for several in tuned for entry in several}
        if artifact.split == "valid":
            wanted |= {entry for tiers in found.values() for entry in tiers.values()}
        for dataset in datasets_of(config, artifact):
            for model, decoder in _models(config, dataset, sorted(wanted)):
                yield model, config.datasets[dataset].valid, decoder


def statistics(config: Configuration, artifact: Artifact) -> Iterator[tuple[Model, str, str]]:
    """Yield (model, split, statistic) that an artifact is made of, as far as the run has them.

    What needs several references is left out where a corpus has one alone.
    """
    for name, wanted in artifact.statistics.items():
        for patterns in map(alternatives, wanted):
            chosen = (choose(pattern, list(config.run.systems), {}) for pattern in patterns)
            entry = next(filter(None, chosen), None)
            if entry is None:
                continue
            target, system = entry.split("/")
            if system in config.ensembles:
                continue
            for dataset in datasets_of(config, artifact):
                corpus = config.corpora[config.datasets[dataset].corpus]
                on = artifact.statistics_on or (artifact.split,)
                splits = [_splits(config, dataset)[split] for split in on]
                if name in OF_SEVERAL_REFERENCES:
                    splits = [split for split in splits if corpus.has_several_references(split)]
                for seed in config.run.seeds:
                    model = Model(dataset, target, system, seed)
                    if config.at_hand(model):
                        yield from ((model, split, name) for split in splits)


def curves(config: Configuration, artifact: Artifact) -> list[Model]:
    """Return the models whose learning curves an artifact is made of, as far as the run has them.

    Of several seeds the first alone: curves of one system are not at the same times.
    """
    chosen = (choose(pattern, list(config.run.systems), {}) for pattern in artifact.curves)
    found = [entry.split("/") for entry in dict.fromkeys(filter(None, chosen))]
    known = set(config.with_curve())
    models = (
        Model(dataset, target, system, seed)
        for dataset in datasets_of(config, artifact)
        for target, system in found
        for seed in config.run.seeds[:1]
    )
    return [model for model in models if model in known]


def all_artifacts(config: Configuration) -> list[Artifact]:
    """Return the artifacts of all papers of a run."""
    return [artifact for paper in config.papers.values() for artifact in paper.artifacts.values()]
