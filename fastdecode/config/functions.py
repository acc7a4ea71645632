"""What the functions of artifacts, modules of fastdecode/report, differ in."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Traits:
    """What a function makes its artifact of; most are made of what was measured of systems."""

    # Whether rows are systems with a decoder; if not, `measured` are keys of a training, or
    # systems, `ours` the key of a setting, or a trace.
    metrics: bool = True
    settings: bool = False  # made of the configuration alone, so that no commit has measured it
    decoders: bool = False  # needs the settings of decoders and the tokens of an update, too
    data: bool = False  # counts tokens of the data, too, for which no system is run
    each: bool = False  # shows every system of its statistics; others show the first that there is


SETTINGS, PARAMETERS = "artifacts.settings", "artifacts.parameters"
TRAITS = {
    SETTINGS: Traits(metrics=False, settings=True),
    PARAMETERS: Traits(metrics=False, settings=True, decoders=True),
    "aggressive.cases": Traits(metrics=False),
    "aggressive.step": Traits(metrics=False),
    "bidirectional.vocabulary": Traits(data=True),
    "dag.diversity": Traits(each=True),
    "dag.weights": Traits(each=True),
    "lattice.recall": Traits(each=True),
}


def traits(function: str) -> Traits:
    """Return the traits of a function."""
    return TRAITS.get(function, Traits())
