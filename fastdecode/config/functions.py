"""What the functions of artifacts, modules of fastdecode/report, consist of and differ in."""

import ast
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fastdecode.errors import UserError


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


# What makes the CSV of a table and prints it, or makes that of a figure and draws it.
PARTS = {"table": ("cells", "printed"), "figure": ("points", "draw")}
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


@cache
def defined(function: str) -> frozenset[str] | None:
    """Return the names that the module of a function defines; None where there is no such module.

    The module is read, not imported: it would bring pandas and matplotlib, for every job anew.
    """
    package, _, module = function.rpartition(".")
    path = files("fastdecode.report").joinpath(*package.split("."), f"{module}.py")
    if not package or not path.is_file():
        return None
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef():
                names.add(node.name)
            case ast.Assign():
                names.update(target.id for target in node.targets if isinstance(target, ast.Name))
            case ast.ImportFrom():
                names.update(alias.asname or alias.name for alias in node.names)
    return frozenset(names)


def check_function(function: str, kind: str, where: str) -> None:
    """Raise UserError, beginning with `where`, unless there is such a function of that kind."""
    names = defined(function)
    if names is None:
        raise UserError(f"{where}: fastdecode/report has no module {function}")
    if missing := [part for part in PARTS[kind] if part not in names]:
        raise UserError(
            f"{where}: {function} makes no {kind}, for which it has to define "
            f"{' and '.join(missing)}"
        )
