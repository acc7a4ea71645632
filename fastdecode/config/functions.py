"""What the functions of artifacts, modules of fastdecode/report, differ in."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Traits:
    """What a function makes its artifact of; most are made of what was measured of systems."""

    # Rows of most artifacts are systems with a decoder, and `measured` are metrics. Without them
    # `measured` are keys of a training, or systems; `ours` is the key of a setting, or a trace.
    metrics: bool = True
    settings: bool = False  # made of the configuration alone, so that no commit has measured it
    decoders: bool = False  # needs the settings of decoders and the tokens of an update, too
    # Whether it needs the vocabulary and the line lengths of its datasets, too, for which no system
    # is run: a row is of the datasets with as many BPE merges as its label `vocabulary` says.
    subwords: bool = False
    stages: bool = False  # needs the stages of every sentence timed alone
    samples: bool = False  # needs the times of every sentence timed alone
    each: bool = False  # shows every system of its statistics; others show the first that there is
    page: bool = False  # a table that is a page of HTML, too


SETTINGS, PARAMETERS = "artifacts.settings", "artifacts.parameters"
SIZE = "vocabulary"  # the label of a row with the trait `subwords`
TRAITS = {
    SETTINGS: Traits(metrics=False, settings=True),
    PARAMETERS: Traits(metrics=False, settings=True, decoders=True),
    "aggressive.cases": Traits(metrics=False, page=True),
    "aggressive.sentences": Traits(samples=True),
    "aggressive.step": Traits(metrics=False),
    "bidirectional.vocabulary": Traits(subwords=True),
    "dag.diversity": Traits(each=True),
    "dag.weights": Traits(each=True),
    "lattice.breakdown": Traits(stages=True),
    "lattice.recall": Traits(each=True),
}


def traits(function: str) -> Traits:
    """Return the traits of a function."""
    return TRAITS.get(function, Traits())
