"""What of a run is resampled, so that a paper's claims can be judged."""

from itertools import product

from fastdecode.config.artifacts import datasets_of, of_rows, split_of
from fastdecode.config.claims import Claim
from fastdecode.config.metrics import METRICS
from fastdecode.config.models import Model
from fastdecode.config.papers import AT, Artifact
from fastdecode.config.read import Configuration

# what of translations is: fastdecode.measure.resamples
RESAMPLED = (
    *("bleu", "bleu_by_length", "passes", "tokens_per_pass", "repetition_rate", "end_precision"),
)
# statistics that are counted line by line: fastdecode.report.claims.statistics
LINE_STATISTICS = ("accuracy", "ranks", "recall", "samples")
Where = tuple[str, str, str]  # dataset, split, one of these


def resampled(config: Configuration, paper: str) -> dict[Where, list[tuple[Model, str]]]:
    """Return, by what is resampled and where, (model, decoder) that a claim may be about."""
    found: dict[Where, dict[tuple[Model, str], None]] = {}
    row = config.papers[paper]
    for name, metric in product(judged(config, paper), RESAMPLED):
        artifact = row.artifacts[name]
        if metric not in _measured(artifact):
            continue
        for dataset in datasets_of(config, artifact):
            where = (dataset, split_of(config, artifact, dataset), metric)
            for model, decoder in of_rows(config, artifact, dataset):
                found.setdefault(where, {})[model, decoder] = None
    return {where: list(models) for where, models in found.items()}


def _measured(artifact: Artifact) -> set[str]:
    """Return the tidy names of what an artifact measures."""
    named = {one.partition(AT)[0] for one in artifact.measured.values()}
    return {METRICS[name].tidy for name in named if name in METRICS}


def decided_by(config: Configuration, model: Model, decoder: str) -> str:
    """Return the target/system whose seeds move these translations: its own, or its verifier's.

    What a drafter proposes, its verifier of the same seed decides.
    """
    others = {**config.companions(model, decoder), **config.companions(model)}
    return next(iter(others.values()), model).entry


def claims_of(config: Configuration, paper: str) -> dict[str, Claim]:
    """Return the claims of a paper that are about artifacts of the run."""
    row = config.papers[paper]
    return {
        name: one for name, one in row.claims.items() if set(one.artifacts) & set(row.artifacts)
    }


def judged(config: Configuration, paper: str) -> list[str]:
    """Return the artifacts of the run that claims of a paper are about."""
    named = {name for claim in claims_of(config, paper).values() for name in claim.artifacts}
    return [name for name in config.papers[paper].artifacts if name in named]
